#include "reduce/parallel.h"

#include <algorithm>
#include <latch>

#include "base/interrupt.h"

namespace whittle::reduce {

Observation ParallelQueries::observe(const Case& candidate, const std::string& identity) {
    const auto started = started_.find(identity);
    if (started == started_.end()) return oracle_.observe(candidate);
    std::future<Observation> answer = std::move(started->second);
    started_.erase(started);  // asked again, it is judged again
    const TurnPause others;
    return answer.get();
}

bool ParallelQueries::prefetch(const Case& candidate, const std::string& identity) {
    const auto running = std::ranges::count_if(started_, [](const auto& entry) {
        return entry.second.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
    });
    if (started_.contains(identity)) return true;
    if (running + 1 >= jobs_) return false;              // one is for what is asked next
    const auto begun = std::make_shared<std::latch>(1);  // a thread that begins holds locks, which no fork may copy
    // A future keeps what its task captured until somebody takes the answer: nobody may.
    auto held = std::make_unique<Case>(candidate);
    started_[identity] = std::async(std::launch::async, [this, begun, held = std::move(held)]() mutable {
        begun->count_down();
        const Turn turn;
        const WantedScope scope(unwanted_);
        const auto judged = std::move(held);
        return oracle_.observe(*judged);
    });
    begun->wait();
    return true;
}

}  // namespace whittle::reduce
