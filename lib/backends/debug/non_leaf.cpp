#include "backends/debug/debug.h"
#include "backends/eager/interpreted.h"

namespace whittle {
namespace {

bool is_no_leaf(const Node& node) { return node.kind == NodeKind::placeholder && !node.meta().leaf; }

/// As torch/_dynamo/backends/debugging.py has it.
class NonLeafCompileError final : public InterpretingBackend {
  public:
    std::string name() const override { return "non_leaf_compile_error_TESTING_ONLY"; }
    std::string description() const override {
        return "buggy on purpose: refuses a graph with an input that is not a leaf of autograd";
    }

  private:
    CompileResult compiled(const Graph& graph) override {
        for (const Node& node : graph.nodes)
            if (is_no_leaf(node) && !graph.calls().empty())
                return BackendFailure{"compile", {}, "TestingOnlyCompileError"};
        return interpreted(graph);
    }
};

}  // namespace

std::unique_ptr<Backend> make_non_leaf_compile_error_backend() { return std::make_unique<NonLeafCompileError>(); }

}  // namespace whittle
