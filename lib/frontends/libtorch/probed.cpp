#include "frontends/libtorch/probed.h"

#include <algorithm>

#include "symbolize/text.h"

namespace whittle::libtorch {
namespace {

bool is_same(const TensorRef& a, const TensorRef& b) {
    return a.id == b.id || (a.has(kHasStorage) && b.has(kHasStorage) && same_place(a, b));
}

}  // namespace

std::optional<capture::HostValue> host_value(const EventValue& told) {
    if (const auto* flag = std::get_if<bool>(&told.value)) return *flag;
    if (const auto* integer = std::get_if<std::int64_t>(&told.value)) return *integer;
    if (const auto* real = std::get_if<double>(&told.value)) return *real;
    if (const auto* text = std::get_if<std::string>(&told.value)) return *text;
    return std::nullopt;
}

const ProbedName* ProbedCall::name_of(const TensorRef& tensor) const {
    const auto is_it = [&](const ProbedName& name) { return is_same(name.tensor, tensor); };
    const auto parameter = std::ranges::find_if(parameters, is_it);
    if (parameter != parameters.end()) return &*parameter;
    const auto variable = std::find_if(variables.rbegin(), variables.rend(), is_it);
    return variable == variables.rend() ? nullptr : &*variable;
}

bool ProbedCall::is_variable(const TensorRef& tensor) const {
    const auto is_it = [&](const ProbedName& name) { return name.tensor.id == tensor.id; };
    return std::ranges::any_of(variables, is_it) || std::ranges::any_of(parameters, is_it);
}

ProbedCalls::ProbedCalls(const EventFile& file) {
    for (const Event& event : file.events) {
        auto& moments = innermost_[event.thread];
        const std::int32_t innermost = moments.empty() ? -1 : moments.back().second;
        if (event.kind == RecordKind::probe_enter) {
            moments.emplace_back(event.order, static_cast<std::int32_t>(calls_.size()));
            calls_.push_back({.function = event.text, .caller = innermost});
        } else if (innermost < 0) {
            continue;
        } else if (event.kind == RecordKind::probe_leave) {
            ProbedCall& call = calls_[static_cast<std::size_t>(innermost)];
            call.left = event.order;
            moments.emplace_back(event.order, call.caller);
        } else if (event.kind == RecordKind::probe_name) {
            const TensorRef* tensor = event.values.empty() ? nullptr : event.values.front().tensor();
            if (!tensor) continue;
            ProbedCall& call = calls_[static_cast<std::size_t>(innermost)];
            (event.depth ? call.parameters : call.variables).push_back({event.text, event.sequence, *tensor});
        } else if (event.kind == RecordKind::probe_value) {
            if (const auto value = host_value(event.values.front()))
                calls_[static_cast<std::size_t>(innermost)].values.emplace_back(event.text, *value);
        } else if (event.kind == RecordKind::probe_branch) {
            const std::string* file = std::get_if<std::string>(&event.values.front().value);
            ways_.push_back({.order = event.order,
                             .call = innermost,
                             .place = {.file = file ? *file : "",
                                       .line = static_cast<int>(event.line),
                                       .column = static_cast<int>(event.column),
                                       .function = calls_[static_cast<std::size_t>(innermost)].function,
                                       .text = event.text},
                             .outcome = event.sequence,
                             .selects = event.selects});
        }
    }
}

std::vector<capture::Guard> ProbedCalls::value_guards(const ProbedCall& call) {
    std::vector<capture::Guard> guards;
    for (const auto& [name, value] : call.values)
        guards.push_back(capture::Guard::scalar(capture::Source::local(name), value));
    return guards;
}

std::vector<capture::Guard> ProbedCalls::branch_guards(const ProbedCall& call, std::uint64_t from, std::uint64_t until,
                                                       const std::function<bool(std::uint64_t)>& data_dependent) const {
    const auto of = static_cast<std::int32_t>(&call - calls_.data());
    const auto within = [&](std::int32_t inner) {
        while (inner > of) inner = calls_[static_cast<std::size_t>(inner)].caller;  // callers come before
        return inner == of;
    };
    std::vector<std::pair<const Way*, capture::Outcomes>> sites;  // in order of the first outcome
    const auto begin = std::ranges::upper_bound(ways_, from, {}, &Way::order);
    for (auto way = begin; way != ways_.end() && way->order < until; ++way) {
        if (!within(way->call) || data_dependent(way->order)) continue;
        const auto known =
            std::ranges::find_if(sites, [&](const auto& site) { return site.first->place == way->place; });
        auto& outcomes = known == sites.end() ? sites.emplace_back(&*way, capture::Outcomes{{}, way->selects}).second
                                              : known->second;
        outcomes.values.push_back(way->outcome);
    }
    std::vector<capture::Guard> guards;
    for (auto& [way, outcomes] : sites)
        guards.emplace_back(capture::Source::condition(way->place.text, way->place.line), std::move(outcomes),
                            std::vector<StackFrame>{way->place});
    return guards;
}

const ProbedCall* ProbedCalls::at(std::uint32_t thread, std::uint64_t order, const std::string& function) const {
    const auto moments = innermost_.find(thread);
    if (moments == innermost_.end()) return nullptr;
    const auto after =
        std::ranges::upper_bound(moments->second, order, {}, [](const auto& moment) { return moment.first; });
    if (after == moments->second.begin()) return nullptr;
    // Probes name a template, symbols what was made of it.
    const auto plain = [](const std::string& name) { return without_template_arguments(without_anonymous(name)); };
    const std::string wanted = plain(function);
    const bool scoped = wanted.find("::") != std::string::npos;
    const ProbedCall *found = nullptr, *alike = nullptr;
    for (std::int32_t i = std::prev(after)->second; i >= 0; i = calls_[static_cast<std::size_t>(i)].caller) {
        const ProbedCall& call = calls_[static_cast<std::size_t>(i)];
        if (plain(call.function) == wanted) found = &call;
        if (!scoped && unqualified(call.function) == wanted) alike = &call;
    }
    return found ? found : alike;
}

}  // namespace whittle::libtorch
