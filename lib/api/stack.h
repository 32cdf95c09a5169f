// Where the program is: return addresses, and what they mean in the user's terms. Symbolizing is slow the first time
// (debug information is read); nothing does it in a hot path.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::api {

/// The calling thread's return addresses, innermost first, from one up to, but without, another, where they are on the
/// stack.
std::vector<void*> capture_stack(const void* from = nullptr, const void* until = nullptr);

/// The user's part of a stack: without the library's own frames and the standard library's, up to main. Inlined
/// functions are frames. Without debug information the symbol and the module; without symbols the innermost address
/// alone, as an offset into the module: "+0x1234".
std::vector<StackFrame> user_stack(const std::vector<void*>& addresses);

/// All of a stack, the library's own frames and the standard library's, too.
std::vector<StackFrame> whole_stack(const std::vector<void*>& addresses);

/// Equal for equal stacks.
std::string text_of(const std::vector<void*>& addresses);

/// The name of the function that begins at the address; "function_at_0x1234", its offset into the module, where there
/// is no symbol.
std::string function_at(const void* address);

}  // namespace whittle::api
