#include "frontends/libtorch/probed.h"

#include <algorithm>

namespace whittle::libtorch {

namespace {

std::string last_part(const std::string& function) {
    const auto colons = function.rfind("::");
    return colons == std::string::npos ? function : function.substr(colons + 2);
}

bool is_same(const TensorRef& a, const TensorRef& b) {
    if (a.id == b.id) return true;
    return a.has(kHasStorage) && b.has(kHasStorage) && a.storage == b.storage && a.offset == b.offset &&
           a.sizes == b.sizes && a.strides == b.strides && a.dtype == b.dtype;
}

}  // namespace

const ProbedName* ProbedCall::name_of(const TensorRef& tensor) const {
    const auto is_it = [&](const ProbedName& name) { return is_same(name.tensor, tensor); };
    const auto parameter = std::ranges::find_if(parameters, is_it);
    if (parameter != parameters.end()) return &*parameter;
    const auto variable = std::find_if(variables.rbegin(), variables.rend(), is_it);
    return variable == variables.rend() ? nullptr : &*variable;
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
            moments.emplace_back(event.order, calls_[static_cast<std::size_t>(innermost)].caller);
        } else if (event.kind == RecordKind::probe_name) {
            const TensorRef* tensor = event.values.empty() ? nullptr : event.values.front().tensor();
            if (!tensor) continue;
            ProbedCall& call = calls_[static_cast<std::size_t>(innermost)];
            (event.depth ? call.parameters : call.variables).push_back({event.text, event.sequence, *tensor});
        }
    }
}

const ProbedCall* ProbedCalls::at(std::uint32_t thread, std::uint64_t order, const std::string& function) const {
    const auto moments = innermost_.find(thread);
    if (moments == innermost_.end()) return nullptr;
    const auto after =
        std::ranges::upper_bound(moments->second, order, {}, [](const auto& moment) { return moment.first; });
    if (after == moments->second.begin()) return nullptr;
    const ProbedCall* found = nullptr;
    for (std::int32_t i = std::prev(after)->second; i >= 0; i = calls_[static_cast<std::size_t>(i)].caller) {
        const ProbedCall& call = calls_[static_cast<std::size_t>(i)];
        if (call.function == function || last_part(call.function) == last_part(function)) found = &call;
    }
    return found;
}

}  // namespace whittle::libtorch
