#include "text/language.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"
#include "tensor/scalars.h"

namespace whittle {
namespace language {
namespace {

std::string cpp_type(DType dtype) { return std::string(info_of(dtype).cpp); }

std::string halide_type(DType dtype) {
    return dtype == DType::f16 ? "float16_t" : dtype == DType::bf16 ? "bfloat16_t" : cpp_type(dtype);
}

std::string torch_constant(DType dtype) { return "torch::k" + std::string(info_of(dtype).torch); }

std::string api_constant(DType dtype) { return "k" + std::string(info_of(dtype).aten_name); }

std::string torch_type(DType dtype) {
    if (!is_computed(dtype))  // PyTorch 2 stores them, and has few ops for them
        throw Error("found dtype " + std::string(name(dtype)) + ", expected a dtype of PyTorch");
    return "torch." + lower_case(std::string(info_of(dtype).torch));
}

std::string numpy_type(DType dtype) {
    return "np." + lower_case(std::string(info_of(dtype).torch)) + (dtype == DType::boolean ? "_" : "");
}

std::string struct_letter(DType dtype) { return std::string(info_of(dtype).packed); }

std::string typed_array(DType dtype) { return std::string(info_of(dtype).js); }

using Family = Language::Family;
using Reduced = Language::Reduced;

}  // namespace

constinit const Language cpp = {
    .typed = true, .point = ".0", .single = "f", .reduced = Reduced::converted, .type = cpp_type};
constinit const Language array_cpp = {
    .point = ".", .single = "f", .macros = true, .reduced = Reduced::bits, .type = cpp_type};
constinit const Language short_cpp = {.single = "f", .reduced = Reduced::converted, .type = halide_type};
constinit const Language torch_cpp = {.typed = true, .point = ".0", .type = torch_constant};
constinit const Language api_cpp = {.point = ".0", .type = api_constant};
constinit const Language python = {.family = Family::python,
                                   .nan = "float('nan')",
                                   .infinity = "float('inf')",
                                   .point = ".0",
                                   .quote = '\'',
                                   .type = torch_type};
constinit const Language numpy = {.family = Family::python, .nan = "np.nan", .infinity = "np.inf", .type = numpy_type};
constinit const Language plain_python = {
    .family = Family::python, .nan = "float(\"nan\")", .infinity = "float(\"inf\")", .type = struct_letter};
constinit const Language javascript = {.family = Family::javascript,
                                       .nan = "NaN",
                                       .infinity = "Infinity",
                                       .reduced = Reduced::bits,
                                       .quote = '\'',
                                       .type = typed_array};

}  // namespace language

namespace {

constexpr std::string_view kCppKeywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl concept "
    "const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern "
    "false float for friend goto if inline int long main mutable namespace new noexcept not not_eq nullptr operator or "
    "or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq";

constexpr std::string_view kPythonKeywords =
    "False None True and as assert async await break class continue def del elif else except finally for from global "
    "if "
    "import in is lambda nonlocal not or pass raise return try while with yield";

template <class... Values>
std::string format(const char* pattern, Values... values) {
    char text[32];
    std::snprintf(text, sizeof text, pattern, values...);
    return text;
}

/// The bits of one element, of the width of its type.
std::string bits_of(const Tensor& one) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, one.raw(), size_of(one.dtype()));
    return format("0x%0*x", static_cast<int>(2 * size_of(one.dtype())), bits);
}

/// The inside of a string literal; `line_break` in place of one that is not the last character.
std::string escaped(std::string_view text, const Language& language, std::string_view line_break) {
    // The digits of C++'s \x have no end, and TorchScript has none; JavaScript's modules have no octal ones.
    const char* const other = language.family == Language::Family::javascript ? "\\x%02x" : "\\%03o";
    std::string out;
    for (std::size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (c == '\n')
            out += i + 1 < text.size() ? line_break : "\\n";
        else if (static_cast<unsigned char>(c) < 0x20)
            out += format(other, static_cast<unsigned>(static_cast<unsigned char>(c)));
        else
            out.append(c == language.quote || c == '\\' ? "\\" : "").push_back(c);
    }
    return out;
}

std::string nested_below(const Language& language, const Tensor& contiguous, std::size_t dimension,
                         std::int64_t& next) {
    if (dimension == contiguous.sizes().size()) return language.element(contiguous, next++);
    std::vector<std::string> words;
    for (std::int64_t i = 0; i < contiguous.sizes()[dimension]; i++)
        words.push_back(nested_below(language, contiguous, dimension + 1, next));
    return language.list(words);
}

}  // namespace

std::string Language::boolean(bool value) const {
    if (family == Family::python) return value ? "True" : "False";
    return value ? "true" : "false";
}

