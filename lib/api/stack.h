// Where the program is: return addresses, and what they mean in the user's terms. Symbolizing is slow the first time
// (debug information is read); nothing does it in a hot path.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::api {

/// The calling thread's return addresses, innermost first; at most `limit`.
std::vector<void*> capture_stack(std::size_t limit = 64);

/// The user's part of a stack: without the library's own frames and the standard library's, up to the frame that
/// compile() runs. Inlined functions are frames. Falls back to the symbol and the module where there is no debug
/// information.
std::vector<StackFrame> user_stack(const std::vector<void*>& addresses);

/// The part of it that called the compiled function: what user_stack() leaves out.
std::vector<StackFrame> caller_stack(const std::vector<void*>& addresses);

/// A function's name, file and line by its address.
StackFrame function_at(const void* address);

}  // namespace whittle::api
