// What the log tells of a capture, in the same words for every frontend.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "capture/output_graph.h"

namespace whittle::capture {

/// A line on `capture`, and the artifacts graph_code and graph_sizes. `id`: of the compilation, where there is one.
/// `varying`: lines about its sizes that vary.
void log_graph(const Graph& graph, const std::string& frame, const std::string& id = {},
               const std::string& varying = {});
/// Every call with its place, for debugging: of a graph that came as a whole, where no call was logged as it was met.
void log_calls(const Graph& graph);
/// The artifact guards. `of`: what relies on them.
void log_guards(const std::string& of, const std::vector<Guard>& guards);
/// A line on `capture` and the artifact graph_breaks, with the break's own stack.
void log_break(const GraphBreak& why, const std::string& frame, LogLevel level);
/// The same of a recompile. `stack`: of the call that no specialization fitted, or of what the guard is about.
void log_recompile(const std::string& reason, const std::string& advice, const std::string& frame,
                   const std::vector<StackFrame>& stack);

/// All of these, of a frame that was captured as a whole.
void log_frame(const CapturedFrame& frame);

}  // namespace whittle::capture
