// Sizes and numbers that are data: what values given for the inputs make them. Found by running the part of the graph
// that is read so far. Internal; load.cpp and importer.cpp are the users.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::pt2 {

class DataSizes {
  public:
    /// `values`: of the graph's placeholders; null where there are none. `sizes`: of the symbols decided so far.
    DataSizes(std::function<std::vector<Tensor>(const Graph&)> values, std::map<std::string, std::int64_t>& sizes)
        : values_(std::move(values)), sizes_(sizes) {}

    /// The results of a call of `count` results that the graph does not have yet. Throws Error where no values are
    /// given, and for what the reference cannot run.
    std::vector<Tensor> run(const Graph& graph, const Node& call, std::size_t count) const;
    /// An expression that is nothing but an undecided symbol stands for this from now on. Throws Error for a symbol
    /// that was decided otherwise.
    void decide(const std::string& expression, std::int64_t value);
    /// Symbols that were decided here: "u0=5".
    const std::vector<std::string>& decided() const { return decided_; }

  private:
    const std::function<std::vector<Tensor>(const Graph&)> values_;
    std::map<std::string, std::int64_t>& sizes_;
    std::vector<std::string> decided_;
};

}  // namespace whittle::pt2
