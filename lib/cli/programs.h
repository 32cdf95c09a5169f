// The five programs in the order in which a newcomer uses them: what each does, once for its own page and for
// whittle's.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace whittle::cli {

struct Program {
    std::string_view name, arguments, summary;
    std::string_view example;  ///< without a name in front of it: "traces --backend halide"
};
std::span<const Program> programs();

/// Throws Error for a name that none has.
const Program& program_named(std::string_view name);

/// A text with the command lines of our programs that it quotes, 'explain list logs', as the user calls them; also as a
/// list of CMake, "trace;cc;--".
std::string with_called_programs(std::string text);

}  // namespace whittle::cli
