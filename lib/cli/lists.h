// What explain prints of Whittle itself: the backends that exist, and what a kind of graph break means.
#pragma once

#include <string>

namespace whittle::cli {

class Tool;

/// --list-backends: name and description of each, as text or JSON.
void print_backends(const Tool& tool);

/// --break: the page of the kind of break `id`, of all of them for "all". Throws Error for another word.
std::string break_page(const std::string& id);

}  // namespace whittle::cli
