// full_code.cpp: what runs in place of a captured function, in the user's terms: its guards, a call of
// __compiled_fn_N for each graph, the breaks between them, and a function for each place where the program resumes.
// Compilable C++ against Whittle::api; its main() runs on the recorded values, so a debugger can step through it. The
// idea is depyf's (https://github.com/thuml/depyf).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace whittle {

inline constexpr std::int64_t kMostOpsInCode = 5000;

/// full_code.cpp of each frame with ATen graphs and records of a folder that trace wrote, unless the frame has more
/// than kMostOpsInCode operations: no compiler takes that.
struct FullCode {
    struct Function {
        std::string frame, text;
        std::filesystem::path file = {};  ///< that it was written to
    };
    std::vector<Function> functions = {};
    std::vector<std::string> notes = {};  ///< on frames that are left out
};

/// `records`: where main() finds them when it is told no other folder, an expression of std::filesystem::path.
FullCode full_code(const std::filesystem::path& folder, const std::string& records);

/// Writes each as code/FRAME/full_code.cpp into the folder, where it is a part of the trace.
FullCode write_full_code(const std::filesystem::path& folder);

}  // namespace whittle
