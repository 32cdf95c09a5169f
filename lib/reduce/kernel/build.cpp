// How the case is compiled.
#include <algorithm>
#include <cmath>

#include "reduce/kernel/search.h"

namespace whittle::reduce::kernel {
namespace {

/// Whether no operation can meet NaN, -0 or overflow: all data are small, and so are the loops.
bool is_tame(const KernelCase& kernel) {
    constexpr double kMost = 100;
    const auto tame = [](double value) {
        return std::isfinite(value) && std::fabs(value) <= kMost && !(value == 0 && std::signbit(value));
    };
    return std::ranges::all_of(kernel.inputs, [&](const Tensor& input) {
        return input.numel() <= kMost && std::ranges::all_of(input.values<double>(), tame);
    });
}

}  // namespace

void plainer_build(Search& search) {
    search.attempt_with([](KernelCase& kernel) { kernel.with_workarounds = false; });
    if (is_tame(search.best())) search.attempt_with([](KernelCase& kernel) { kernel.careful = false; });
    // The plainest first: targets only get plainer.
    for (std::size_t skipped = search.best().targets.size() - 1; skipped > 0; skipped--) {
        const auto drop = [&](KernelCase& kernel) {
            std::vector<std::string>& targets = kernel.targets;
            if (skipped >= targets.size()) return false;
            targets.erase(targets.begin(), targets.begin() + static_cast<std::ptrdiff_t>(skipped));
            return true;
        };
        if (search.attempt_with(drop)) return;
    }
}

}  // namespace whittle::reduce::kernel
