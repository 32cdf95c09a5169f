// Arguments of directives as JSON, from which a C++ program can be written again.
#pragma once

#include "frontends/halide/capture/captured.h"
#include "frontends/halide/capture/text.h"

namespace whittle::halide_capture {

inline std::string named_json(const std::string& kind, const std::string& name) {
    return "{\"kind\": " + quote(kind) + ", \"name\": " + quote(name) + "}";
}
inline std::string list_json(const std::vector<std::string>& entries) {
    return "{\"kind\": \"list\", \"entries\": " + json_list(entries) + "}";
}

/// What is neither a variable nor an expression is written as its text.
template <class Value>
std::string argument_json(const Value& value) {
    return named_json("text", text_of(value));
}

inline std::string argument_json(const Halide::VarOrRVar& variable) {
    return named_json(variable.is_rvar ? "reduction variable" : "variable", variable.name());
}
inline std::string argument_json(const Halide::Var& variable) { return argument_json(Halide::VarOrRVar(variable)); }
inline std::string argument_json(const Halide::RVar& variable) { return argument_json(Halide::VarOrRVar(variable)); }
inline std::string argument_json(const Halide::Expr& expression) {
    NodeTable table;
    const int number = table.number_of(expression);
    return "{\"kind\": \"expression\", \"nodes\": " + table.json() + ", \"node\": " + std::to_string(number) + "}";
}
inline std::string argument_json(const Halide::Func& func) { return named_json("func", func.name()); }
inline std::string argument_json(const Halide::Stage& stage) { return named_json("stage", stage.name()); }
inline std::string argument_json(const Halide::Range& range) {
    return list_json({argument_json(range.min), argument_json(range.extent)});
}
template <class First, class Second>
std::string argument_json(const std::pair<First, Second>& pair) {
    return list_json({argument_json(pair.first), argument_json(pair.second)});
}
template <class Value>
std::string argument_json(const std::vector<Value>& values) {
    std::vector<std::string> entries;
    for (const Value& value : values) entries.push_back(argument_json(value));
    return list_json(entries);
}

}  // namespace whittle::halide_capture
