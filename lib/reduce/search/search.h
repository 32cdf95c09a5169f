// search(): the smallest set of items that still fails. Knows nothing of graphs: items are numbers, a verdict function
// says what a set does, and a neighbourhood says which items are likely to matter together.
//
// Method: prefix bisection proves the last essential item; then, until the essential items fail alone, the set grows
// around them by distance (x4) and a bisection inside proves the next one, weighted by how many items were essential so
// far (many on a long path, few else); a sweep that tries to drop each item proves the result 1-minimal. An item that
// it can drop shows that verdicts are not monotone, or that answers were missing: then probabilistic delta debugging
// goes on (Wang et al., "Probabilistic Delta Debugging", ESEC/FSE 2021; about four items are expected to be essential),
// after it, if that was not the end either, delta debugging (Zeller and Hildebrandt 2002, ddmin).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::reduce {

/// What a test of a candidate shows.
enum class TestResult {
    fails,  ///< the failure being minimized
    passes,
    unresolved,  ///< another failure, an invalid candidate, no answer in time: never evidence of anything
};
/// "fails", "passes", "unresolved".
std::string_view name(TestResult result);

/// Ascending item numbers.
using Set = std::vector<int>;

struct Problem {
    int count = 0;
    /// Undirected adjacency, for distance. May be empty: then distance is that of the numbers.
    std::vector<std::vector<int>> neighbours = {};
    /// The legal set that a wish stands for (an item that cannot live without another goes). Idempotent, never adds.
    /// None: every set is legal.
    std::function<Set(const Set&)> legal = {};
    /// Of each item, those that it cannot live without: with it, they are essential. May be empty: they are not known.
    std::vector<Set> needs = {};
    /// Items that may well fail alone, the likeliest first: asked before anything else, and evidence of nothing when
    /// they do not.
    std::vector<int> likely = {};
    /// Asked once per distinct legal set.
    std::function<TestResult(const Set&)> test;
    /// The empty set is asked about too, and first; else it passes.
    bool ask_empty = false;
    /// Told before a test which sets will probably be asked about after it, so that they can be tested meanwhile: once
    /// each, again where it returns false (not now).
    std::function<bool(const Set&)> prefetch = {};
};

/// bisect: without delta debugging. linear: the sweep alone. probdd, ddmin: delta debugging from the start.
enum class Mode { automatic, bisect, linear, probdd, ddmin };
/// "auto" "bisect" "linear" "probdd" "ddmin", in that order.
std::vector<std::string> mode_names();
/// Throws Error for any other name.
Mode mode_from_name(const std::string& name);

struct Options {
    Mode mode = Mode::automatic;
    std::size_t lookahead = 0;  ///< sets to tell Problem::prefetch at a time
    /// Called with each smaller failing set as it is found.
    std::function<void(const Set&)> improved = {};
    /// True: stop before the next query (an interrupt, a limit).
    std::function<bool()> stop = {};
};

struct Result {
    Set kept;                  ///< fails; the whole when nothing smaller does
    bool reproduces = false;   ///< the whole set failed at all
    bool one_minimal = false;  ///< every set with one item less was tested, gave an answer and does not fail
    bool finished = true;      ///< false: it was stopped; `kept` is the best so far
    std::size_t queries = 0;   ///< distinct sets tested
    std::size_t cache_hits = 0;
    std::size_t unresolved = 0;    ///< queries without an answer
    bool fell_back = false;        ///< bisection was misled, and delta debugging went on (Mode::automatic)
    std::string reservation = {};  ///< why one_minimal is false
};

Result search(const Problem& problem, const Options& options);

/// The `most` sets that will probably be asked about after `pending`, likeliest first, when each fails with the
/// probability `chance`: the search is deterministic, so rehearsing it with the answers so far and assumed ones tells
/// what it asks next.
std::vector<Set> likely_next(const Problem& problem, Mode mode, const std::map<Set, TestResult>& known,
                             const Set& pending, double chance, std::size_t most);

}  // namespace whittle::reduce
