#include "base/suggest.h"

#include <algorithm>
#include <vector>

#include "base/words.h"

namespace whittle {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Three rows of the table: two back for swaps, one back, and the current one.
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
    if (name.empty() || name.size() > 256) return {};
    const std::string* best = nullptr;
    std::size_t best_distance = 0;
    for (const std::string& candidate : known) {
        const bool starts = candidate.size() > name.size() && candidate.compare(0, name.size(), name) == 0;
        const std::size_t distance = starts ? 1 : edit_distance(name, candidate);
        const std::size_t letters = candidate.size() - std::min(candidate.find_first_not_of('-'), candidate.size());
        if (distance > std::max<std::size_t>(1, candidate.size() / 3) || (!starts && distance >= letters)) continue;
        if (!best || distance < best_distance) {
            best = &candidate;
            best_distance = distance;
        }
    }
    return best ? "did you mean '" + *best + "'?" : std::string();
}

std::string next_line(const std::string& command, std::size_t width) {
    return command.empty() ? std::string() : pad_right("next:", width) + command + "\n";
}

}  // namespace whittle
