// Notes: what the report says about how the program ended and what of it could not be seen.
#pragma once

#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "frontends/libtorch/recording.h"

namespace whittle::libtorch {

/// How the recorded program ended, when not by returning from main; `ended` is its exit status or signal in words, ""
/// if that is not known. Where the capture was cut. Which other processes were not seen.
std::vector<std::string> notes_of_end(const Recording& recording, const std::string& ended);

/// Where memory of tensors can be, or was, written to through pointers.
std::vector<std::string> notes_of_escapes(const Recording& recording);

/// Of graphs with values that no backend computes with (graph/placement.h), of which kinds; nothing when there are
/// none.
std::vector<std::string> notes_of_placements(const std::vector<capture::CapturedFrame>& frames);

/// One note for each of the functions asked for (--function) that no operation was called from.
std::vector<std::string> notes_of_functions(const Recording& recording, const std::vector<std::string>& functions);

}  // namespace whittle::libtorch
