#include "ops/core/value.h"

#include <algorithm>

#include "base/error.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// Whether the argument is what the parameter has without it; int[2]=1 is 1 for each of two.
bool is_default(const Param& param, const Arg& arg) {
    if (!param.default_value) return false;
    if (arg == *param.default_value) return true;
    const ArgList* list = arg.list();
    if (!list || param.length == 0 || static_cast<int>(list->size()) != param.length) return false;
    return std::ranges::all_of(*list, [&](const Arg& item) { return item == *param.default_value; });
}

/// The schema's positional arguments up to the last one that is no default, and the other ones by name.
std::pair<ArgList, GraphBuilder::Kwargs> spelled(std::string_view target, ArgList args) {
    const std::vector<Param>& params = Registry::instance().require(target).schema.params;
    WHITTLE_CHECK(args.size() == params.size(), std::string(target) + ": found " + std::to_string(args.size()) +
                                                    " arguments, expected " + std::to_string(params.size()));
    std::pair<ArgList, GraphBuilder::Kwargs> result;
    std::size_t positional = 0;
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (is_default(params[i], args[i])) continue;
        if (params[i].keyword_only)
            result.second.emplace_back(params[i].name, std::move(args[i]));
        else
            positional = i + 1;
    }
    args.resize(positional);
    result.first = std::move(args);
    return result;
}

V arithmetic(std::string_view target, const V& x, const Arg& y) { return x.builder->call(target, {x, y}); }

}  // namespace

std::vector<NodeRef> refs_of(const Vs& values) {
    std::vector<NodeRef> refs;
    for (const V& value : values) refs.push_back(value.ref);
    return refs;
}

GraphBuilder& builder_of(const Vs& values) {
    if (values.empty()) throw Error("found no tensors, expected at least one");
    return *values.front().builder;
}

Arg Call::given(std::string_view name) const {
    const std::variant<V, Scalar> value = operand(name);
    if (const V* tensor = std::get_if<V>(&value)) return *tensor;
    return Arg(std::get<Scalar>(value));
}

V call(GraphBuilder& builder, std::string_view target, ArgList args) {
    auto [positional, by_name] = spelled(target, std::move(args));
    return builder.call(target, std::move(positional), std::move(by_name));
}

Vs call_multi(GraphBuilder& builder, std::string_view target, ArgList args) {
    auto [positional, by_name] = spelled(target, std::move(args));
    return builder.call_multi(target, std::move(positional), std::move(by_name));
}

V operator+(const V& x, const Arg& y) { return arithmetic("aten.add.Tensor", x, y); }
V operator-(const V& x, const Arg& y) { return arithmetic("aten.sub.Tensor", x, y); }
V operator*(const V& x, const Arg& y) { return arithmetic("aten.mul.Tensor", x, y); }
V operator/(const V& x, const Arg& y) { return arithmetic("aten.div.Tensor", x, y); }
V operator-(const V& x) { return x.builder->call("aten.neg.default", {x}); }

}  // namespace whittle
