#include "repro/schedule/expressions.h"

#include <algorithm>
#include <cctype>

#include "base/words.h"

namespace whittle::repro {

using expr::Code;
using expr::Strength;
using halide_program::Node;
using halide_program::Nodes;

namespace {

/// Digits at the end: 8 of "uint8".
std::string bits_of(const std::string& type) { return type.substr(type.find_first_of("0123456789")); }

struct Infix {
    std::string_view symbol;
    Strength strength;
};
const Infix* infix_of(const std::string& op) {
    static const std::map<std::string_view, Infix> kInfix = {
        {"add", {"+", Strength::sum}},           {"sub", {"-", Strength::sum}},
        {"mul", {"*", Strength::product}},       {"div", {"/", Strength::product}},
        {"mod", {"%", Strength::product}},       {"eq", {"==", Strength::equality}},
        {"ne", {"!=", Strength::equality}},      {"lt", {"<", Strength::relation}},
        {"le", {"<=", Strength::relation}},      {"gt", {">", Strength::relation}},
        {"ge", {">=", Strength::relation}},      {"and", {"&&", Strength::both}},
        {"or", {"||", Strength::either}},        {"bitwise_and", {"&", Strength::bits}},
        {"bitwise_or", {"|", Strength::bits}},   {"bitwise_xor", {"^", Strength::bits}},
        {"shift_left", {"<<", Strength::shift}}, {"shift_right", {">>", Strength::shift}}};
    const auto found = kInfix.find(op);
    return found == kInfix.end() ? nullptr : &found->second;
}

/// Functions of Halide's that make a call of their own name.
bool is_plain_function(const std::string& name) {
    static const std::set<std::string, std::less<>> kPlain = {"abs",
                                                              "absd",
                                                              "likely",
                                                              "likely_if_innermost",
                                                              "lerp",
                                                              "popcount",
                                                              "count_leading_zeros",
                                                              "count_trailing_zeros",
                                                              "div_round_to_zero",
                                                              "mod_round_to_zero",
                                                              "unsafe_promise_clamped",
                                                              "strict_float"};
    return kPlain.contains(name);
}

/// "sqrt" of "sqrt_f32"; empty: Halide has no function for it.
std::string math_function(const std::string& name) {
    static const std::set<std::string, std::less<>> kMath = {
        "sqrt",  "sin", "cos", "tan", "asin",  "acos", "atan",  "sinh",  "cosh",   "tanh",   "asinh",     "acosh",
        "atanh", "exp", "log", "pow", "floor", "ceil", "round", "trunc", "is_nan", "is_inf", "is_finite", "atan2"};
    const std::size_t suffix = name.rfind("_f");
    const std::string stem = name.substr(0, suffix);
    return suffix != std::string::npos && kMath.contains(stem) ? stem : "";
}

bool is_number(const Node& node) { return node.op == "integer" || node.op == "float"; }

bool in_int(const std::string& value) { return value.size() < 10; }

Code number(const Node& node) {
    if (node.op == "float") {
        const DType dtype = node.type == "float64" ? DType::f64 : DType::f32;
        const Code text = expr::literal(dtype, Scalar(std::stod(node.value)));
        if (node.type == "float32") return text;
        return node.type == "float64" ? Code{"Expr(" + text.text + ")"}
                                      : Code{"cast<" + cpp_type(node.type) + ">(" + text.text + ")"};
    }
    if (node.type == "int32") return expr::literal(DType::i32, Scalar(std::int64_t(std::stoll(node.value))));
    const std::string type = cpp_type(node.type);
    if (in_int(node.value)) return {"cast<" + type + ">(" + node.value + ")"};
    const bool is_signed = node.type[0] == 'i';
    return {"Expr(" + type + "(" + (node.value == "-9223372036854775808" ? "INT64_MIN" : node.value) +
            (is_signed ? "" : "u") + "))"};
}

}  // namespace

std::string cpp_type(const std::string& type) {
    if (type == "uint1" || type == "bool") return "bool";
    if (type == "int32") return "int";
    if (type == "float32") return "float";
    if (type == "float64") return "double";
    return type + "_t";  // bfloat16_t and float16_t are Halide's
}

std::string halide_type(const std::string& type) {
    if (type == "uint1" || type == "bool") return "Bool()";
    const std::string kind = type.starts_with("bfloat") ? "BFloat"
                             : type[0] == 'u'           ? "UInt"
                             : type[0] == 'i'           ? "Int"
                                                        : "Float";
    return kind + "(" + bits_of(type) + ")";
}

bool is_float(const std::string& type) { return type.find("float") != std::string::npos; }

ProgramNames::ProgramNames() {
    for (const char* const taken :
         {"main",   "run",   "argc", "got",    "expected", "wrong",       "at",       "scheduled", "with_culprit",
          "select", "min",   "max",  "cast",   "abs",      "absd",        "lerp",     "likely",    "popcount",
          "sqrt",   "sin",   "cos",  "tan",    "exp",      "log",         "pow",      "floor",     "ceil",
          "round",  "trunc", "tanh", "printf", "undef",    "reinterpret", "Internal", "Expr",      "Func",
          "Var",    "RVar",  "RDom", "Buffer", "Param",    "ImageParam",  "Tuple",    "Stage",     "Target"})
        unique_.unique(taken);
}

std::string ProgramNames::of(const std::string& kind, const std::string& name) {
    std::string& given = given_[kind + " " + name];
    if (!given.empty()) return given;
    std::string wanted;
    for (const char c : name) wanted += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    const std::size_t first = wanted.find_first_not_of("_0123456789");
    wanted = first == std::string::npos ? "v" + wanted.substr(std::min(wanted.find_first_not_of('_'), wanted.size()))
                                        : wanted.substr(first);
    while (wanted.ends_with('_')) wanted.pop_back();
    if (language::short_cpp.is_keyword(wanted)) wanted += "_0";
    return given = unique_.unique(wanted);
}

std::string Expressions::declared(std::vector<std::string>& list, const std::string& kind, const std::string& name) {
    const std::string text = names_.of(kind, name);
    add_once(list, text);
    return text;
}

std::string Expressions::loop(const std::string& name, bool reduction, const DomainTexts& domain) {
    if (const auto found = domain.find(name); found != domain.end()) return found->second;
    if (name == "__outermost") return "Var::outermost()";
    return reduction ? declared(reduction_variables_, "reduction variable", name)
                     : declared(variables_, "variable", name);
}

Code Expressions::typed(const Nodes& nodes, int node, const DomainTexts& domain) {
    const Node& one = nodes.at(static_cast<std::size_t>(node));
    const Code code = this->code(nodes, node, domain);
    const bool plain = is_number(one) && (one.type == "int32" || one.type == "float32");
    return plain || one.op == "bound" ? Code{"Expr(" + code.text + ")"} : code;
}

std::string Expressions::list(const Nodes& nodes, const std::vector<int>& all, const DomainTexts& domain) {
    return join(all, [&](int node) { return code(nodes, node, domain).text; });
}

Code Expressions::infix(const Nodes& nodes, const Node& node, const DomainTexts& domain, const std::string& symbol,
                        Strength strength) {
    const Node &left = nodes.at(static_cast<std::size_t>(node.of.at(0))),
               &right = nodes.at(static_cast<std::size_t>(node.of.at(1)));
    // A number beside an expression gets the type of that.
    const auto operand = [&](const Node& own, int number, const Node& other) {
        const bool shift = symbol == "<<" || symbol == ">>";
        if (own.op == "integer" && in_int(own.value) && !is_number(other) && own.type == other.type && !shift &&
            own.type != "uint1")
            return expr::literal(DType::i32, Scalar(std::int64_t(std::stoll(own.value))));
        return is_number(other) || shift ? typed(nodes, number, domain) : code(nodes, number, domain);
    };
    const Code a = operand(left, node.of[0], right), b = operand(right, node.of[1], left);
    // As -Wparentheses wants it.
    static const std::map<Strength, std::pair<Strength, Strength>> kOperands = {
        {Strength::either, {Strength::equality, Strength::equality}},
        {Strength::both, {Strength::both, Strength::equality}},
        {Strength::bits, {Strength::prefix, Strength::prefix}},
        {Strength::equality, {Strength::shift, Strength::shift}},
        {Strength::relation, {Strength::shift, Strength::shift}},
        {Strength::shift, {Strength::prefix, Strength::prefix}},
        {Strength::sum, {Strength::sum, Strength::product}},
        {Strength::product, {Strength::product, Strength::prefix}}};
    const auto& [first, second] = kOperands.at(strength);
    return {a.at(first) + " " + symbol + " " + b.at(second), strength};
}

Code Expressions::call(const Nodes& nodes, const Node& node, const DomainTexts& domain) {
    if (node.kind == "func") {
        const halide_program::CapturedFunc* const func = pipeline_.func(node.name);
        const bool tuple = func && !func->definitions.empty() && func->definitions[0].values.size() > 1;
        return {names_.of("func", node.name) + "(" + list(nodes, node.of, domain) + ")" +
                (tuple ? "[" + std::to_string(node.index) + "]" : "")};
    }
    const auto typed_list = [&] { return join(node.of, [&](int one) { return typed(nodes, one, domain).text; }); };
    if (node.kind == "image") return {names_.of("input", node.name) + "(" + typed_list() + ")"};
    if (const Infix* const found = infix_of(node.name); found && node.of.size() == 2)
        return infix(nodes, node, domain, std::string(found->symbol), found->strength);
    if (node.name == "bitwise_not")
        return {"~" + typed(nodes, node.of.at(0), domain).at(Strength::prefix), Code::prefix};
    if (node.name == "undef") return {"undef(" + halide_type(node.type) + ")"};
    if (node.name == "reinterpret")
        return {"reinterpret(" + halide_type(node.type) + ", " + typed(nodes, node.of.at(0), domain).text + ")"};
    if (is_plain_function(node.name)) return {node.name + "(" + typed_list() + ")"};
    if (const std::string function = math_function(node.name); !function.empty())
        return {function + "(" + typed_list() + ")"};
    return {"Internal::Call::make(" + halide_type(node.type) + ", \"" + node.name + "\", {" + typed_list() +
            "}, Internal::Call::" + node.kind + ")"};
}

Code Expressions::code(const Nodes& nodes, int number_of_node, const DomainTexts& domain) {
    const Node& node = nodes.at(static_cast<std::size_t>(number_of_node));
    if (is_number(node)) return number(node);
    if (node.op == "string") return {"Expr(" + language::short_cpp.quoted(node.value) + ")"};
    if (node.op == "variable") return {loop(node.name, false, domain)};
    if (node.op == "reduction variable") return {loop(node.name, true, domain)};
    if (node.op == "parameter") return {names_.of("input", node.name)};
    if (node.op == "bound") {  // "min.0"
        const std::size_t point = node.value.find('.');
        return {names_.of("input", node.name) + ".dim(" + node.value.substr(point + 1) + ")." +
                node.value.substr(0, point) + "()"};
    }
    if (node.op == "cast")
        return {"cast<" + cpp_type(node.type) + ">(" + code(nodes, node.of.at(0), domain).text + ")"};
    if (node.op == "not") return {"!" + typed(nodes, node.of.at(0), domain).at(Strength::prefix), Code::prefix};
    if (node.op == "call") return call(nodes, node, domain);
    if (const Infix* const found = infix_of(node.op))
        return infix(nodes, node, domain, std::string(found->symbol), found->strength);
    // min, max, select: a number alone would be one of C++.
    return {node.op + "(" + join(node.of, [&](int one) { return typed(nodes, one, domain).text; }) + ")"};
}

}  // namespace whittle::repro
