#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

constexpr Reduction kReductions[] = {
    {"nested", "Put the branch that is taken, or one iteration, in the place of an op with nested graphs",
     nested_edits},
    {"outputs", "Drop outputs", output_edits},
    {"bypass", "Read an operand instead of the result, where both have the same type", bypass_edits},
    {"values", "Read zeros or ones instead of what a call computes", value_edits},
    {"operands", "Read another input of the same type, or a number", operand_edits},
    {"dims", "Make dimensions 1, or as small as fails", dimension_edits},
    {"dtype", "Compute in f32", dtype_edits},
    {"arguments", "Leave out arguments that have a default", argument_edits},
    {"data", "Fill inputs and constants with 0, 1, one value, or rounded numbers", data_edits},
};

void visit(const Graph& graph, const DraftOf& at, const std::function<void(const Graph&, const DraftOf&)>& f) {
    f(graph, at);
    for (const auto& [name, nested] : graph.subgraphs)
        visit(
            *nested, [at, name = name](Draft& draft) -> Draft& { return at(draft).nested(name); }, f);
}

}  // namespace

std::span<const Reduction> reductions() { return kReductions; }

Tensor filled(DType dtype, const Sizes& sizes, const Scalar& value) {
    return Tensor::of(value, dtype).as_strided(sizes, Strides(sizes.size(), 0), 0).clone();
}

void for_each_graph(const Case& from, const std::function<void(const Graph&, const DraftOf&)>& f) {
    visit(
        from.graph, [](Draft& draft) -> Draft& { return draft; }, f);
}

}  // namespace whittle::reduce
