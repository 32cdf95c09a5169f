// loops_in(): where a sequence repeats itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace whittle::libtorch {

/// From `begin` up to `end`, whole iterations.
struct Loop {
    std::size_t begin = 0, end = 0, period = 0;
    std::size_t iterations() const { return (end - begin) / period; }
};

/// Stretches of at least so many iterations, ascending, without overlaps: of a loop in a loop the outer one, if that
/// has as many.
std::vector<Loop> loops_in(std::span<const std::uint64_t> codes, std::size_t least_iterations);

}  // namespace whittle::libtorch
