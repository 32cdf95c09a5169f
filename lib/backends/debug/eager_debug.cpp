#include "backends/debug/debug.h"
#include "backends/debug/op_checks.h"

namespace whittle {
namespace {

class CheckingInterpreter final : public HoldingInterpreter {
    std::optional<std::vector<ValueMeta>> said_of(const Graph&, const Node& call) override { return call.results; }
    std::string said_is() const override { return "recorded"; }
};

class EagerDebug final : public InterpretingBackend, public Emitter {
  public:
    explicit EagerDebug(FindBackend find) : find_(std::move(find)) {}
    std::string name() const override { return "eager_debug"; }
    std::string description() const override {
        return "eager; checks each op against its schema (writes, aliases) and the recorded dtype, sizes and strides";
    }

    SuspectCode emit(const EmitRequest& request) override {
        CheckingInterpreter interpreter;
        return held_code(request, first_wrong(interpreter, request.graph, request.graph.failure->inputs), find_,
                         "Whittle's kernel");
    }

  private:
    CompileResult compiled(const Graph& graph) override {
        return interpreted(graph, [] { return std::make_unique<CheckingInterpreter>(); });
    }

    const FindBackend find_;
};

}  // namespace

std::unique_ptr<Backend> make_eager_debug_backend(FindBackend find) {
    return std::make_unique<EagerDebug>(std::move(find));
}

}  // namespace whittle
