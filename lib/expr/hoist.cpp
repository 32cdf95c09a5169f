#include "expr/hoist.h"

#include <algorithm>
#include <set>

#include "expr/parts.h"
#include "tensor/shape.h"

namespace whittle::expr {
namespace {

/// Stored whole, not an output, and made of constant inputs and others of its kind only; at least one input.
std::set<std::string> constant_stages(const Group& group, const Schedule& schedule) {
    std::set<std::string> stored, found;
    for (const Directive* directive : active(schedule))
        if (directive->kind == Directive::Kind::compute_root) stored.insert(directive->stage);
    for (const Stage& stage : group.stages) {
        const std::set<std::string> loaded = loaded_by(stage);
        const bool constant = std::ranges::all_of(loaded, [&](const std::string& name) {
            const Input* input = group.input(name);
            return input ? input->constant : found.contains(name);
        });
        if (constant && !loaded.empty() && stored.contains(stage.name) &&
            std::ranges::find(group.outputs, stage.name) == group.outputs.end())
            found.insert(stage.name);
    }
    return found;
}

/// The directives of the stages that are kept, those that were required renumbered; what required another is dropped
/// with it if that was off.
template <class Keep>
Schedule part(const Schedule& schedule, const Keep& keep) {
    const std::vector<const Directive*> on = active(schedule);
    std::vector<int> position(schedule.size(), -1);
    Schedule result;
    for (std::size_t i = 0; i < schedule.size(); i++) {
        if (!keep(schedule[i]) || std::ranges::find(on, &schedule[i]) == on.end()) continue;
        Directive directive = schedule[i];
        std::erase_if(directive.requires_, [&](int r) { return position[static_cast<std::size_t>(r)] < 0; });
        for (int& r : directive.requires_) r = position[static_cast<std::size_t>(r)];
        position[i] = static_cast<int>(result.size());
        result.push_back(std::move(directive));
    }
    return result;
}

void drop_unread_inputs(Group& group) {
    const std::set<std::string> wanted = needed(group);
    std::erase_if(group.inputs, [&](const Input& input) { return !wanted.contains(input.name); });
}

}  // namespace

std::optional<Hoisted> hoist(const Group& group, const Schedule& schedule) {
    const std::set<std::string> constant = constant_stages(group, schedule);
    if (constant.empty()) return std::nullopt;
    Hoisted result{.once = group, .once_schedule = {}, .rest = group, .rest_schedule = {}};
    std::erase_if(result.once.stages, [&](const Stage& stage) { return !constant.contains(stage.name); });
    std::erase_if(result.rest.stages, [&](const Stage& stage) { return constant.contains(stage.name); });
    std::set<std::string> read;
    for (const Stage& stage : result.rest.stages) read.merge(loaded_by(stage));
    result.once.outputs.clear();
    for (const Stage& stage : result.once.stages) {
        if (!read.contains(stage.name)) continue;
        result.once.outputs.push_back(stage.name);
        const Sizes sizes = stage.sizes();
        result.rest.inputs.push_back({.name = stage.name,
                                      .dtype = stage.dtype,
                                      .sizes = sizes,
                                      .strides = contiguous_strides(sizes),
                                      .constant = true});
    }
    drop_unread_inputs(result.once);
    drop_unread_inputs(result.rest);
    const auto is_output = [&](const std::string& stage) {
        return std::ranges::find(result.once.outputs, stage) != result.once.outputs.end();
    };
    result.once_schedule = part(schedule, [&](const Directive& d) {
        return constant.contains(d.stage) && !(d.kind == Directive::Kind::compute_root && is_output(d.stage));
    });
    result.rest_schedule = part(schedule, [&](const Directive& d) { return !constant.contains(d.stage); });
    return result;
}

}  // namespace whittle::expr
