// What `trace cc`'s probes tell of the running program: functions with their parameters' names, statements, variables,
// branches. And the frames of a traced program that compiles nothing itself: each function that main calls, and main.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace whittle::api {

/// The innermost entry made exact by the statement or condition that the thread is at, where probes say it.
std::vector<StackFrame> with_cursor(std::vector<StackFrame> stack);

/// Before an operation outside of any frame: begins that of main when the program is traced and uses no compile().
void begin_implicit_frame();

}  // namespace whittle::api
