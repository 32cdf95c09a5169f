// Untouched: a backend must not write to what it is given, inputs or parameters. What it does write all the same is a
// failure of its own, for whatever is computed of it later is wrong in a place that is not to blame.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// What a backend is given, as it was before.
class Untouched {
  public:
    /// Copies the inputs, and takes the hashes of the graph's attributes: parameters may be large. What is mapped from
    /// a file cannot be written and is left out.
    Untouched(const Graph& graph, std::span<const Tensor> inputs);

    struct Written {
        std::string detail;   ///< for a signature: "written_input" "written_parameter"
        std::string message;  ///< "wrote to input 0 (x): [1]: got 7, expected 3; …"
    };
    /// The first thing that is not as it was. All inputs are made so again.
    std::optional<Written> restore();

  private:
    const Graph& graph_;
    std::vector<Tensor> inputs_, copies_;
    std::map<std::string, std::string> hashes_;  ///< of attributes, by key
};

}  // namespace whittle
