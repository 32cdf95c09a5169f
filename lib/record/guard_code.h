// Guards as C++ of full_code.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/guard.h"
#include "tensor/tensor.h"

namespace whittle {

/// "self.w" of L['self'].w; nothing for what is neither a local nor a global.
std::optional<std::string> local_name(const capture::Source& source);

/// Tensors of a recorded call by local name.
using LocalTensors = std::map<std::string, const Tensor*>;

struct GuardCode {
    std::string condition = {};  ///< true where the guard holds; empty: it cannot be told in C++
    std::string why_not = {};    ///< then: why
    /// A number or text of the call that the guard is about: its local name, and the value that it had, in C++.
    std::optional<std::pair<std::string, std::string>> scalar = {};
};

/// In the code locals are frame.L (tensors) and frame.S (numbers and texts), and symbols are variables.
GuardCode guard_code(const capture::Guard& guard, const LocalTensors& locals);

/// Sizes that vary, as far as the guard names them.
std::vector<capture::SizeSymbol> symbols_of(const capture::Guard& guard);
/// "const std::int64_t s0 = frame.L.at("x").size(0);"; empty where the recorded call has no such tensor.
std::string symbol_code(const capture::SizeSymbol& symbol, const LocalTensors& locals);

}  // namespace whittle
