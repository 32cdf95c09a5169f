// A compiler's command line, as `trace cc` gets it from a build: which word is the compiler, which the source, and what
// Clang needs of it to parse the same file. Plain words in, plain words out; GCC's and Clang's spellings.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace whittle::cpp {

struct Command {
    std::vector<std::string> words = {};  ///< the whole line, response files read in
    std::size_t compiler = 0;             ///< behind launchers such as ccache
    std::size_t source = 0;               ///< the one C++ file that is compiled; 0: there is none, see `other`
    std::string output = {};              ///< as -o names it; empty: none
    std::string depfile = {};             ///< written by -MD or -MMD; empty: none
    /// Why this compiles no single C++ file to an object ("links", "only preprocesses" …): nothing to probe.
    std::string other = {};
    /// Why this compiles a C++ file that cannot be probed; empty when it can.
    std::string refused = {};
};

/// Reads `words`: COMPILER ARGS…, perhaps with launchers in front. Throws Error when there is no word.
Command parse_command(std::span<const std::string> words);

/// What Clang 14 needs to parse as the compiler would: language, macros, include folders, forced includes, target.
/// Everything else (warnings, code generation, outputs) is left out, whoever's flag it is. `words` may begin with the
/// compiler; its source file is left out.
std::vector<std::string> clang_flags(std::span<const std::string> words);

/// The same command for another source and another output; what it would write beside the output, it does not.
std::vector<std::string> without_side_outputs(const Command& command, const std::string& output);

/// A file name as it stands in a depfile: blanks, '#' and '$' quoted as make reads them.
std::string make_quoted(const std::string& file);

}  // namespace whittle::cpp
