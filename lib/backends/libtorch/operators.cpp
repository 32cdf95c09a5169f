#include "backends/libtorch/operators.h"

#include <ATen/core/jit_type.h>

#include "ops/aten/earlier.h"

namespace whittle::aten {

std::optional<c10::OperatorHandle> find_operator(std::string_view target) {
    // NAMESPACE.NAME.OVERLOAD, or without an overload NAMESPACE.NAME.
    const std::size_t first = target.find('.'), last = target.rfind('.');
    if (first == std::string_view::npos) return std::nullopt;
    std::string overload(last == first ? "" : target.substr(last + 1));
    if (overload == "default") overload.clear();
    const std::size_t end = last == first ? target.size() : last;
    const auto found = c10::Dispatcher::singleton().findSchema(
        {std::string(target.substr(0, first)) + "::" + std::string(target.substr(first + 1, end - first - 1)),
         overload});
    if (!found) return std::nullopt;
    return *found;
}

Node spelled(const Node& call) { return find_operator(call.target) ? call : with_earlier_target(call); }

std::vector<const Arg*> bind(const Node& call, const c10::FunctionSchema& schema) {
    const std::vector<c10::Argument>& parameters = schema.arguments();
    std::vector<const Arg*> bound(parameters.size());
    if (call.args.size() > parameters.size())
        throw Error("found " + std::to_string(call.args.size()) + " arguments for LibTorch's " + call.target +
                    ", expected at most " + std::to_string(parameters.size()));
    for (std::size_t i = 0; i < call.args.size(); ++i) bound[i] = &call.args[i];
    for (const auto& [key, arg] : call.kwargs) {
        const c10::optional<int> position = schema.argumentIndexWithName(key);
        if (!position)
            throw Error("found an argument '" + key + "', which LibTorch's " + call.target + " does not have");
        bound[static_cast<std::size_t>(*position)] = &arg;
    }
    return bound;
}

c10::IValue default_of(const Node& call, const c10::Argument& parameter) {
    const bool optional = parameter.real_type()->kind() == c10::TypeKind::OptionalType;
    if (!parameter.default_value() && !optional)
        throw Error("found no argument '" + parameter.name() + "', which LibTorch's " + call.target + " requires");
    return parameter.default_value().value_or(c10::IValue());
}

}  // namespace whittle::aten
