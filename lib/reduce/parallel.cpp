#include "reduce/parallel.h"

#include <algorithm>
#include <latch>

#include "base/interrupt.h"

namespace whittle::reduce {

Observation ParallelOracle::observe(const Candidate& candidate) {
    const auto started = started_.find(candidate.identity);
    if (started == started_.end()) return oracle_.observe(candidate);
    std::future<Observation> answer = std::move(started->second);
    started_.erase(started);  // asked again, it is judged again
    const TurnPause others;
    return answer.get();
}

bool ParallelOracle::prefetch(const Candidate& candidate) {
    const auto running = std::count_if(started_.begin(), started_.end(), [](const auto& entry) {
        return entry.second.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    });
    if (started_.contains(candidate.identity)) return true;
    if (running + 1 >= jobs_) return false;  // one is for what is asked next
    // A future keeps what its task captured until somebody takes the answer: nobody may.
    struct Held {
        Graph graph;
        std::vector<Tensor> inputs, expected;
    };
    auto held = std::make_unique<Held>(Held{candidate.graph,
                                            {candidate.inputs.begin(), candidate.inputs.end()},
                                            {candidate.expected.begin(), candidate.expected.end()}});
    const auto begun = std::make_shared<std::latch>(1);  // a thread that begins holds locks, which no fork may copy
    started_[candidate.identity] =
        std::async(std::launch::async, [this, begun, held = std::move(held), identity = candidate.identity]() mutable {
            begun->count_down();
            const Turn turn;
            const WantedScope scope(unwanted_);
            const auto judged = std::move(held);
            return oracle_.observe({judged->graph, judged->inputs, judged->expected, identity});
        });
    begun->wait();
    return true;
}

}  // namespace whittle::reduce
