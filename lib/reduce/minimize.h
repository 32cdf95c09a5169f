// minimize(): the fewest calls of a graph, or nodes of a file, that still fail in the same way.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "diagnose/release_history.h"
#include "judge/divergence.h"
#include "judge/judge.h"
#include "reduce/deletion.h"
#include "reduce/queries.h"
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {

struct Progress {
    std::size_t queries = 0;
    std::size_t calls = 0;  ///< of the smallest failing case so far
};

/// What a search follows, beside how it does so.
struct Goal {
    /// Names of nodes that may well fail alone, the likeliest first; they order the questions, never the verdict.
    /// Called once, when the original is known to fail.
    std::function<std::vector<std::string>()> likely = {};
    /// The failure to follow; none: the one that the original shows. With another one it is not failing.
    std::optional<Signature> signature = {};
    /// The model before anything was computed or changed while reading it: what its user sees failing. Judged before
    /// the graph: where it does not fail, nothing does; else its failure is the one to follow.
    std::optional<Case> as_given = {};
    bool has_failed = false;  ///< the original did, once: where it passes now, it is run more often
    /// Called with every smaller failing case (the `failure` of its graph set), to save it.
    std::function<void(const Case&)> improved = {};
    std::function<void(const Progress&)> progress = {};
};

/// What a reduction did, over all its turns.
struct ReductionReport {
    std::string name;
    std::size_t tried = 0, accepted = 0;
    Size before = {}, after = {};  ///< its first turn, and after the last that changed something

    static void fields(auto& field) {
        field("name", &ReductionReport::name, "");
        field("tried", &ReductionReport::tried,
              "The number of candidates judged. The sum over all reductions, plus 1 for the original, is the number of "
              "queries.");
        field("accepted", &ReductionReport::accepted, "");  // of these: they fail and are simpler
        field("before", &ReductionReport::before, "");
        field("after", &ReductionReport::after, "");
    }
};

/// One question of the search, and its answer.
struct HistoryEntry {
    std::size_t query = 0;
    double seconds = 0;
    std::string pass = {};
    TestResult result = TestResult::fails;
    std::size_t calls = 0;
    std::int64_t elements = 0;

    static constexpr const char* kName = "query";
    static void fields(auto& field) {
        field("query", &HistoryEntry::query, "The number of the query; 1 is the original.", Count{});
        field("seconds", &HistoryEntry::seconds, "The time since the search began.", Count{});
        field("pass", &HistoryEntry::pass, "The reduction that made the candidate.");
        field(
            "verdict", [](const HistoryEntry& entry) { return reduce::name(entry.result); },
            "fails (in the same way as the original), passes or unresolved.");
        field("calls", &HistoryEntry::calls, "The number of calls in the candidate.", Count{});
        field("elements", &HistoryEntry::elements, "The number of elements in the candidate.", Count{});
    }
};

/// An original that does not end alike every time.
struct Flakiness {
    std::size_t failures = 0, runs = 0;  ///< alike, of how many runs of the original; 0 of 0: it is not flaky
    int repeat = 0;                      ///< runs until a candidate counts as passing; 0: too rare to be minimized
    int needed = 0;                      ///< these runs, also where they are more than are made

    static void fields(auto& field) {
        field("failures", &Flakiness::failures, "");
        field("runs", &Flakiness::runs, "");
        field("repeat", &Flakiness::repeat, "", Count{});
    }
};

/// What became of a model.
struct Minimized {
    enum class Ending {
        minimized,
        not_failing,
        unsupported,  ///< the original gets no answer: the backend declines it, the command cannot tell; see `message`
        flaky,
        interrupted
    } ending = Ending::not_failing;
    Case smallest = {};  ///< its graph's failure member holds backend, signature and inputs
    Signature signature = {};
    std::string message = {};  ///< of the original failure
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
    std::vector<Case> drifted = {};
    double seconds = 0;

    // What minimize() of minimize_frame.h adds.
    std::string judge = {};                   ///< who was asked
    std::filesystem::path file = {};          ///< the frame's …
    std::filesystem::path output = {};        ///< … and where the result is
    std::optional<Judgement> judgement = {};  ///< of the model, where a backend was asked and not a command
    bool searched = false;                    ///< candidates were asked about, not the model alone
    std::string no_candidates = {};           ///< why they could not be
    std::size_t replayed = 0;                 ///< answers taken from the journal
    std::vector<std::filesystem::path> drifted_files = {};  ///< one per `drifted`
    std::optional<Closeness> closeness = {};                ///< of wrong results: rounding noise, or more
    std::optional<diagnose::ReleaseHistory> releases = {};  ///< of a compiler of which several are installed
    std::vector<std::string> rewritten = {};                ///< as LoadedFrame has it
    std::map<std::string, std::size_t> folded = {};         ///< by op: of the file, and no part of what was minimized
    bool fails_on_nothing = false;                          ///< a graph that does nothing fails alike
    bool stored = false;                                    ///< the failure that was followed is the one of the file

    /// There is a result, the smallest or the best so far.
    bool failed() const { return ending == Ending::minimized || ending == Ending::interrupted; }
    /// On the model.
    Verdict verdict() const;
};

std::string_view name(Minimized::Ending ending);

/// `journal` may be null.
Minimized minimize(const Deletion& deletion, Oracle& oracle, const Strategy& how, const Goal& goal, Journal* journal);

/// `inputs`: one per placeholder. The reference (eager) computes every value once; a candidate's inputs and expected
/// results are those values. Opaque calls (ops/core/opaque.h) whoever judges may know: what they give is made up for
/// candidates that begin behind them, and where there is one, nothing is expected. Throws Error when the reference
/// cannot run the graph.
Minimized minimize(const Graph& graph, std::span<const Tensor> inputs, Oracle& oracle, const Strategy& how = {},
                   const Goal& goal = {}, Journal* journal = nullptr);

/// One turn of one reduction. `best` fails; it is replaced by the simplest case found, and `options.improved` is called
/// at each step. False when it was stopped.
bool simplify(const Reduction& reduction, Find& best, Queries& queries, const Options& options);

}  // namespace whittle::reduce
