#include "reduce/request.h"

#include "backends/registry.h"

namespace whittle::reduce {

Judging judging(const Search& search) {
    Judging result;
    if (const Suspect* suspect = search.suspect()) {
        result.backend = find_backend(suspect->spec, suspect->options);
        result.oracle = backend_oracle(*result.backend, *suspect);
    } else {
        result.oracle = command_oracle(std::get<CommandOracleOptions>(search.judge));
    }
    return result;
}

}  // namespace whittle::reduce
