#include "backends/eager/eager.h"

#include "backends/eager/interpreted.h"
#include "graph/abilities.h"

namespace whittle {
namespace {

class EagerBackend final : public Backend, public Reference, public Support {
  public:
    std::string name() const override { return "eager"; }
    std::string description() const override { return "the reference: interprets each op by its own kernel"; }
    CompileStage consumes() const override { return CompileStage::captured; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        warn_of_options(name(), options);
        if (std::optional<BackendFailure> failure = refused_by_kernels(graph)) return std::move(*failure);
        return interpreted(graph, [] { return std::make_unique<NamingInterpreter>(); });
    }

    std::vector<std::string> unsupported(const Graph& graph) const override { return without_kernel(graph); }
};

}  // namespace

std::unique_ptr<Backend> make_eager_backend() { return std::make_unique<EagerBackend>(); }

}  // namespace whittle
