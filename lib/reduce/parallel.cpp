#include "reduce/parallel.h"

#include <algorithm>

#include "base/interrupt.h"

namespace whittle::reduce {

Observation ParallelOracle::observe(const Candidate& candidate) {
    const auto started = started_.find(candidate.identity);
    if (started == started_.end()) return oracle_.observe(candidate);
    std::future<Observation> answer = std::move(started->second);
    started_.erase(started);  // asked again, it is judged again
    return answer.get();
}

void ParallelOracle::prefetch(const Candidate& candidate) {
    const auto running = std::count_if(started_.begin(), started_.end(), [](const auto& entry) {
        return entry.second.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    });
    if (running + 1 >= jobs_ || started_.contains(candidate.identity)) return;  // one is for what is asked next
    started_[candidate.identity] = std::async(
        std::launch::async,
        [this, graph = candidate.graph, inputs = std::vector(candidate.inputs.begin(), candidate.inputs.end()),
         expected = std::vector(candidate.expected.begin(), candidate.expected.end()), identity = candidate.identity] {
            const WantedScope scope(unwanted_);
            return oracle_.observe({graph, inputs, expected, identity});
        });
}

}  // namespace whittle::reduce
