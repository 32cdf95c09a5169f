// Where a test lets capture itself fail, as a bug of ours would: nothing in the library or the programs sets one.
#pragma once

#include <functional>

#include "graph/graph.h"

namespace whittle::capture {

struct Hooks {
    std::function<void(const Node& call)> issued = {};      ///< the builder is given a call
    std::function<void(const Graph& graph)> finished = {};  ///< a graph is closed
};

/// Of this process; not to be set while something is captured.
const Hooks& hooks();
void set_hooks(Hooks hooks);

}  // namespace whittle::capture
