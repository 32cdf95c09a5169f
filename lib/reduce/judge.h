// The judge: the one place where a search asks its oracle. It knows which failure is followed, remembers every answer,
// counts, and keeps other failures that it meets.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reduce/identity.h"
#include "reduce/reductions/case.h"
#include "reduce/search/search.h"

namespace whittle::reduce {

/// "fails", "passes", "unresolved".
std::string_view name(Verdict verdict);

/// A case and how it failed.
struct Find {
    Case found;
    Observation seen;
};

/// A model before anything was computed or changed while reading it: what its user sees failing.
struct AsGiven {
    std::filesystem::path file = {};  ///< see Candidate::file; else …
    std::optional<Graph> graph = {};  ///< … its graph, which takes the original's inputs
};

class Judge {
  public:
    struct Limits {
        std::optional<std::size_t> queries = {};  ///< distinct cases that are run; answers of a journal are free
        std::function<bool()> stop = {};          ///< true: no more questions (an interrupt)
    };
    Judge(Oracle& oracle, Limits limits) : oracle_(oracle), identity_(oracle), limits_(std::move(limits)) {}

    /// A run of the original or of the result: neither counted nor remembered.
    Observation observe(const Case& original);
    /// The same of the model that the original was read from.
    Observation observe(const Case& original, const AsGiven& given);
    /// From now on `failure` of `original` is what fails means; counts as the first query.
    void follow(const Case& original, const Observation& failure);

    /// From now on a case passes when it did so `times` times: the failure is flaky.
    void repeat(int times) { repeat_ = times; }

    /// Asked of the oracle once per distinct case (until it fails, where the failure is flaky).
    Verdict test(const Case& asked);
    /// It will probably be asked about soon.
    bool prefetch(const Case& likely);
    bool stopped() const;
    std::string identity(const Case& asked) { return identity_(asked.graph, asked.inputs); }

    /// The last case that test() said fails of.
    const Find& last_failing() const { return last_; }
    /// The smallest case of each other failure that was met, in the order of their discovery.
    const std::vector<Find>& drifted() const { return drifted_; }

    std::size_t queries() const { return queries_; }
    std::size_t cache_hits() const { return cache_hits_; }
    std::size_t unresolved() const { return unresolved_; }
    /// Called after every query with its answer.
    std::function<void(const Case&, Verdict)> asked = {};

  private:
    Observation ask(const Case& asked, const std::string& identity);
    Verdict verdict(const Case& asked, const Observation& seen);
    void log_query(const Case& asked, const Observation& seen, Verdict answer) const;
    void keep_drifted(const Case& asked, const Observation& seen);

    Oracle& oracle_;
    Identity identity_;
    Limits limits_;
    Signature followed_;
    std::map<std::string, Observation> known_;  ///< by identity
    Find last_;
    std::vector<Find> drifted_;
    int repeat_ = 1;
    int lost_ = 0;  ///< queries in a row that nobody answered
    void count(const Observation& seen);

    std::size_t queries_ = 0, run_ = 0, cache_hits_ = 0, unresolved_ = 0;
};

}  // namespace whittle::reduce
