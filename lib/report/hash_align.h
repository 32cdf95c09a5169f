// Which operation of one run is which of another: two sequences of keys that are mostly alike are aligned, and what
// only one of them has is left out.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace whittle::report {

/// After a difference, the sequences go on together where this many keys are alike, or all that are left …
inline constexpr std::size_t kRunAlike = 8;
/// … and that is looked for among so many keys of the two together.
inline constexpr std::size_t kMostSkipped = 4096;

/// Positions in both, ascending. Behind the last pair no place was found where the two go on together.
std::vector<std::pair<std::uint32_t, std::uint32_t>> align(std::span<const std::uint64_t> before,
                                                           std::span<const std::uint64_t> after);

}  // namespace whittle::report
