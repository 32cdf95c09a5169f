#include "backends/debug/debug.h"
#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "graph/text.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// The first call whose results are inferred otherwise than they were recorded.
std::optional<BackendFailure> inferred_otherwise(const Graph& recorded) {
    Graph inferred = recorded;
    try {
        infer_all(inferred);
    } catch (const Error& error) {
        return BackendFailure{"compile", {}, error.what()};
    }
    for (std::size_t i = 0; i < recorded.nodes.size(); ++i) {
        const Node &was = recorded.nodes[i], &is = inferred.nodes[i];
        for (std::size_t k = 0; k < was.results.size(); ++k) {
            const ValueMeta &a = was.results[k], &b = is.results[k];
            if (a.dtype != b.dtype || a.sizes != b.sizes)
                return BackendFailure{"compile", was.target,
                                      "result " + std::to_string(k) + " of %" + was.name + " is inferred as " +
                                          print(b) + ", recorded is " + print(a)};
        }
    }
    return std::nullopt;
}

class PreDispatchEager final : public InterpretingBackend {
  public:
    std::string name() const override { return "pre_dispatch_eager"; }
    std::string description() const override {
        return "eager on the graph traced again: every call's results inferred anew, and as recorded";
    }

  private:
    CompileResult compiled(const Graph& graph) override {
        if (std::optional<BackendFailure> failure = inferred_otherwise(graph)) return std::move(*failure);
        return interpreted(graph);
    }
};

}  // namespace

std::unique_ptr<Backend> make_pre_dispatch_eager_backend() { return std::make_unique<PreDispatchEager>(); }

}  // namespace whittle
