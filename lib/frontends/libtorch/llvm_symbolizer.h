// LLVM's symbolizer behind plain types: its headers do not compile as C++20 with clang 14, so one file of C++17 has
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace whittle::libtorch {

struct LineInfo {
    std::string function, file;  ///< demangled; "" where unknown
    int line = 0, column = 0;
};

class LlvmSymbolizer {
  public:
    LlvmSymbolizer();
    ~LlvmSymbolizer();

    /// The functions at an address relative to the module's load address, innermost inlined first; empty when the file
    /// cannot be read.
    std::vector<LineInfo> look_up(const std::string& module, std::uint64_t address);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace whittle::libtorch
