#include "reduce/request.h"

#include "backends/registry.h"

namespace whittle::reduce {

Judging::Judging(const Request& request) {
    if (const Suspect* suspect = request.suspect()) {
        backend = find_backend(suspect->spec, suspect->options);
        oracle = backend_oracle(*backend, *suspect);
    } else {
        oracle = command_oracle(std::get<CommandOracleOptions>(request.judge));
    }
}

}  // namespace whittle::reduce
