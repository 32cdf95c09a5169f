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
    KernelCase candidate = search.best();
    candidate.mended = false;
    search.attempt(candidate);
    candidate = search.best();
    candidate.careful = false;
    if (is_tame(candidate)) search.attempt(candidate);
    // The plainest first: targets only get plainer.
    for (std::size_t skipped = search.best().targets.size() - 1; skipped > 0; skipped--) {
        candidate = search.best();
        if (skipped >= candidate.targets.size()) continue;
        candidate.targets.erase(candidate.targets.begin(),
                                candidate.targets.begin() + static_cast<std::ptrdiff_t>(skipped));
        if (search.attempt(candidate)) return;
    }
}

}  // namespace whittle::reduce::kernel