std::string Language::integer(const Scalar& value, DType dtype) const {
    const std::string digits = value.integer_text();
    if (family == Family::javascript) return digits + (size_of(dtype) == 8 ? "n" : "");
    if (family == Family::python) return digits;
    constexpr std::int64_t kLowest32 = std::numeric_limits<std::int32_t>::min(),
                           kLowest64 = std::numeric_limits<std::int64_t>::min();
    const std::int64_t number = value.to_integer();
    if (is_unsigned(dtype)) {
        const bool beyond = number < 0 || number > std::numeric_limits<std::int32_t>::max();
        return digits + (beyond || (macros && size_of(dtype) >= 4) ? "u" : "");
    }
    if (macros && size_of(dtype) >= 4 && number == (size_of(dtype) == 4 ? kLowest32 : kLowest64))
        return format("INT%d_MIN", static_cast<int>(8 * size_of(dtype)));
    // The most negative integers have no literal: -2147483648 is a long in C++.
    if (!macros && number == kLowest32) return "(-2147483647 - 1)";
    return number == kLowest64 ? "(-9223372036854775807 - 1)" : digits;
}

std::string Language::number(double value, DType dtype) const {
    const bool wide = dtype == DType::f64 || single.empty();
    if (!std::isfinite(value)) {
        const std::string text(std::isnan(value) ? nan : infinity);
        return (value < 0 ? "-" : "") + (typed && wide ? "double(" + text + ")" : text);
    }
    // As a double, the shortest text of f32's largest number is beyond it.
    const bool largest = wide && std::fabs(value) == std::numeric_limits<float>::max();
    std::string text = shortest(value, dtype != DType::f64 && !largest);
    if (text.find_first_of(".e") == std::string::npos) {
        if (point.empty() && text != "-0") return text;
        text += point.empty() ? ".0" : point;
    }
    return text.append(wide ? "" : single);
}

std::string Language::value(const Scalar& value, DType dtype) const {
    if (dtype == DType::boolean) return boolean(value.to_bool());
    if (!is_floating(dtype)) return integer(value, dtype);
    if (is_reduced(dtype) && reduced == Reduced::converted)
        return type(dtype) + "(" + language::cpp.number(value.to_double(), DType::f32) + ")";
    return number(value.to_double(), dtype);
}

std::string Language::element(const Tensor& contiguous, std::int64_t i) const {
    const DType dtype = contiguous.dtype();
    const Tensor one = element_of(contiguous, i);
    if (is_complex(dtype)) {  // In Python, 1-0j has lost the sign of its zero.
        const Complex128 value = one.values<Complex128>().at(0);
        return (family == Family::python ? "complex" : type(dtype)) + "(" + number(value.real(), real_of(dtype)) +
               ", " + number(value.imag(), real_of(dtype)) + ")";
    }
    return is_reduced(dtype) && reduced == Reduced::bits ? bits_of(one) : value(one.item(), dtype);
}

std::string Language::elements(const Tensor& tensor) const {
    const Tensor contiguous = tensor.contiguous();
    std::string text;
    for (std::int64_t i = 0; i < contiguous.numel(); i++) text += (i ? ", " : "") + element(contiguous, i);
    return text;
}

std::string Language::nested(const Tensor& tensor) const {
    std::int64_t next = 0;
    return nested_below(*this, tensor.contiguous(), 0, next);
}

std::string Language::list(std::span<const std::string> words) const {
    return family == Family::cpp ? "{" + join(words) + "}" : "[" + join(words) + "]";
}

std::string Language::tuple(std::span<const std::string> words) {
    return "(" + join(words) + (words.size() == 1 ? ",)" : ")");
}

std::string Language::sizes(std::span<const std::int64_t> sizes) const {
    const std::string all = join(sizes);
    if (family == Family::python) return "(" + all + (sizes.size() == 1 ? ",)" : ")");
    return family == Family::cpp ? "{" + all + "}" : "[" + all + "]";
}

std::string Language::quoted(std::string_view text) const { return quote + escaped(text, *this, "\\n") + quote; }

std::string Language::quoted_lines(std::string_view text) const {
    return quote + escaped(text, *this, "\\n\"\n    \"") + quote;
}

std::string Language::comment(std::string_view text) const {
    constexpr std::size_t kWidth = 118;
    std::string lines, line(mark());
    const auto end_line = [&] { lines += remark(line) + "\n"; };
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        if (line.size() + 1 + word.size() > kWidth && line != mark()) {
            end_line();
            line = mark();
        }
        line.append(" ").append(word);
        begin = end + 1;
    }
    end_line();
    return lines;
}

std::string Language::remark(std::string_view text) {
    std::string line(text);
    std::ranges::replace(line, '\n', ' ');
    line.erase(line.find_last_not_of(" \t\r\\") + 1);  // a comment of C++ goes on behind a backslash
    return line;
}

bool Language::is_keyword(std::string_view name) const {
    return has_word(family == Family::python ? kPythonKeywords : kCppKeywords, name);
}

std::string Language::variable(const std::string& name, std::string_view taken) const {
    return is_keyword(name) || has_word(taken, name) ? name + "_" : name;
}

const Language& language_of(std::string_view file) {
    return file.ends_with(".py") ? language::python : file.ends_with(".mjs") ? language::javascript : language::cpp;
}

}  // namespace whittle
