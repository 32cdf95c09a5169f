// --accuracy[=MODE] --rtol --atol, as every program that compares results has them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensor/compare.h"

namespace whittle::cli {

class Tool;

/// The tolerances that hold without options where records are compared as they say.
inline constexpr char kRecordedTolerances[] = "the tolerances in the record; without a record, by data type";

struct AccuracyChoice {
    std::optional<std::string> mode = {};           ///< of --accuracy
    std::vector<std::string> rtol = {}, atol = {};  ///< "X" or "DTYPE=X"; of rtol also "Nulp"

    /// `means`: what --accuracy does in this program, a sentence. `fallback`: which tolerances hold without options.
    void declare(Tool& tool, const std::string& means, const std::string& fallback = "by data type");
    /// A mode or a tolerance was named.
    bool given() const { return mode || tolerances(); }
    /// Data are chosen on which no operation rounds.
    bool exact() const { return mode == "exact"; }
    bool tolerances() const { return !rtol.empty() || !atol.empty(); }
    /// As accuracy(); nothing: none was named, and each frame's own holds.
    std::optional<Accuracy> chosen() const { return given() ? std::optional(accuracy()) : std::nullopt; }
    /// As they are typed: --accuracy, with the mode if one was named, and the tolerances.
    std::vector<std::string> words() const;
    /// Where no mode was named: a recorded one, with its tolerances unless some were given.
    void default_to(const Accuracy& recorded);
    /// Throws Error for what is no data type or number. X alone is for floating-point results; integers and booleans
    /// are compared exactly unless their type is named.
    Accuracy accuracy() const;
};

}  // namespace whittle::cli
