#include "frontends/libtorch/modules.h"

#include <algorithm>
#include <map>
#include <set>

namespace whittle::libtorch {
namespace {

using Candidates = std::vector<std::size_t>;  ///< positions in EventFile::modules, ascending

/// A function X::forward on a stack.
struct Call {
    std::string type;
    std::vector<std::uint64_t> from;  ///< the return addresses outside it
    bool operator==(const Call&) const = default;
};

/// One execution of X::forward, as far as stacks tell.
struct Execution {
    std::vector<std::int32_t> steps;
    Candidates candidates;
    bool weights = false;  ///< steps read parameters of a candidate
};

bool is_within(const std::string& path, const std::string& module) {
    return module.empty() || path == module || path.starts_with(module + ".");
}

class ModuleFinder {
  public:
    ModuleFinder(const EventFile& file, const std::vector<Step>& steps, const Values& values, Symbolizer& symbolizer)
        : file_(file), steps_(steps), values_(values), symbolizer_(symbolizer), innermost_(steps.size(), -1) {
        for (std::size_t i = 0; i < file.modules.size(); ++i) types_[file.modules[i].type].push_back(i);
    }

    std::vector<std::string> find() {
        for (const ModuleName& module : file_.modules) by_module_[module.module] = &module;
        std::map<std::uint32_t, std::vector<std::pair<const Call*, std::size_t>>> running;  // per thread
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if (steps_[i].kind != StepKind::op) continue;
            auto& before = running[steps_[i].thread];
            std::vector<std::pair<const Call*, std::size_t>> now;
            for (const Call& call : calls(steps_[i].stack)) {
                const auto same = std::ranges::find_if(before, [&](const auto& entry) { return *entry.first == call; });
                const std::size_t execution = same != before.end() ? same->second : open(call);
                now.emplace_back(&call, add(execution, static_cast<std::int32_t>(i)));
            }
            before = std::move(now);
        }
        place_between_neighbours();
        std::vector<std::string> paths(steps_.size());
        for (std::size_t i = 0; i < steps_.size(); ++i) paths[i] = path_of(static_cast<std::int32_t>(i));
        return paths;
    }

  private:
    /// Calls of forward on a stack, outermost first.
    const std::vector<Call>& calls(std::uint32_t stack) {
        const auto [entry, fresh] = calls_.try_emplace(stack);
        const auto pcs = file_.stacks.find(stack);
        if (!fresh || pcs == file_.stacks.end()) return entry->second;
        constexpr std::string_view kForward = "::forward";
        for (std::size_t i = pcs->second.size(); i-- > 0;) {
            const std::vector<CodePlace>& places = symbolizer_.places(pcs->second[i]);
            for (auto place = places.rbegin(); place != places.rend(); ++place) {
                if (!place->function.ends_with(kForward)) continue;
                const std::string type = place->function.substr(0, place->function.size() - kForward.size());
                if (!types_.contains(type)) continue;
                entry->second.push_back(
                    {type, {pcs->second.begin() + static_cast<std::ptrdiff_t>(i) + 1, pcs->second.end()}});
            }
        }
        return entry->second;
    }

    std::size_t open(const Call& call) {
        executions_.push_back({{}, types_.at(call.type)});
        return executions_.size() - 1;
    }

    /// The module of each parameter that the step reads.
    std::vector<const TensorName*> weights(std::int32_t step) const {
        std::vector<const TensorName*> names;
        for (const ValueId id : values_.inputs[static_cast<std::size_t>(step)])
            if (const TensorName* name = values_.values[static_cast<std::size_t>(id)].name) names.push_back(name);
        return names;
    }
    static std::string owner(const TensorName& name) {
        const auto dot = name.path.rfind('.');
        return dot == std::string::npos ? "" : name.path.substr(0, dot);
    }

    Candidates filtered(const Candidates& candidates, const std::vector<const TensorName*>& weights) const {
        Candidates left;
        for (const std::size_t i : candidates)
            if (std::ranges::all_of(weights, [&](const TensorName* name) {
                    return name->root == file_.modules[i].root && is_within(owner(*name), file_.modules[i].path);
                }))
                left.push_back(i);
        return left;
    }

