// LLVM's symbolizer behind plain types: addresses of a program or library to functions, files and lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace whittle {

struct LineInfo {
    std::string function, file;  ///< demangled; "" where unknown
    int line = 0, column = 0;
    int start_line = 0;  ///< where the function begins; 0 where unknown
};

/// Slow at its first address of a module (tens of milliseconds), then microseconds. Not for several threads at once.
class LlvmSymbolizer {
  public:
    /// What a file is called: absolute, or as the debug information spells it, which may be from the folder of the
    /// build.
    enum class Paths : std::uint8_t { absolute, as_compiled };
    explicit LlvmSymbolizer(Paths paths = Paths::absolute);
    ~LlvmSymbolizer();

    /// The functions at an address as the module's file counts them, innermost inlined first; empty when the file
    /// cannot be read.
    std::vector<LineInfo> look_up(const std::string& module, std::uint64_t address);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace whittle
