#include "backends/debug/op_checks.h"

namespace whittle {
namespace {

class CheckingInterpreter final : public HoldingInterpreter {
    std::optional<std::vector<ValueMeta>> said_of(const Graph&, const Node& call) override { return call.results; }
    std::string said_is() const override { return "recorded"; }
};

/// As eager; after each op: operands that its schema does not declare as written have the same bits, results share
/// memory with operands only where it says so (of ops from outside; our own kernels may hand an operand on), and dtype,
/// sizes and strides of the results are the recorded ones. `find` finds LibTorch, which its part of a repro asks.
class EagerDebug final : public InterpretingBackend, public Emitter {
  public:
    EagerDebug(const BuiltInBackend& row, FindBackend find) : InterpretingBackend(row), find_(std::move(find)) {}

    SuspectCode emit(const EmitRequest& request) override {
        CheckingInterpreter interpreter;
        return held_code(request, first_wrong(interpreter, request.graph, request.graph.failure->inputs), find_,
                         "Whittle's kernel");
    }

  private:
    CompileResult compiled(const Graph& graph, const BackendOptions&) override {
        return interpreted(graph, [] { return std::make_unique<CheckingInterpreter>(); });
    }

    const FindBackend find_;
};

}  // namespace

std::unique_ptr<Backend> make_eager_debug(const BuiltInBackend& row, const FindBackend& find) {
    return std::make_unique<EagerDebug>(row, find);
}

}  // namespace whittle
