#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

constexpr Reduction kReductions[] = {
    {"nested",
     "Replace an op that has nested graphs by one of these graphs: an If by a branch, a Loop by one iteration",
     nested_edits},
    {"outputs", "Remove outputs", output_edits},
    {"bypass", "Replace a call by one of its operands of the same type", bypass_edits},
    {"values", "Replace the results of a call by zeros or ones", value_edits},
    {"operands", "Replace an input or a constant by another one of the same type, or by 0 or 1", operand_edits},
    {"dims", "Shrink dimensions to 1, or to the smallest size at which the graph still fails", dimension_edits},
    {"dtype", "Change the data types of floating-point values to f32", dtype_edits},
    {"arguments", "Remove arguments that have a default value", argument_edits},
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
