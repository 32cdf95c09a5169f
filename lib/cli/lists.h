// What explain prints of Whittle itself: the backends that exist, and what a kind of graph break means.
#pragma once

#include <string>
#include <vector>

namespace whittle::cli {

class Tool;

/// The ids of all kinds of breaks, and "all".
std::vector<std::string> break_ids();
/// The page of the kind of break `id`, of all of them for "all". Throws Error for another word.
std::string break_page(const std::string& id);

/// What there is a list of: "backends" …
const std::vector<std::string>& lists();
/// Prints one of them. Throws Error for another word.
void print_list(const Tool& tool, const std::string& what);

}  // namespace whittle::cli
