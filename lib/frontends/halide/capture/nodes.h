// Expressions as JSON: a table of nodes, each behind those that it uses, so that what is shared is written once.
#pragma once

#include <Halide.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace whittle::halide_capture {

/// Halide::Parameter since Halide 17, Halide::Internal::Parameter before.
using Parameter = decltype(Halide::Internal::Variable::param);

/// What the nodes refer to by name.
struct Referenced {
    std::map<std::string, Parameter> parameters;     ///< scalars and images
    std::map<std::string, Halide::Buffer<>> images;  ///< that the program has in its own buffers
};

class NodeTable {
  public:
    NodeTable() = default;
    /// Calls of the Funcs `data` are written as those of images of their names.
    explicit NodeTable(std::set<std::string> data) : data_(std::move(data)) {}

    /// The number of the expression's node; -1: it is undefined. Throws std::runtime_error for what no front end makes.
    int number_of(const Halide::Expr& expression);
    /// [{"op": "add", "type": "int32", "of": [0, 1]}, …]
    std::string json() const;
    const Referenced& referenced() const { return referenced_; }

  private:
    class Visitor;

    std::set<std::string> data_ = {};
    std::vector<std::string> nodes_;
    std::map<std::string, int> by_text_;
    std::map<const Halide::Internal::BaseExprNode*, int> numbers_;
    std::vector<Halide::Expr> kept_;  ///< keeps the addresses
    std::map<std::string, int> lets_;
    Referenced referenced_;
};

}  // namespace whittle::halide_capture
