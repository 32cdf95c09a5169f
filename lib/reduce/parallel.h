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

class ParallelOracle final : public Oracle {
  public:
    /// `oracle` is asked from up to `jobs` threads at a time.
    ParallelOracle(Oracle& oracle, int jobs) : oracle_(oracle), jobs_(jobs) {}
    /// Ends what was started and never asked for.
    ~ParallelOracle() override { unwanted_ = true; }

    Observation observe(const Candidate& candidate) override;
    /// Starts it unless all jobs are taken.
    bool prefetch(const Candidate& candidate) override;
    void describe(Failure& failure) const override { oracle_.describe(failure); }
    std::string name() const override { return oracle_.name(); }
    std::string question() const override { return oracle_.question(); }

  private:
    Oracle& oracle_;
    int jobs_;
    std::atomic<bool> unwanted_ = false;
    std::map<std::string, std::future<Observation>> started_;  ///< by identity; its end waits for all
    Turn turn_;  ///< of the thread that asks; its end comes before that of `started_`
};

}  // namespace whittle::reduce
