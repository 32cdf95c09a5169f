#include "passes/log.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "base/words.h"
#include "graph/value_ref.h"

namespace whittle {

Graph logged(std::string_view pass, const Graph& before, Graph after) {
    if (log_enabled(LogChannel::passes, LogLevel::info))
        log_info(LogChannel::passes, std::string(pass) + ": graph " + before.name + ", " +
                                         std::to_string(op_count(before)) + " -> " + plural(op_count(after), "op"));
    return after;
}

}  // namespace whittle
