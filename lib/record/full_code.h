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

/// The text of full_code.cpp of each frame of a folder that trace wrote.
struct FullCodeTexts {
    struct Function {
        std::string frame, text;
    };
    std::vector<Function> functions = {};
    std::vector<std::string> notes = {};  ///< on frames that are left out
};
/// `records`: where main() finds them when it is told no other folder, an expression of std::filesystem::path.
FullCodeTexts full_code_texts(const std::filesystem::path& folder, const std::string& records);

struct FullCode {
    std::vector<std::filesystem::path> files = {};
    std::vector<std::string> notes = {};  ///< on frames that are left out
};

/// Writes code/FRAME/full_code.cpp into a folder that trace wrote, for each of its frames with ATen graphs and records,
/// unless the frame has more than kMostOpsInCode operations: no compiler takes that. What an earlier call left in code/
/// goes.
FullCode write_full_code(const std::filesystem::path& folder);

}  // namespace whittle
