#include "frontends/libtorch/callers.h"

#include <algorithm>

namespace whittle::libtorch {

Callers::Callers(const EventFile& file) : python_(file.runs_python) {
    for (const Event& event : file.events)
        if (event.kind == RecordKind::op_begin && event.stack) ops_[event.thread].push_back(&event);
}

void Callers::add(CallerMotion& motion, std::uint32_t thread, std::uint64_t from, std::uint64_t to) const {
    const auto ops = ops_.find(thread);
    if (ops == ops_.end()) return;
    for (auto op = std::ranges::upper_bound(ops->second, from, {}, &Event::order);
         op != ops->second.end() && (*op)->order <= to; ++op) {
        motion.untouched = std::min(motion.untouched, (*op)->untouched);
        motion.unmoved = std::min(motion.unmoved, (*op)->unmoved);
    }
}

}  // namespace whittle::libtorch
