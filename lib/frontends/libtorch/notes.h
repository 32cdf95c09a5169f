// Notes: what the report says about how the program ended and what of it could not be seen.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "frontends/libtorch/processes.h"
#include "frontends/libtorch/recording.h"

namespace whittle::libtorch {

/// Behind "the capture was stopped"; empty where it was not.
const char* reason_of(CutReason cut);

/// How the recorded program ended, when not by returning from main; `ended` is its exit status or signal in words, ""
/// if that is not known. Where the capture was cut. What became of other processes.
std::vector<std::string> notes_of_end(const Recording& recording, const std::string& ended, const Processes& processes,
                                      std::size_t process);

/// Which operations are there, of a recording of the last ones.
std::string note_of_last(const Recording& recording);

/// Where the parent forked the recorded process: " at app.cpp:30", or "".
std::string fork_place(const Recording& recording);

/// Where memory of tensors can be, or was, written to through pointers.
std::vector<std::string> notes_of_escapes(const Recording& recording);

/// Parameters that no operation reads, of modules with others that one does. What computes their first values counts as
/// none.
std::vector<std::string> notes_of_parameters(const Recording& recording);

/// Of graphs with values that no backend computes with (graph/placement.h), of which kinds; nothing when there are
/// none.
std::vector<std::string> notes_of_placements(const std::vector<capture::CapturedFrame>& frames);

/// One note for each of the functions asked for (--function) that no operation was called from; `seen`: those that one
/// was.
std::vector<std::string> notes_of_functions(const std::set<std::string>& seen,
                                            const std::vector<std::string>& functions);

}  // namespace whittle::libtorch
