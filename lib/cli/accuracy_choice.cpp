#include "cli/accuracy_choice.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/number_text.h"
#include "cli/tool.h"
#include "cli/usage.h"

namespace whittle::cli {
namespace {

double tolerance_number(const std::string& option, const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0))
        throw invalid_value(text, option, "expected a number, 0 or more, or DTYPE=NUMBER");
    return value;
}

constexpr std::string_view kSteps = "ulp";  // behind a number of --rtol

void apply(const std::string& option, const std::vector<std::string>& words, double Tolerance::*member,
           Accuracy& accuracy) {
    const auto set = [&](DType dtype, std::string text) {
        Tolerance& tolerance = accuracy.tolerances.try_emplace(dtype, default_tolerance(dtype)).first->second;
        const bool steps = member == &Tolerance::rtol && text.ends_with(kSteps);
        if (steps) text.resize(text.size() - kSteps.size());
        const double value = tolerance_number(option, text);
        if (steps && value != std::floor(value))
            throw invalid_value(text, option, "expected a whole number before ulp");
        tolerance.*(steps ? &Tolerance::ulp : member) = value;
    };
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        if (equals == std::string::npos) {
            for (const DType dtype : kAllDTypes)
                if (is_inexact(dtype)) set(dtype, word);
            continue;
        }
        const auto dtype = dtype_from_name(word.substr(0, equals));
        if (!dtype)
            throw invalid_value(word, option,
                                "unknown data type '" + word.substr(0, equals) + "', expected one of " + dtype_names());
        set(*dtype, word.substr(equals + 1));
    }
}

}  // namespace

void AccuracyChoice::declare(Tool& tool, const std::string& means, const std::string& fallback) {
    tool.section("Accuracy");
    tool.flag_or_choice("--accuracy", mode, {"close", "fp64", "strict", "exact"},
                        means +
                            " close: each element must be within the tolerances. fp64: a result outside the tolerances "
                            "also passes if, compared with a run in double precision, its error is at most about twice "
                            "the error of the reference's result. strict: all bits must be equal or, with --rtol Nulp, "
                            "each element may differ by N units in the last place. "
                            "exact: choose inputs and weights on which no operation rounds; then all results must be "
                            "equal.");
    tool.option(
        "--rtol", rtol, "[DTYPE=]X",
        "Relative tolerance, for all floating-point and complex types or only for DTYPE. X is a number, or "
        "N followed by ulp: with 4ulp, an element outside the tolerances is also right if it differs by at most "
        "4 units in the last place. Default: " +
            fallback + ", for example 1e-4 for f32. May be repeated.");
    tool.option("--atol", atol, "[DTYPE=]X",
                "Absolute tolerance, for all floating-point and complex types or only for DTYPE. Default: " + fallback +
                    ", for example 1e-5 for f32.");
}

std::vector<std::string> AccuracyChoice::words() const {
    std::vector<std::string> words = {"--accuracy" + (mode ? "=" + *mode : "")};
    for (const std::string& text : rtol) words.insert(words.end(), {"--rtol", text});
    for (const std::string& text : atol) words.insert(words.end(), {"--atol", text});
    return words;
}

void AccuracyChoice::default_to(const Accuracy& recorded) {
    if (mode) return;
    mode = whittle::name(recorded.mode);
    if (tolerances()) return;
    const auto pair = [](DType dtype, double value) {
        return std::string(whittle::name(dtype)) + "=" + significant(value, 17);
    };
    for (const auto& [dtype, tolerance] : recorded.tolerances) {
        rtol.push_back(pair(dtype, tolerance.rtol));
        atol.push_back(pair(dtype, tolerance.atol));
        if (tolerance.ulp > 0) rtol.push_back(pair(dtype, tolerance.ulp) + std::string(kSteps));
    }
}

Accuracy AccuracyChoice::accuracy() const {
    if (exact() && tolerances())
        throw Error("--accuracy=exact cannot be used with --rtol and --atol: exact results have no tolerance");
    Accuracy accuracy;
    if (mode) accuracy.mode = accuracy_mode_from_name(*mode).value();
    apply("--rtol", rtol, &Tolerance::rtol, accuracy);
    apply("--atol", atol, &Tolerance::atol, accuracy);
    return accuracy;
}

}  // namespace whittle::cli
