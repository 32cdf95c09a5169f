#include "backends/debug/op_checks.h"
#include "base/log.h"
#include "graph/text.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// The first result that is inferred otherwise than it was recorded. Throws Error where a call is refused.
std::optional<HeldResult> inferred_otherwise(const Graph& recorded) {
    Graph inferred = recorded;
    infer_all(inferred);
    for (std::size_t i = 0; i < recorded.nodes.size(); ++i) {
        const Node &was = recorded.nodes[i], &is = inferred.nodes[i];
        for (std::size_t k = 0; k < was.results.size(); ++k) {
            const ValueMeta &a = was.results[k], &b = is.results[k];
            if (a.dtype != b.dtype || a.sizes != b.sizes) return HeldResult{was.name, k, b, a, "recorded", true};
        }
    }
    return std::nullopt;
}

/// Infers the metas of every call anew from those of the graph's inputs, compares them with the recorded ones, and runs
/// as eager. `find`: as eager_debug.
class PreDispatchEager final : public InterpretingBackend, public Emitter {
  public:
    PreDispatchEager(const BuiltInBackend& row, FindBackend find) : InterpretingBackend(row), find_(std::move(find)) {}

    SuspectCode emit(const EmitRequest& request) override {
        return held_code(request, inferred_otherwise(request.graph), find_, "Whittle's shape and dtype inference");
    }

  private:
    CompileResult compiled(const Graph& graph, const BackendOptions&) override {
        try {
            if (const std::optional<HeldResult> wrong = inferred_otherwise(graph)) {
                const std::string& target = graph.find(wrong->node)->target;
                return BackendFailure{"compile", target,
                                      wrong->text(target, kind_text(wrong->computed), kind_text(wrong->said))};
            }
            if (log_enabled(LogArtifact::aot_graphs)) {
                Graph inferred = graph;
                infer_all(inferred);
                log_artifact(LogArtifact::aot_graphs, graph.name + " pre_dispatch", print(inferred));
            }
        } catch (const Error& error) {
            return BackendFailure{"compile", {}, error.what()};
        }
        return interpreted(graph);
    }

    const FindBackend find_;
};

}  // namespace

std::unique_ptr<Backend> make_pre_dispatch_eager(const BuiltInBackend& row, const FindBackend& find) {
    return std::make_unique<PreDispatchEager>(row, find);
}

}  // namespace whittle
