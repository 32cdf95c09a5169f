// Addresses of a program or library to functions, files and lines. LLVM does it, in a library of its own
// (symbolize/llvm) that is loaded when the first address is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace whittle {

struct LineInfo {
    std::string function, file;  ///< demangled; "" where unknown
    int line = 0, column = 0;
    int start_line = 0;        ///< where the function begins; 0 where unknown
    bool constructor = false;  ///< by its linkage name (C1, C2 … of the Itanium ABI)
    bool resumable = false;    ///< the body of a coroutine, by its linkage name
};

/// Slow at its first address of a module (tens of milliseconds), then microseconds. Not for several threads at once.
class LineSymbolizer {
  public:
    /// What a file is called: absolute, or as the debug information spells it, which may be from the folder of the
    /// build.
    enum class Paths : std::uint8_t { absolute, as_compiled };
    virtual ~LineSymbolizer() = default;

    /// The functions at an address as the module's file counts them, innermost inlined first; empty when the file
    /// cannot be read.
    virtual std::vector<LineInfo> look_up(const std::string& module, std::uint64_t address) = 0;
};

/// Never null: where the library cannot be loaded, that is said in the log, once, and nothing is found.
std::unique_ptr<LineSymbolizer> make_symbolizer(LineSymbolizer::Paths paths = LineSymbolizer::Paths::absolute);

}  // namespace whittle
