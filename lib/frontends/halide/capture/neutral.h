// Directives that change no result: the recorder and the programs agree on them.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace whittle::halide_capture {

/// It states sizes, which results may depend on, or the place where everything is computed without a schedule.
inline bool is_neutral(std::string_view directive) {
    constexpr std::string_view kNeutral[] = {"compute_root", "bound",         "bound_extent",      "bound_storage",
                                             "set_estimate", "set_estimates", "set_bounds",        "set_extent",
                                             "set_min",      "set_stride",    "set_host_alignment"};
    return std::find(std::begin(kNeutral), std::end(kNeutral), directive) != std::end(kNeutral);
}

}  // namespace whittle::halide_capture
