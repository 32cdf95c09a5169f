#include "backends/eager/interpreted.h"

namespace whittle {
namespace {

bool is_no_leaf(const Node& node) { return node.kind == NodeKind::placeholder && !node.meta().leaf; }

/// Buggy on purpose, as torch/_dynamo/backends/debugging.py has it: as eager, but it refuses a graph that computes
/// something and of which an input is no leaf of autograd, as far as the graph says: one that requires a gradient and
/// came from an earlier graph of the function.
class NonLeafCompileError final : public InterpretingBackend {
    using InterpretingBackend::InterpretingBackend;
    CompileResult compiled(const Graph& graph, const BackendOptions&) override {
        for (const Node& node : graph.nodes)
            if (is_no_leaf(node) && !graph.calls().empty())
                return BackendFailure{"compile", {}, "TestingOnlyCompileError"};
        return interpreted(graph);
    }
};

}  // namespace

std::unique_ptr<Backend> make_non_leaf_compile_error(const BuiltInBackend& row, const FindBackend&) {
    return std::make_unique<NonLeafCompileError>(row);
}

}  // namespace whittle
