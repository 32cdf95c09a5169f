// How the arguments of a call fit a schema.
#include <algorithm>

#include "base/error.h"
#include "graph/schema.h"

namespace whittle {
namespace {

/// What an argument is, in the schema's words.
std::string describe_arg(const Arg& arg) {
    if (arg.is_none()) return "None";
    if (arg.node()) return "Tensor";
    if (std::holds_alternative<std::int64_t>(arg.value)) return "int";
    if (std::holds_alternative<double>(arg.value)) return "float";
    if (std::holds_alternative<bool>(arg.value)) return "bool";
    if (std::holds_alternative<std::string>(arg.value)) return "str";
    if (std::holds_alternative<DType>(arg.value)) return "ScalarType";
    if (std::holds_alternative<GraphRef>(arg.value)) return "Graph";
    const ArgList& list = *arg.list();
    if (list.empty()) return "[]";
    return "list of " + describe_arg(list[0]);
}

/// The argument as the parameter's element type takes it, if it does: integers widen to float.
std::optional<Arg> as_element(const Arg& arg, ParamType type, bool optional) {
    const bool integer = std::holds_alternative<std::int64_t>(arg.value);
    const bool real = std::holds_alternative<double>(arg.value);
    const bool boolean = std::holds_alternative<bool>(arg.value);
    const auto fits = [&] {
        if (type == ParamType::tensor_list) return arg.node() || (optional && arg.is_none());
        switch (element_of(type)) {
            case ParamType::tensor:
                return arg.node() || integer || real || boolean;
            case ParamType::integer:
                return integer;
            case ParamType::number:
                return integer || real;
            case ParamType::boolean:
                return boolean;
            case ParamType::scalar:
                return integer || real || boolean;
            case ParamType::text:
                return std::holds_alternative<std::string>(arg.value);
            case ParamType::dtype:
                return std::holds_alternative<DType>(arg.value);
            case ParamType::graph:
                return std::holds_alternative<GraphRef>(arg.value);
            default:
                return false;
        }
    };
    if (!fits()) return std::nullopt;
    if (integer && element_of(type) == ParamType::number)
        return Arg(static_cast<double>(std::get<std::int64_t>(arg.value)));
    return arg;
}

/// The argument as the parameter takes it, if it does.
std::optional<Arg> as_param(const Arg& arg, const Param& param) {
    if (arg.is_none()) return param.optional ? std::optional<Arg>(arg) : std::nullopt;
    if (!is_list(param.type)) return as_element(arg, param.type, false);
    const ArgList* list = arg.list();
    if (!list) {  // "int[2]" takes one number for two equal ones
        const std::optional<Arg> element = param.length > 0 ? as_element(arg, param.type, false) : std::optional<Arg>();
        if (!element) return std::nullopt;
        return ArgList(static_cast<std::size_t>(param.length), *element);
    }
    ArgList converted;
    converted.reserve(list->size());
    for (const Arg& element : *list) {
        std::optional<Arg> value = as_element(element, param.type, param.optional);
        if (!value) return std::nullopt;
        converted.push_back(std::move(*value));
    }
    return converted;
}

/// "add.Tensor(Tensor self, Tensor other, *, Scalar alpha)".
std::string signature_text(const Schema& schema) {
    std::string text = schema.name + "(";
    bool keyword_only = false;
    for (const Param& param : schema.params) {
        if (text.back() != '(') text += ", ";
        if (param.keyword_only && !keyword_only) text += "*, ";
        keyword_only = param.keyword_only;
        text += type_name(param) + " " + param.name;
    }
    return text + ")";
}

[[noreturn]] void misfit(const Node& call, const std::string& message, const Schema& schema) {
    throw Error({"", call.name.empty() ? "" : "%" + call.name}, call.target + ": " + message,
                "follow the schema " + signature_text(schema));
}

}  // namespace

ArgList bind_arguments(const Schema& schema, const Node& call) {
    const auto bind = [&](const Param& param, const Arg& arg) {
        std::optional<Arg> value = as_param(arg, param);
        if (!value)
            misfit(call, "parameter " + param.name + ": found " + describe_arg(arg) + ", expected " + type_name(param),
                   schema);
        return std::move(*value);
    };
    const auto positional = static_cast<std::size_t>(
        std::ranges::count_if(schema.params, [](const Param& param) { return !param.keyword_only; }));
    if (call.args.size() > positional)
        misfit(call,
               "found " + std::to_string(call.args.size()) + " positional arguments, expected at most " +
                   std::to_string(positional),
               schema);
    for (std::size_t i = 0; i < call.kwargs.size(); ++i) {
        const std::string& key = call.kwargs[i].first;
        const Param* param = schema.param(key);
        if (!param) misfit(call, "found the unknown argument " + key, schema);
        const bool again = std::any_of(call.kwargs.begin(), call.kwargs.begin() + static_cast<std::ptrdiff_t>(i),
                                       [&](const auto& earlier) { return earlier.first == key; });
        if (again || static_cast<std::size_t>(param - schema.params.data()) < call.args.size())
            misfit(call, "found the argument " + key + " twice", schema);
    }
    ArgList result;
    result.reserve(schema.params.size());
    for (std::size_t i = 0; i < schema.params.size(); ++i) {
        const Param& param = schema.params[i];
        const Arg* const given = i < call.args.size() ? &call.args[i] : call.kwarg(param.name);
        if (!given && !param.default_value)
            misfit(call, "parameter " + param.name + ": found nothing, expected " + type_name(param), schema);
        result.push_back(given ? bind(param, *given) : *param.default_value);
    }
    return result;
}

}  // namespace whittle
