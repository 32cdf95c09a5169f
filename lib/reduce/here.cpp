// The search as programs of the API have it, which load this library when it is first needed: for backends that no
// other process knows.
#include <nlohmann/json.hpp>

#include "reduce/report.h"
#include "reduce/save.h"

namespace whittle {

/// Minimizes in forked children of this process and writes `output`. Returns what `minify --json` prints, which is the
/// caller's.
extern "C" std::string* whittle_minimize_here(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                                              const Suspect& suspect, const std::filesystem::path& output) {
    const std::unique_ptr<reduce::Oracle> oracle = reduce::backend_oracle(backend, suspect);
    reduce::Minimized found = reduce::minimize(graph, inputs, *oracle);
    if (found.ending == reduce::Minimized::Ending::minimized) {
        save_minimized(found.smallest, output);
        found.output = output;
    }
    return new std::string(reduce::to_json(found).dump());
}

}  // namespace whittle
