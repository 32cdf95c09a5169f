#include "ops/aten/batching.h"

#include <algorithm>
#include <span>

#include "ops/aten/families.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

bool among(std::span<const std::string_view> names, std::string_view target) {
    const std::size_t dot = target.find('.'), end = target.find('.', dot + 1);
    return target.starts_with("aten.") &&
           std::ranges::find(names, target.substr(dot + 1, end - dot - 1)) != names.end();
}

/// Of families of ops that are element by element, but one.
bool is_pointwise(const OpDef& def) {
    if (def.schema.starts_with("masked_scatter(")) return false;
    for (const std::span<const OpDef> family : {unary_ops(), activation_ops(), arithmetic_ops(), division_ops(),
                                                power_ops(), special_ops(), compare_ops(), select_ops(), ternary_ops()})
        if (std::ranges::any_of(family, [&](const OpDef& member) { return &member == &def; })) return true;
    return false;
}

}  // namespace

Batching batching_of(std::string_view target) {
    static constexpr std::string_view kMoves[] = {"_to_copy", "alias",      "clone",           "contiguous", "detach",
                                                  "detach_",  "lift_fresh", "lift_fresh_copy", "to"};
    static constexpr std::string_view kCreates[] = {"new_empty", "new_full", "new_ones", "new_zeros"};
    static constexpr std::string_view kIndexes[] = {"_unsafe_index", "index"};
    if (among(kMoves, target)) return Batching::elements;
    if (among(kCreates, target)) return Batching::creates;
    if (among(kIndexes, target)) return Batching::indexes;
    const Registry& registry = Registry::instance();
    const RegisteredOp* op = registry.op(target);
    if (op && !op->same_as.empty()) op = registry.op(op->same_as);
    return op && is_pointwise(*op->def) ? Batching::elements : Batching::unknown;
}

}  // namespace whittle
