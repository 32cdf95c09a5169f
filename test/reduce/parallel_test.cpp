#include "reduce/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "base/files.h"
#include "graph/text.h"
#include "reduce/identity.h"
#include "reduce/journal.h"
#include "reduce/ladder.h"
#include "reduce/minimize.h"

using namespace whittle;
using namespace whittle::reduce;

namespace {

/// Fails when a candidate holds both a tanh and a sin; answers in an order that has nothing to do with the asking, and
/// not at all about a part of the candidates.
class Unordered final : public Oracle {
  public:
    std::atomic<int> asked = 0;

    Observation observe(const Case& candidate) override {
        ++asked;
        const std::size_t hash = std::hash<std::string>()(Identity(*this)(candidate));
        for (std::size_t i = 0; i < hash % 200; ++i) std::this_thread::yield();
        const std::string text = print(candidate.graph);
        const bool whole = text.find("%v39") != text.npos && text.find("%v0 ") != text.npos;
        if (!whole && hash % 5 == 0) return {false, true, {}, "no answer"};
        return judge_ladder(text);
    }
    void describe(Failure& failure) const override { failure.backend = "fake"; }
    std::string name() const override { return "fake"; }
};

struct Run {
    std::string result, journal;
    std::size_t queries = 0;
    int asked = 0;
};

Run run_with_jobs(int jobs, std::optional<std::int64_t> step_limit) {
    const TempDir folder;
    const auto file = folder.path() / "journal";
    const Graph graph = ladder();
    Unordered oracle;
    Run run;
    {
        Journal journal(file, Identity(oracle)({graph, kInput}), false);
        const Minimized result =
            minimize(graph, kInput, oracle, {.jobs = jobs, .step_limit = step_limit}, {}, &journal);
        run.result = print(result.smallest.graph);
        run.queries = result.search.queries;
    }
    run.journal = read_file(file);
    run.asked = oracle.asked;
    return run;
}

}  // namespace

TEST_CASE("the number of jobs changes neither the result nor the journal", "[parallel]") {
    for (const std::optional<std::int64_t> limit : {std::optional<std::int64_t>(), std::optional<std::int64_t>(9)}) {
        const Run one = run_with_jobs(1, limit);
        for (const int jobs : {2, 4, 7}) {
            const Run several = run_with_jobs(jobs, limit);
            INFO(jobs << " jobs");
            CHECK(several.result == one.result);
            CHECK(several.journal == one.journal);
            CHECK(several.queries == one.queries);
            CHECK(several.asked > one.asked);  // it did ask ahead
        }
    }
}

TEST_CASE("what was started and never asked for is ended with the search", "[parallel]") {
    // Would take longer than any test may: the process is ended, not waited for.
    CommandOracleOptions options;
    options.command = {"sh", "-c", "sleep 1000"};
    options.limits.timeout = std::chrono::hours(1);
    const auto forever = command_oracle(options);
    const Graph graph = ladder();
    const auto start = std::chrono::steady_clock::now();
    {
        ParallelQueries parallel(*forever, 2);
        CHECK(parallel.prefetch({graph, kInput}, "one"));
        CHECK_FALSE(parallel.prefetch({graph, kInput}, "two"));  // beyond the jobs
    }
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::minutes(5));
}

TEST_CASE("what is told to be asked next mostly is", "[search]") {
    const Set culprits = {5, 21};
    for (const std::size_t lookahead : {1, 3, 8}) {
        std::set<Set> ahead;
        int asked = 0, foreseen = 0;
        Problem problem;
        problem.count = 64;
        problem.test = [&](const Set& set) {
            ++asked;
            foreseen += ahead.contains(set);
            return std::includes(set.begin(), set.end(), culprits.begin(), culprits.end()) ? TestResult::fails
                                                                                           : TestResult::passes;
        };
        problem.prefetch = [&](const Set& set) {
            CHECK(ahead.insert(set).second);  // a set once
            return true;
        };
        Options options;
        options.lookahead = lookahead;
        CHECK(search(problem, options).kept == culprits);
        INFO(lookahead << ": " << foreseen << " of " << asked);
        CHECK(foreseen * 3 >= asked * (lookahead == 1 ? 1 : 2));
    }
}
