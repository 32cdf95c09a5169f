// Queries: the one place where a search asks its oracle. It knows which failure is followed, remembers every answer,
// counts, and keeps other failures that it meets.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reduce/identity.h"
#include "reduce/journal.h"
#include "reduce/parallel.h"
#include "reduce/search/search.h"
#include "reduce/strategy.h"

namespace whittle::reduce {

/// A case and how it failed.
struct Find {
    Case found;
    Observation seen;
};

class Queries {
  public:
    /// Answers come from the journal, where there is one, as far as it has them; others are kept there, except those
    /// that were lost.
    Queries(Oracle& oracle, const Strategy& how, Journal* journal)
        : parallel_(oracle, how.jobs), journal_(journal), identity_(oracle), how_(how) {}

    /// A run of the original or of the result: neither counted nor remembered.
    Observation observe(const Case& original);
    /// From now on `failure` of `original` is what fails means; counts as the first query.
    void follow(const Case& original, const Observation& failure);

    /// From now on a case passes when it did so `times` times: the failure is flaky.
    void repeat(int times) { repeat_ = times; }

    /// Asked of the oracle once per distinct case (until it fails, where the failure is flaky).
    TestResult test(const Case& asked);
    /// It will probably be asked about soon.
    bool prefetch(const Case& likely);
    bool stopped() const;
    std::string identity(const Case& asked) { return identity_(asked); }

    /// The last case that test() said fails of.
    const Find& last_failing() const { return last_; }
    /// The smallest case of each other failure that was met, in the order of their discovery.
    const std::vector<Find>& drifted() const { return drifted_; }

    std::size_t count() const { return count_; }
    std::size_t cache_hits() const { return cache_hits_; }
    std::size_t unresolved() const { return unresolved_; }
    /// Called after every query with its answer.
    std::function<void(const Case&, TestResult)> asked = {};

  private:
    Observation answer(const Case& asked, const std::string& identity);
    Observation ask(const Case& asked, const std::string& identity);
    TestResult result_of(const Case& asked, const Observation& seen);
    void keep_drifted(const Case& asked, const Observation& seen);
    void add(const Observation& seen);

    ParallelQueries parallel_;
    Journal* journal_;
    Identity identity_;
    const Strategy& how_;
    Signature followed_;
    std::map<std::string, Observation> known_;  ///< by identity
    Find last_;
    std::vector<Find> drifted_;
    int repeat_ = 1;
    int lost_ = 0;  ///< queries in a row that nobody answered
    std::size_t count_ = 0, cache_hits_ = 0, unresolved_ = 0;
    std::int64_t run_ = 0;
};

}  // namespace whittle::reduce
