// The two readers of a parsed main file: predict() and insert_probes(), and the list of functions that they share.
// Internal: includes Clang's headers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontends/clang/semantics.h"

namespace whittle::cpp {

/// Functions by the place of their bodies, so that a template and its instantiations are one.
class FunctionList {
  public:
    explicit FunctionList(const Semantics& semantics) : semantics_(semantics) {}
    /// The position of the function with this body.
    std::size_t add(const clang::Stmt* body, const std::string& name) {
        const auto [known, fresh] = positions_.try_emplace(body->getBeginLoc().getRawEncoding(), functions_.size());
        if (fresh) functions_.push_back({name, semantics_.range(body->getSourceRange()), false});
        return known->second;
    }
    Function& operator[](std::size_t position) { return functions_[position]; }
    std::vector<Function>& all() { return functions_; }

  private:
    const Semantics& semantics_;
    std::map<clang::SourceLocation::UIntTy, std::size_t> positions_;
    std::vector<Function> functions_;
};

/// The breaks to expect in functions of the main file that have tensors, and in those that they call.
std::vector<Prediction> predict(const Semantics& semantics, FunctionList& functions);

/// Fills text, sites and skipped of `result`.
void insert_probes(const Semantics& semantics, FunctionList& functions, Probed& result);

}  // namespace whittle::cpp
