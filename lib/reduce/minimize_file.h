// minimize_file(): the fewest nodes of an ONNX file that still fail alike, of a file whose failure is not one of the
// graph that Whittle makes of it.
#pragma once

#include "reduce/minimize_frame.h"

namespace whittle::reduce {

/// As minimize(), of the file that the frame was read from, where the judge is a command that is given ONNX files, or a
/// backend that reads them and fails at something else than results. Each candidate is a part of the file as it stands
/// (frontends/onnx/file_parts.h); what it reads of other nodes is random. The search is the same; its answers are not
/// kept in a journal, and the result has no failure beside it, for which a graph is needed.
MinimizedFrame minimize_file(const LoadedFrame& frame, const Search& search, const Observer& observer);

}  // namespace whittle::reduce
