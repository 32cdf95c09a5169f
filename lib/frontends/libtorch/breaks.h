// The break that a step of a LibTorch program is by itself, and what its user can change there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/graph_break.h"
#include "frontends/libtorch/recording.h"

namespace whittle::libtorch {

/// The first of the stack whose text is known; empty: there is none.
std::string statement(const std::vector<StackFrame>& stack);

/// What a step is to a graph, before arguments are looked at: nothing, or the reason to stop. `dynamic_shapes`: a known
/// op whose results' sizes are data is none.
std::optional<capture::GraphBreak> break_of(const Recording& recording, std::int32_t index, bool dynamic_shapes);

/// It left the function of the frame.
capture::GraphBreak exception_of(const Recording& recording, const Event& raised);

/// What the user can change at the step; an option that would help is not set, or the operation would be no break.
std::string hint_at(const Recording& recording, std::int32_t index, const capture::GraphBreak& why);

}  // namespace whittle::libtorch
