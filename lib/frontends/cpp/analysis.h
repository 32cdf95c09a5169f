// What reading a C++ source file tells without running it: its functions, the places where capture would have to stop,
// and the places that cannot carry probes. Plain values; frontends/clang makes them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/graph_break.h"

namespace whittle::cpp {

/// Lines and columns count from 1, columns are bytes; the end is the last character.
struct Range {
    int line = 0, column = 0, end_line = 0, end_column = 0;
    auto operator<=>(const Range&) const = default;
};

struct Function {
    std::string name = {};  ///< qualified; a lambda's is that of its function followed by "::lambda"
    Range range = {};
    bool tensors = false;  ///< tensors occur in it
    bool operator==(const Function&) const = default;
};

using capture::BreakKind;

/// The kind of break that is predicted; nothing of a call that cannot be seen and receives a tensor: any may happen
/// there.
using PredictedKind = std::optional<BreakKind>;

/// All that can be predicted, as files and reports name them.
struct NamedKind {
    PredictedKind kind;
    std::string_view name;
};
inline constexpr NamedKind kPredictedKinds[] = {
    {.kind = BreakKind::side_effect, .name = "side_effect"},
    {.kind = BreakKind::branch, .name = "branch"},
    {.kind = BreakKind::item, .name = "item"},
    {.kind = BreakKind::data_pointer, .name = "data_pointer"},
    {.kind = BreakKind::dynamic_shape, .name = "dynamic_shape"},
    {.kind = BreakKind::compare, .name = "compare"},
    {.kind = BreakKind::backward, .name = "backward"},
    {.kind = std::nullopt, .name = "call"},
};
std::string_view name(PredictedKind kind);

/// A place where capture will, or may, have to stop when the program reaches it.
struct Prediction {
    PredictedKind kind = BreakKind::side_effect;
    bool possible = false;   ///< may, not will: what happens there cannot be seen
    Range range = {};        ///< of the expression; of a branch, its condition
    std::size_t function{};  ///< position in Analysis::functions
    std::string text = {};   ///< the source in the range, on one line
    std::string line = {};   ///< the source line where it begins, without indentation
    std::string reason = {};
    bool operator==(const Prediction&) const = default;
};

/// A place that gets no probes.
struct Skipped {
    Range range = {};
    std::string what = {};    ///< "function 'f'", "lambda", "condition", "statement"
    std::string reason = {};  ///< "constexpr", "made by a macro" …
};

struct Analysis {
    std::string file = {};  ///< as it was named
    std::vector<Function> functions = {};
    std::vector<Prediction> predictions = {};  ///< in order of their ranges
    bool operator==(const Analysis&) const = default;
};

/// Keeps the predictions in these functions (qualified names, or their last part) and in lambdas inside them; all when
/// `names` is empty. Returns the names that no function has.
std::vector<std::string> keep_functions(Analysis& analysis, const std::vector<std::string>& names);

enum class SiteKind : std::uint8_t { statement, branch, effect };

/// A place that a probe reports; positions in Probed::sites are the probes' numbers.
struct Site {
    SiteKind kind = SiteKind::statement;
    std::size_t function{};  ///< position in Analysis::functions
    Range range = {};        ///< of a control statement: its head
    std::string text = {};   ///< the source in the range, on one line
    std::string what = {};   ///< branch: "if", "while" …; effect: "stream output" …
    bool operator==(const Site&) const = default;
};

/// A source file with probes inserted.
struct Probed {
    std::string text = {};  ///< same lines as the original; needs the tables of tables.h in front
    Analysis analysis = {};
    std::vector<Site> sites = {};
    std::vector<Skipped> skipped = {};  ///< in order of their ranges
};

}  // namespace whittle::cpp
