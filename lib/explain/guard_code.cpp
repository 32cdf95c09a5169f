#include "explain/guard_code.h"

#include <algorithm>
#include <regex>

#include "explain/api_spelling.h"
#include "explain/cpp_source.h"

namespace whittle::explain {

std::optional<std::string> local_name(const std::string& source) {
    if (source.size() < 5 || (source[0] != 'L' && source[0] != 'G') || source.compare(1, 2, "['") != 0)
        return std::nullopt;
    const auto end = source.find("']");
    if (end == std::string::npos) return std::nullopt;
    return source.substr(3, end - 3) + source.substr(end + 2);
}

namespace {

constexpr const char* kNotRead = "no graph reads it";

/// "[s0, 3]" -> "{-1, 3}".
std::string braced(const std::string& list) {
    static const std::regex symbol("s[0-9]+");
    return "{" + std::regex_replace(list.substr(1, list.size() - 2), symbol, "-1") + "}";
}

/// "f32[s0, 3] strides=[3, 1] requires_grad", of this local.
GuardCode tensor_guard(const std::string& name, const std::string& what, const LocalTensors& locals) {
    static const std::regex form(R"((\w+)(\[[^\]]*\])(?: strides=(\[[^\]]*\]))?( requires_grad)?)");
    std::smatch match;
    if (!std::regex_match(what, match, form)) return {.why_not = "not understood"};
    const auto dtype = dtype_from_name(match[1].str());
    if (!dtype) return {.why_not = "not understood"};
    const auto local = locals.find(name);
    if (local == locals.end()) return {.why_not = kNotRead};
    const std::string strides =
        match[3].matched ? "whittle::IntList" + braced(match[3].str()) : "whittle::IntList(std::nullopt)";
    const std::string flag = match[4].matched ? "true" : "false";
    return {.condition = "__matches(frame.L.at(" + cpp_string(name) + "), whittle::" + api_dtype(*dtype) + ", " +
                         braced(match[2].str()) + ", " + strides + ", " + flag + ")"};
}

/// A value as guards tell it: "3", "0.5", "true", "'text'", "none".
std::string value_code(const std::string& value) {
    if (value == "true" || value == "false") return "Value(" + value + ")";
    if (value == "none") return "Value()";
    if (value.starts_with("'") && value.ends_with("'") && value.size() >= 2)
        return "Value(std::string(" + cpp_string(value.substr(1, value.size() - 2)) + "))";
    if (value == "nan" || value == "-nan") return "Value(double{NAN})";
    if (value == "inf" || value == "-inf")
        return "Value(double{" + std::string(value[0] == '-' ? "-" : "") + "INFINITY})";
    if (value.find_first_not_of("-0123456789") == std::string::npos) return "Value(std::int64_t{" + value + "})";
    return "Value(double{" + value + "})";
}

}  // namespace

GuardCode guard_code(const std::string& guard, const LocalTensors& locals) {
    static const std::regex relation(R"(s\d+ (> \d+|== (\d+\*)?s\d+|% \d+ == 0))");
    if (std::regex_match(guard, relation)) return {.condition = guard};
    const std::size_t equal = guard.find(" == ");
    const std::size_t colon = guard.find(": ");
    if (colon != std::string::npos && colon < equal) {
        const auto name = local_name(guard.substr(0, colon));
        return name ? tensor_guard(*name, guard.substr(colon + 2), locals) : GuardCode{.why_not = kNotRead};
    }
    if (equal == std::string::npos) return {.why_not = "not understood"};
    const std::string source = guard.substr(0, equal), value = guard.substr(equal + 4);
    if (source == "___grad_mode") return {.condition = "whittle::grad_enabled() == " + value};
    if (source == "___default_dtype" && value.size() > 2)
        if (const auto dtype = dtype_from_name(value.substr(1, value.size() - 2)))
            return {.condition = "whittle::get_default_dtype() == whittle::" + std::string(api_dtype(*dtype))};
    const auto name = local_name(source);
    if (!name) return {.why_not = "not understood"};
    const std::string code = value_code(value);
    return {.condition = "frame.S.at(" + cpp_string(*name) + ") == " + code, .scalar = std::pair(*name, code)};
}

std::string symbol_code(const IndexSymbol& symbol, const LocalTensors& locals) {
    const std::size_t size = symbol.place.rfind(".size(");
    if (size == std::string::npos) return {};
    const auto name = local_name(symbol.place.substr(0, size));
    if (!name || !locals.contains(*name)) return {};
    return "[[maybe_unused]] const std::int64_t " + symbol.name + " = frame.L.at(" + cpp_string(*name) + ")" +
           symbol.place.substr(size) + ";";
}

}  // namespace whittle::explain
