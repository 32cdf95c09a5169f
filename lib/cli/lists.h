// What explain prints of Whittle itself: the backends that exist, and what a kind of graph break means.
#pragma once

#include <optional>
#include <string>

namespace whittle::cli {

class Tool;

/// The page of the kind of break `id`, of all of them for "all". Throws Error for another word.
std::string break_page(const std::string& id);

/// --break and --list-….
struct ListOptions {
    std::optional<std::string> break_id = {};
    bool backends = false, variables = false, logs = false;

    void declare_break(Tool& tool);
    void declare(Tool& tool);
    /// Prints what is asked for; false where nothing is. Throws Error for a kind of break that there is not.
    bool print(const Tool& tool) const;
};

}  // namespace whittle::cli
