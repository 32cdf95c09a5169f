// Lacking: an ability of backends, as those in abilities.h.
#pragma once

#include <string>

#include "graph/graph.h"

namespace whittle {

/// It can say what it lacks to compile a call, whatever the call's op is.
class Lacking {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Lacking() = default;
    /// "complex numbers (c64)"; empty: nothing.
    virtual std::string lacks(const Graph& graph, const Node& call) const = 0;
};

}  // namespace whittle
