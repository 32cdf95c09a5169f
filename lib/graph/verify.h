// verify(): what is legal at each stage. Runs after every frontend, pass and reduction.
#pragma once

#include "graph/graph.h"
#include "graph/schema.h"

namespace whittle {

enum class Stage {
    captured,    ///< any dialect; unregistered ops are allowed (explain names them)
    registered,  ///< every op is registered and its arguments fit its schema
    functional,  ///< registered, and no op mutates
};

/// Throws Error naming the graph, the node and the rule it breaks: unique names; references point backwards;
/// placeholders first; exactly one output, last; attributes exist and fit their meta; getitem in range;
/// metas well formed.
void verify(const Graph& graph, Stage stage, const SchemaSource& schemas);

}  // namespace whittle
