// Expressions of a captured pipeline as C++ for Halide.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/cpp_text.h"
#include "frontends/halide/captured.h"
#include "text/language.h"

namespace whittle::repro {

/// "uint8_t" of "uint8", "bool" of "uint1".
std::string cpp_type(const std::string& type);
/// "UInt(8)".
std::string halide_type(const std::string& type);
bool is_float(const std::string& type);

/// What the program calls things; none is the name of something that it uses of Halide's.
class ProgramNames {
  public:
    ProgramNames();
    /// The same for the same kind and name.
    std::string of(const std::string& kind, const std::string& name);

  private:
    UniqueNames unique_;
    std::map<std::string, std::string> given_;
};

/// Where an expression stands: the reduction variables of its definition, "r.x" by "r$x".
using DomainTexts = std::map<std::string, std::string>;

class Expressions {
  public:
    Expressions(const halide_program::CapturedPipeline& pipeline, ProgramNames& names)
        : pipeline_(pipeline), names_(names) {}

    expr::Code code(const halide_program::Nodes& nodes, int node, const DomainTexts& domain);
    /// Where a number alone would be one of C++, which Halide does not take or computes otherwise: "Expr(3)".
    expr::Code typed(const halide_program::Nodes& nodes, int node, const DomainTexts& domain);
    /// The name of a loop: "r.x", or that of a Var or RVar.
    std::string loop(const std::string& name, bool reduction, const DomainTexts& domain);

    /// Names that were used, in order, for their declarations.
    const std::vector<std::string>& variables() const { return variables_; }
    const std::vector<std::string>& reduction_variables() const { return reduction_variables_; }

  private:
    std::string list(const halide_program::Nodes& nodes, const std::vector<int>& all, const DomainTexts& domain);
    expr::Code call(const halide_program::Nodes& nodes, const halide_program::Node& node, const DomainTexts& domain);
    expr::Code infix(const halide_program::Nodes& nodes, const halide_program::Node& node, const DomainTexts& domain,
                     const std::string& symbol, expr::Strength strength);
    std::string declared(std::vector<std::string>& list, const std::string& kind, const std::string& name);

    const halide_program::CapturedPipeline& pipeline_;
    ProgramNames& names_;
    std::vector<std::string> variables_, reduction_variables_;
};

}  // namespace whittle::repro
