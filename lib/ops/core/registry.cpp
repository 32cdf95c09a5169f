#include "ops/core/registry.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/words.h"
#include "ops/core/custom.h"
#include "ops/core/schema_forms.h"

namespace whittle {
namespace {

/// "aten.relu.default" -> "relu": what misspellings of the overload or the dialect have in common.
std::string_view middle(std::string_view target) {
    const std::size_t first = target.find('.');
    if (first == std::string_view::npos) return target;
    target.remove_prefix(first + 1);
    return target.substr(0, target.find('.'));
}

std::string close_spellings(std::span<const RegisteredOp> ops, std::string_view target) {
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const RegisteredOp& op : ops) {
        const std::size_t whole = edit_distance(op.name, target);
        const bool same_middle = middle(op.name) == middle(target);
        const bool close = whole <= 2 || whole * 5 <= target.size();
        if (same_middle || close) ranked.emplace_back(same_middle ? 0 : whole, op.name);
    }
    std::sort(ranked.begin(), ranked.end());
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), 5); ++i)
        text += (i == 0 ? "did you mean " : ", ") + std::string(ranked[i].second);
    return text.empty() ? text : text + "?";
}

}  // namespace

std::string target_of(std::string_view dialect, const std::string& name) {
    const bool overload = dialect != "aten" || name.find('.') != std::string::npos;
    return std::string(dialect) + "." + name + (overload ? "" : ".default");
}

bool RegisteredOp::replaces_operand() const {
    const std::size_t dot = name.rfind('.');
    return !same_as.empty() && dot != std::string::npos && name[dot - 1] == '_' &&
           !schema.returns.front().alias.empty();
}

Registry::Registry() {
    for (const OpFamily& family : op_families())
        for (const OpDef& def : family.ops)
            for (std::string& text : schema_forms(def.schema)) {
                Schema schema = Schema::parse(text);
                std::string name = target_of(family.dialect, schema.name);
                ops_.push_back({&def, std::move(schema), std::move(text), std::move(name)});
            }
    std::ranges::move(derived_ops(ops_, derived_records_), std::back_inserter(ops_));
    std::ranges::sort(ops_, {}, &RegisteredOp::name);
    by_name_.reserve(ops_.size());
    for (const RegisteredOp& op : ops_)
        WHITTLE_CHECK(by_name_.emplace(op.name, &op).second, "op " + std::string(op.name) + " is registered twice");
    for (const auto& [name, layout] : op_layouts()) {
        const auto found = std::ranges::find(ops_, name, [](const RegisteredOp& op) { return op.name; });
        WHITTLE_CHECK(found != ops_.end() && !found->layout, "op " + name + " is missing or has two layouts");
        found->layout = layout;
    }
}

const Registry& Registry::instance() {
    static const Registry registry;
    return registry;
}

const RegisteredOp* Registry::op(std::string_view target) const {
    const auto found = by_name_.find(target);
    return found == by_name_.end() ? custom_op(target) : found->second;
}

const Schema* Registry::find(std::string_view target) const {
    if (const RegisteredOp* found = op(target)) return &found->schema;
    const InPlaceForm* form = in_place(target);
    return form ? &form->schema : nullptr;
}

const InPlaceForm* Registry::in_place(std::string_view target) const {
    // In-place names end in '_': nothing else is worth deriving the forms for.
    if (const std::size_t dot = target.rfind('.'); dot == std::string_view::npos || dot == 0 || target[dot - 1] != '_')
        return nullptr;
    std::call_once(derived_, [&] { in_place_ = in_place_forms(ops_); });
    const auto found = in_place_.find(target);
    return found == in_place_.end() ? nullptr : &found->second;
}

const RegisteredOp& Registry::require(std::string_view target) const {
    if (const RegisteredOp* found = op(target)) return *found;
    std::string hint = close_spellings(ops_, target);
    const std::string_view dialect = target.substr(0, target.find('.') + 1);
    if (hint.empty() &&
        std::ranges::none_of(ops_, [&](const RegisteredOp& op) { return op.name.starts_with(dialect); }))
        hint = "if a library registers the op with LibTorch, name the library: --op-library FILE";
    throw Error("unknown op '" + std::string(target) + "'", hint);
}

}  // namespace whittle