    /// Adds the step to the execution, or to a new one where it reads parameters of another module: the function was
    /// called again from the same place. Then what came since its first op belongs to the new one.
    std::size_t add(std::size_t execution, std::int32_t step) {
        const std::vector<const TensorName*> read = weights(step);
        Candidates left = filtered(executions_[execution].candidates, read);
        if (left.empty()) left = executions_[execution].candidates;  // it uses what belongs to others
        const bool again = !read.empty() && executions_[execution].weights &&
                           filtered(executions_[execution].candidates, read).empty();
        if (again) {
            Execution& old = executions_[execution];
            const auto first = steps_[static_cast<std::size_t>(old.steps.front())].stack;
            const auto start = std::find_if(old.steps.rbegin(), old.steps.rend(), [&](std::int32_t i) {
                return steps_[static_cast<std::size_t>(i)].stack == first;
            });
            const auto& type = file_.modules[old.candidates.front()].type;
            Execution next{{}, filtered(types_.at(type), read)};
            if (!next.candidates.empty()) {
                if (start.base() - 1 != old.steps.begin()) {
                    next.steps.assign(start.base() - 1, old.steps.end());
                    old.steps.erase(start.base() - 1, old.steps.end());
                }
                executions_.push_back(std::move(next));
                execution = executions_.size() - 1;
                for (const std::int32_t moved : executions_[execution].steps)
                    innermost_[static_cast<std::size_t>(moved)] = static_cast<std::int64_t>(execution);
                left = executions_[execution].candidates;
            }
        }
        Execution& to = executions_[execution];
        to.weights |= !read.empty() && left.size() < types_.at(file_.modules[left.front()].type).size();
        to.candidates = std::move(left);
        to.steps.push_back(step);
        innermost_[static_cast<std::size_t>(step)] = static_cast<std::int64_t>(execution);
        return execution;
    }

    /// A module without parameters, one of several of its type: the one between its neighbours.
    void place_between_neighbours() {
        std::vector<Execution*> in_order;  // innermost ones
        std::set<std::int64_t> seen;
        for (const std::int64_t i : innermost_)
            if (i >= 0 && seen.insert(i).second) in_order.push_back(&executions_[static_cast<std::size_t>(i)]);
        for (std::size_t i = 0; i < in_order.size(); ++i) {
            Candidates& candidates = in_order[i]->candidates;
            if (candidates.size() < 2) continue;
            const auto known = [&](std::size_t at) { return in_order[at]->candidates.size() == 1; };
            std::optional<std::size_t> before, after;
            for (std::size_t at = i; at-- > 0 && !before;)
                if (known(at)) before = in_order[at]->candidates.front();
            for (std::size_t at = i + 1; at < in_order.size() && !after; ++at)
                if (known(at)) after = in_order[at]->candidates.front();
            Candidates between;
            for (const std::size_t module : candidates)
                if ((!before || module > *before) && (!after || module < *after)) between.push_back(module);
            if (between.size() == 1 && before) candidates = std::move(between);
        }
    }

    std::string path_of(std::int32_t step) {
        std::string path = source_path(steps_[static_cast<std::size_t>(step)].stack);
        const std::int64_t execution = innermost_[static_cast<std::size_t>(step)];
        if (execution >= 0 && executions_[static_cast<std::size_t>(execution)].candidates.size() == 1)
            path = file_.modules[executions_[static_cast<std::size_t>(execution)].candidates.front()].path;
        const std::vector<const TensorName*> read = weights(step);
        // Its parameters name the module best, unless they are of several: an optimizer's step.
        for (const TensorName* name : read)
            if (owner(*name) != owner(*read.front())) return path;
        if (!read.empty() && is_within(owner(*read.front()), path)) path = owner(*read.front());
        return path;
    }

    /// Of the innermost module that Python or TorchScript calls on the stack.
    std::string source_path(std::uint32_t stack) {
        if (file_.places.empty()) return {};
        const auto [entry, fresh] = source_paths_.try_emplace(stack);
        const auto pcs = file_.stacks.find(stack);
        if (!fresh || pcs == file_.stacks.end()) return entry->second;
        for (const std::uint64_t pc : pcs->second) {
            const auto module = by_module_.find(symbolizer_.places(pc).front().called_module);
            if (module == by_module_.end() || !module->first) continue;
            entry->second = module->second->path;
            break;
        }
        return entry->second;
    }

    const EventFile& file_;
    const std::vector<Step>& steps_;
    const Values& values_;
    Symbolizer& symbolizer_;
    std::map<std::uint64_t, const ModuleName*> by_module_;
    std::map<std::uint32_t, std::string> source_paths_;  ///< per stack
    std::map<std::string, Candidates> types_;
    std::map<std::uint32_t, std::vector<Call>> calls_;
    std::vector<Execution> executions_;
    std::vector<std::int64_t> innermost_;  ///< per step: the execution of its innermost forward, or -1
};

}  // namespace

std::vector<std::string> module_paths(const EventFile& file, const std::vector<Step>& steps, const Values& values,
                                      Symbolizer& symbolizer) {
    return ModuleFinder(file, steps, values, symbolizer).find();
}

}  // namespace whittle::libtorch
