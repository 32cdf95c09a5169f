#include "ops/core/other_names.h"

#include <algorithm>

#include "base/error.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// Whether the result of the other op is a view, and this one's a copy of it.
bool copies(const Schema& schema, const Schema& other) {
    return schema.returns.front().alias.empty() && !other.returns.front().alias.empty();
}

/// The one call. Parameters that the op lacks have their defaults; results that it lacks are not used.
CallResults decompose_derived(const Call& call) {
    const Registry& registry = Registry::instance();
    const RegisteredOp& other = registry.require(registry.require(target_of("aten", call.schema().name)).same_as);
    const Node given{.args = call.bound()};
    ArgList args = map_inputs(given, [&](NodeRef ref) { return Arg(call.value(ref)); }).args;
    for (std::size_t i = args.size(); i < other.schema.params.size(); ++i)
        args.push_back(other.schema.params[i].default_value.value_or(Arg()));
    Vs results = other.schema.returns.size() == 1 && !other.schema.returns.front().list
                     ? Vs{whittle::call(call.builder(), other.name, std::move(args))}
                     : call_multi(call.builder(), other.name, std::move(args));
    if (!call.schema().returns.front().list) results.resize(call.schema().returns.size());
    if (copies(call.schema(), other.schema))
        for (V& result : results)
            result = call.builder().call("aten.clone.default", {result}, {{"memory_format", Arg("contiguous_format")}});
    return results;
}

/// The other op's schema by this name. Copies of views are called so.
std::string schema_by_name(const OtherName& row, std::string_view schema) {
    std::string text = std::string(row.name) + std::string(schema.substr(row.of.size()));
    if (!row.name.ends_with("_copy")) return text;
    for (const std::string_view alias : {"(a -> *)", "(a)"})
        for (std::size_t at; (at = text.find(alias)) != std::string::npos;) text.erase(at, alias.size());
    return text;
}

bool same_parameters(const Schema& a, const Schema& b) {
    return std::ranges::equal(a.params, b.params, {}, &Param::name, &Param::name);
}

RegisteredOp derived(const std::string& schema, const RegisteredOp& of, std::deque<DerivedRecord>& records) {
    DerivedRecord& record = records.emplace_back();
    record.schema = schema;
    RegisteredOp op{&record.def, Schema::parse(record.schema), record.schema, {}};
    op.name = target_of("aten", op.schema.name);
    op.same_as = of.name;
    WHITTLE_CHECK(op.schema.params.size() <= of.schema.params.size(), op.name + " takes more than " + of.name);
    record.def = {.doc = of.def->doc,
                  .schema = record.schema,
                  .dtypes = of.def->dtypes,
                  .decompose = decompose_derived,
                  .random = of.def->random};
    if (same_parameters(op.schema, of.schema)) record.def.open = of.def->open;
    return op;
}

}  // namespace

std::vector<RegisteredOp> derived_ops(std::span<const RegisteredOp> ops, std::deque<DerivedRecord>& records) {
    std::vector<RegisteredOp> result;
    for (const OtherName& row : other_names()) {
        const bool one = row.name.find('(') != std::string_view::npos;
        const std::string target = one ? target_of("aten", std::string(row.of)) : "aten." + std::string(row.of) + ".";
        for (const RegisteredOp& op : ops) {
            if (one ? op.name != target : !op.name.starts_with(target)) continue;
            result.push_back(derived(one ? std::string(row.name) : schema_by_name(row, op.text), op, records));
        }
    }
    return result;
}

}  // namespace whittle
