// What print_later(), check() and .defer_output keep until its values are there, in the program's order.
#pragma once

#include <cstdio>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/impl.h"

namespace whittle::api {

class PrintQueue {
  public:
    using Target = std::variant<std::ostream*, std::FILE*>;

    void add(Target target, std::string text);
    /// A tensor that is pending in `session` is kept; one that has its value is shown now: what is written to it later
    /// does not matter.
    void add(Target target, const Tensor& tensor, const Session* session);
    /// `texts` stand before, between and behind the tensors.
    void add(Target target, const std::vector<std::string>& texts, const TensorList& tensors, const Session* session);
    /// What a check demands, and where it is.
    struct Check {
        const char* function = "check";  ///< of the API
        std::string message = {};
        void* pc = nullptr;
        /// Throws CheckError that says so of the value that it is about.
        [[noreturn]] void fail(const whittle::Tensor& about) const;
    };
    /// Of a pending condition.
    void add_check(const Tensor& condition, const Tensor& about, Check check);
    bool empty() const { return pieces_.empty(); }
    /// Calls f(Tensor&) for each that is kept.
    template <class F>
    void for_each(F&& f) {
        for (Piece& piece : pieces_)
            for (Tensor* const tensor : {&piece.tensor, &piece.about})
                if (tensor->defined()) f(*tensor);
    }
    /// All of it, in order; every tensor has its value. Throws CheckError at the first check that fails: what came
    /// after it in the program is not printed.
    void print();
    void clear() { pieces_.clear(); }

  private:
    struct Piece {
        Target target;
        std::string text;
        Tensor tensor;                    ///< undefined: the text
        Tensor about = {};                ///< of a check, whose condition is the other
        std::optional<Check> check = {};  ///< it is no output, but must be true
    };
    std::vector<Piece> pieces_;
};

}  // namespace whittle::api
