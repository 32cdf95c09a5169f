// Pieces that the two writers of C++ text share (plain loops here, Halide in backends/halide): literals, operator
// strengths, and the decision which subexpressions get a name of their own.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "expr/exprmap.h"
#include "expr/group.h"

namespace whittle::expr {

/// A piece of C++ with how strongly it binds, so that parentheses appear only where they are needed.
struct Code {
    using enum Strength;
    std::string text;
    Strength strength = atom;

    /// In parentheses when it binds less than `needed`.
    std::string at(Strength needed) const { return strength < needed ? "(" + text + ")" : text; }
};

/// `a SYMBOL b`, with the parentheses that -Wparentheses asks for.
Code infix_code(Op op, const Code& a, const Code& b);

/// A constant of the data type.
Code literal(DType dtype, const Scalar& value);

/// Names for subexpressions: those used several times, and those so long that a line would become unreadable.
class Naming {
  public:
    /// Names never collide with those of the group.
    explicit Naming(const Group& group);
    void reserve(const std::string& name) { taken_.insert(name); }
    /// Forgets the counts and counts the uses below `roots`, which are written together.
    void begin(const std::vector<Expr>& roots);
    /// A root that is used nowhere else has its own statement already.
    bool wants_name(const Expr& e, const Code& code) const;
    std::string fresh();

  private:
    std::set<std::string> taken_;
    ExprMap<int> uses_;
    std::set<const Node*> roots_;
    int next_ = 0;
};

}  // namespace whittle::expr
