#include "report/hash_align.h"

#include <algorithm>
#include <optional>

namespace whittle::report {

namespace {

using Keys = std::span<const std::uint64_t>;

bool go_on_together(Keys before, Keys after) {
    const std::size_t count = std::min({kRunAlike, before.size(), after.size()});
    return count > 0 && std::equal(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(count), after.begin());
}

/// How many keys to leave out on each side, as few as possible.
std::optional<std::pair<std::size_t, std::size_t>> skipped(Keys before, Keys after) {
    const std::size_t most = std::min(kMostSkipped, before.size() + after.size());
    for (std::size_t both = 1; both <= most; ++both)
        for (std::size_t first = both > after.size() ? both - after.size() : 0; first <= std::min(both, before.size());
             ++first)
            if (go_on_together(before.subspan(first), after.subspan(both - first)))
                return std::pair(first, both - first);
    return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> align(Keys before, Keys after) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    std::size_t i = 0, k = 0;
    while (i < before.size() && k < after.size()) {
        if (before[i] == after[k]) {
            pairs.emplace_back(i++, k++);
            continue;
        }
        const auto skip = skipped(before.subspan(i), after.subspan(k));
        if (!skip) break;
        i += skip->first;
        k += skip->second;
    }
    return pairs;
}

}  // namespace whittle::report
