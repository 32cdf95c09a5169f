// minimize(): from a failing graph to the fewest operations that still fail alike, on disk, with who is to blame.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reduce/report.h"
#include "reduce/request.h"

namespace whittle::reduce {

struct MinimizedFrame {
    Minimized result = {};
    Written written = {};                     ///< where the result is, and what was learnt beside it
    std::string judge = {};                   ///< who said so
    std::string file = {};                    ///< the frame's
    std::vector<std::string> rewritten = {};  ///< as LoadedFrame has it
    std::vector<std::string> nodes = {};      ///< the result, where it is a part of the file and no graph
    bool searched = false;                    ///< candidates were asked about, not the model alone
    std::string no_candidates = {};           ///< why they could not be

    bool failed() const {
        return result.ending == Minimized::Ending::minimized || result.ending == Minimized::Ending::interrupted;
    }
};

/// Writes search.output with every smaller find. A model that does not fail is a verdict, not an error. Throws Error
/// when the judge cannot be asked, or a file cannot be written, and CannotRun where a command judges.
MinimizedFrame minimize(const LoadedFrame& frame, const Search& search, const Observer& observer);

/// Where the result of one of several failures goes, from 1 on: NAME-1.json of NAME.json.
std::filesystem::path numbered_result(std::filesystem::path output, std::size_t number);

/// The report, the minimized graph and the next command; or why there is none.
std::string to_text(const MinimizedFrame& minimized, const Search& search);
nlohmann::json to_json(const MinimizedFrame& minimized);

}  // namespace whittle::reduce
