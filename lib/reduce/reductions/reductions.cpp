#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

constexpr Reduction kReductions[] = {
    {"nested", "Replace an op that has nested graphs: an If by the branch taken, a Loop by one iteration",
     nested_edits},
    {"outputs", "Drop outputs", output_edits},
    {"bypass", "Replace a call by one of its operands of the same type", bypass_edits},
    {"values", "Replace the results of a call by zeros or ones", value_edits},
    {"operands", "Replace an input by another one of the same type, or by a number", operand_edits},
    {"dims", "Shrink dimensions to 1, or to the smallest size that fails", dimension_edits},
    {"dtype", "Compute in f32", dtype_edits},
    {"arguments", "Drop arguments that have a default", argument_edits},
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
