#include "debug/search.h"

#include "backends/registry.h"

namespace whittle::debug {

Judging judging(const Search& search) {
    Judging result;
    if (const Suspect* suspect = search.suspect()) {
        result.backend = find_backend(suspect->spec, suspect->options);
        result.oracle = reduce::backend_oracle(*result.backend, *suspect);
    } else {
        result.oracle = reduce::command_oracle(std::get<reduce::CommandOracleOptions>(search.judge));
    }
    return result;
}

}  // namespace whittle::debug
