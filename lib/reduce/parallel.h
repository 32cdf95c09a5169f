// Queries ahead of their turn: while one candidate is judged, others that are likely to be asked about next are judged
// too. Answers are handed out when they are asked for, in the order of the asking, so that the number of jobs changes
// the time and nothing else.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <string>

#include "base/turn.h"
#include "reduce/oracle.h"

namespace whittle::reduce {

class ParallelQueries {
  public:
    /// `oracle` is asked from up to `jobs` threads at a time.
    ParallelQueries(Oracle& oracle, std::int64_t jobs) : oracle_(oracle), jobs_(jobs) {}
    /// Ends what was started and never asked for.
    ~ParallelQueries() { unwanted_ = true; }

    Observation observe(const Case& candidate, const std::string& identity);
    /// The candidate will probably be observed soon: starts it unless all jobs are taken. False: not now, it may be
    /// told again.
    bool prefetch(const Case& candidate, const std::string& identity);

  private:
    Oracle& oracle_;
    std::int64_t jobs_;
    std::atomic<bool> unwanted_ = false;
    std::map<std::string, std::future<Observation>> started_;  ///< by identity; its end waits for all
    Turn turn_;  ///< of the thread that asks; its end comes before that of `started_`
};

}  // namespace whittle::reduce
