// Symbolizer: return addresses of the captured program to functions, files and lines, inlined calls included. LLVM does
// the work, offline: nothing of it is in the captured program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// One function of a stack, real or inlined.
struct CodePlace {
    std::string function;  ///< demangled, without parameters; "" when not even a symbol is known
    std::string file;      ///< "" without debug information
    int line = 0, column = 0;
    int start_line = 0;               ///< of the function; 0 where unknown
    std::string module;               ///< path of the program or library
    std::uint64_t address = 0;        ///< the return address
    std::uint64_t offset = 0;         ///< the same from the start of the module, as disassemblers show it
    bool constructor = false;         ///< of C++
    bool inlined = false;             ///< into the next
    bool in_program = false;          ///< in the executable itself, not in a library
    std::uint64_t called_module = 0;  ///< of a place that an interpreter runs: the module that is called there
    bool interpreted = false;         ///< Python or TorchScript
    bool torchscript = false;
    bool resumable = false;  ///< of a generator or coroutine, whose call is left and entered again
    std::string text = {};   ///< of the line, where more than the file tells it
    bool user = false;       ///< the user's own code: with debug information outside the headers of the system and of
                             ///< LibTorch, or, without any, in the program or a library outside their folders; in
                             ///< Python outside the interpreter's and installed packages' folders
    bool operator==(const CodePlace&) const = default;
};

class Symbolizer {
  public:
    explicit Symbolizer(const EventFile& file);
    ~Symbolizer();
    Symbolizer(const Symbolizer&) = delete;
    Symbolizer& operator=(const Symbolizer&) = delete;

    /// The functions at a return address, innermost (inlined into the next) first; never empty. Looks at the byte
    /// before it, which belongs to the call. Remembered. Of a place that an interpreter runs, its function.
    const std::vector<CodePlace>& places(std::uint64_t return_address);

    /// Line `line` of a source file without surrounding blanks, or "" when it cannot be read.
    std::string source_text(const std::string& file, int line);

    /// Code of the program that runs a TorchScript module for us.
    bool is_ours(const CodePlace& place) const;

    /// The program was seen to have debug information.
    bool program_has_lines() const { return program_has_lines_; }

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    bool program_has_lines_ = false;
};

/// What a function is called in reports: without anonymous namespaces, and "main::{lambda at app.cpp:90}" for a
/// lambda's operator() that begins there. Debug information has no number of a lambda, as a symbol has, by which
/// readable_function() (symbolize/text.h) would name it.
std::string name_by_place(std::string function, const std::string& file, int start_line);

}  // namespace whittle::libtorch
