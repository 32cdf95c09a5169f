// WantedResults: the outputs of equal graphs, all executions taken together.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "frontends/libtorch/cutter.h"

namespace whittle::libtorch {

/// Which results somebody wants behind a piece, in any execution: those of equal pieces are one graph, with the same
/// outputs.
class WantedResults {
  public:
    explicit WantedResults(const Recording& recording) : recording_(recording) {}

    /// Of pieces that do the same at the same places of the function.
    std::uint64_t key(const Piece& piece, const std::string& function);
    using Results = std::set<std::pair<std::size_t, std::size_t>>;  ///< position of the step, and of the result
    Results& operator[](std::uint64_t key) { return results_[key]; }

  private:
    const Recording& recording_;
    std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> places_;  ///< by function and stack
    std::unordered_map<std::uint64_t, Results> results_;
};

}  // namespace whittle::libtorch
