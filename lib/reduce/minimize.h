// minimize(): the fewest calls of a graph that still fail in the same way.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reduce/judge.h"
#include "reduce/oracle.h"
#include "reduce/search/search.h"
#include "reduce/simplify.h"

namespace whittle::reduce {

struct Progress {
    std::size_t queries = 0;
    std::size_t calls = 0;  ///< of the smallest failing graph so far
};

/// "calls" (deletion), then the reductions: what llvm-reduce calls delta passes. They run in this order until nothing
/// changes.
std::vector<std::string> pass_names();

struct MinimizeOptions {
    Options search = {};  ///< its step limit counts the queries of everything; `improved` and `lookahead` are ours
    /// Candidates to prefetch from an oracle that can answer several at a time (parallel.h), less one. Changes the
    /// time, never the result nor the order of the answers.
    int jobs = 1;
    std::vector<std::string> passes = pass_names();
    /// Names of nodes that may well fail alone, the likeliest first; they order the questions, never the verdict.
    /// Called once, when the original is known to fail.
    std::function<std::vector<std::string>()> likely = {};
    /// The failure to follow; none: the one that the original shows. With another one it is not failing.
    std::optional<Signature> signature = {};
    /// Judged before the graph: where it does not fail, nothing does; else its failure is the one to follow.
    std::optional<AsGiven> as_given = {};
    bool has_failed = false;  ///< the original did, once: where it passes now, it is run more often
    int repeat = 2;           ///< runs of the original, where answers that disagree make it flaky, and of the result
    /// Called with every smaller failing graph (its `failure` set), to save it.
    std::function<void(const Graph&)> improved = {};
    std::function<void(const Progress&)> progress = {};
};

/// What a reduction did, over all its turns.
struct ReductionReport {
    std::string name;
    std::size_t tried = 0;         ///< candidates that were judged: with the original, all queries there are
    std::size_t accepted = 0;      ///< of these: they fail and are simpler
    Size before = {}, after = {};  ///< its first turn, and after the last that changed something
};

/// One question of the search, and its answer.
struct HistoryEntry {
    std::size_t query = 0;
    double seconds = 0;  ///< since the search began
    std::string pass = {};
    Verdict verdict = Verdict::fails;
    std::size_t calls = 0;  ///< of the candidate
    std::int64_t elements = 0;
};

/// An original that does not end alike every time.
struct Flakiness {
    std::size_t failures = 0, runs = 0;  ///< alike, of how many runs of the original; 0 of 0: it is not flaky
    int repeat = 0;                      ///< runs until a candidate counts as passing; 0: too rare to be minimized
};

struct Minimized {
    enum class Ending {
        minimized,
        not_failing,
        unsupported,  ///< the original gets no answer: the backend declines it, the command cannot tell; see `message`
        flaky,
        interrupted
    } ending = Ending::not_failing;
    Graph graph;  ///< the result; its failure member holds backend, signature and inputs
    Signature signature = {};
    std::string message = {};                       ///< of the original failure
    std::size_t calls_before = 0, calls_after = 0;  ///< nested graphs included
    Size before = {}, after = {};
    Flakiness flaky = {};
    bool hidden = false;     ///< not_failing, but the model as it was given is: reading it hid the failure
    bool confirmed = false;  ///< every run of the result failed in the same way
    /// Counts are those of everything; one_minimal is about calls.
    Result search = {};
    std::vector<ReductionReport> passes = {};  ///< those that ran, in their order
    std::vector<HistoryEntry> history = {};    ///< the original first
    /// The smallest candidate of each other failure that was met, its `failure` set, in the order of their discovery.
    /// They were not followed.
    std::vector<Graph> drifted = {};
    double seconds = 0;
};

std::string_view name(Minimized::Ending verdict);

/// `inputs`: one per placeholder. The reference (eager) computes every value once; a candidate's inputs and expected
/// results are those values. Opaque calls (ops/core/opaque.h) whoever judges may know: what they give is made up for
/// candidates that begin behind them, and where there is one, nothing is expected. Throws Error when the reference
/// cannot run the graph.
Minimized minimize(const Graph& graph, std::span<const Tensor> inputs, Oracle& oracle, const MinimizeOptions& options);

}  // namespace whittle::reduce
