#include "backends/command/script_text.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"

namespace whittle {
namespace {

using Family = Language::Family;

/// Whether the numbers of a text in which f32 is written in as few digits as tell it from its neighbours are the
/// elements themselves: JavaScript and Python read them as f64.
bool written_exactly(const Tensor& tensor) {
    const std::vector<double> values = tensor.values<double>();
    const auto reads_back = [](double value) {
        const std::string text = shortest(value, true);
        return !std::isfinite(value) || number_of<double>(text) == value;
    };
    return tensor.dtype() == DType::f64 || std::ranges::all_of(values, reads_back);
}

}  // namespace

std::string expected_text(const Language& language, const Compared& compared) {
    return compared.sizes.empty() ? language.elements(compared.tensor) : language.quoted(compared.sizes);
}

Compared compared(const ShortRequest& request) {
    Compared result;
    if (request.expected.empty()) return result;
    if (const auto output = wrong_sizes(request)) {
        result.output = *output;
        result.sizes = sizes_of(request.expected[*output]);
        return result;
    }
    const auto wrong = first_wrong(request);
    result.output = wrong ? wrong->output : 0;
    const Tensor expected = request.expected[result.output].contiguous();
    if (expected.numel() <= kMostInPlace) {
        result.tensor = expected.as_strided({expected.numel()}, {1}, expected.offset());
    } else {
        result.element = wrong ? wrong->element : 0;
        result.tensor = expected.as_strided({1}, {1}, expected.offset() + result.element);
    }
    result.tensor = result.tensor.contiguous();
    result.expected = result.tensor.values<double>();
    if (is_floating(expected.dtype()) && !(request.blame.exact && written_exactly(result.tensor)))
        result.tolerance = absolute_tolerance(*request.graph.failure, result.tensor);
    return result;
}

std::string wrong_text(const Language& language, const Compared& compared, const std::string& got,
                       const std::string& expected) {
    const bool python = language.family == Family::python;
    const auto all = [&](auto is) { return std::ranges::all_of(compared.expected, is); };
    const auto any = [&](auto is) { return std::ranges::any_of(compared.expected, is); };
    const auto is_nan = [](double v) { return std::isnan(v); };
    const auto is_finite = [](double v) { return std::isfinite(v); };
    const std::string differs = language.family == Family::javascript ? " !== " : " != ";
    if (!compared.sizes.empty()) return got + differs + expected;
    if (language.family == Family::cpp) return differs_in_cpp(compared.expected, compared.tolerance, got, expected);
    if (all(is_nan)) return python ? got + " == " + got : "!Number.isNaN(" + got + ")";
    if (compared.tolerance == 0 && !any(is_nan)) return got + differs + expected;
    if (all([&](double v) { return !std::isfinite(v); }) && !any(is_nan)) return got + differs + expected;
    std::string close =
        (python ? "abs(" : "Math.abs(") + got + " - " + expected + ") <= " + short_number(compared.tolerance);
    if (!all(is_finite)) {
        close += python ? " or " + got + " == " + expected : " || Object.is(" + got + ", " + expected + ")";
        if (any(is_nan) && python) close += " or (" + got + " != " + got + " and " + expected + " != " + expected + ")";
    }
    return python ? "not (" + close + ")" : "!(" + close + ")";
}

std::string value_in_javascript(const Compared& compared, const std::string& data) {
    const bool rounds = compared.tolerance > 0 && compared.tensor.dtype() == DType::f32;
    const std::string one = data + "[" + std::to_string(compared.element) + "]";
    if (compared.tensor.dtype() == DType::boolean)  // the arrays of node's bindings hold 0 and 1
        return compared.one() ? "Boolean(" + one + ")" : "Array.from(" + data + ", Boolean)";
    if (compared.one()) return rounds ? "+" + one + ".toPrecision(7)" : one;
    return rounds ? "Array.from(" + data + ", (v) => +v.toPrecision(7))" : "[..." + data + "]";
}

std::string print_in_javascript(const Compared& compared,
                                const std::vector<std::pair<std::string, std::string>>& values) {
    // An array in a text is its elements, with commas alone between them.
    const auto shown = [&](const std::string& value) {
        return compared.one() ? "${" + value + "}" : "[${" + value + ".join(', ')}]";
    };
    std::string text;
    for (const auto& [name, value] : values) text += name + ": " + shown(value) + ", ";
    std::string expected = compared.sizes;
    if (!compared.one())
        expected = shown("expected");
    else if (expected.empty())
        expected = (compared.tensor.dtype() == DType::boolean ? javascript : numpy).elements(compared.tensor);
    return "console.log(`" + text + "expected: " + expected + "`);\n";
}

std::string indented(const std::string& text, const std::string& by) {
    std::string result = text.empty() ? "" : by;
    for (std::size_t i = 0; i < text.size(); i++)
        result += text[i] == '\n' && i + 1 < text.size() ? "\n" + by : std::string(1, text[i]);
    return result;
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

}  // namespace whittle
