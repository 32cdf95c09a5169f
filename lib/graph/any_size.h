// Executables that serve a graph at other sizes, too: an ability of what a backend compiled, as those of the backend
// itself are in abilities.h.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle {

class AnySize {
  public:
    virtual ~AnySize() = default;
    /// An executable of `graph`, which is the one that this was compiled of but for sizes, and numbers that follow from
    /// them. Nothing is decided anew that does not depend on sizes; null where it has to be compiled. The backend still
    /// lives. May be called while this runs.
    virtual std::unique_ptr<Executable> at(const Graph& graph) const = 0;
};

/// Null where nothing is known, or where it only serves its own sizes.
inline std::unique_ptr<Executable> at_other_sizes(const Executable* known, const Graph& graph) {
    const AnySize* const any = dynamic_cast<const AnySize*>(known);
    return any ? any->at(graph) : nullptr;
}

}  // namespace whittle
