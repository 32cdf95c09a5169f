// The question of every search for a culprit: a graph is known to fail on a backend; does it fail alike with a part of
// the compiler otherwise? A part is a directive, a switch, an application of a pass, a level or a release.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "judge/judge.h"

namespace whittle::diagnose {

/// Asks at most `runs` times, until it fails; to know how often it does, `all` of these times, more often where only
/// some fail, and no longer than `seconds`. An answer `otherwise` ends it.
Rate ask_repeatedly(int runs, bool all, const std::function<Again()>& ask,
                    double seconds = std::numeric_limits<double>::infinity());

class Asker {
  public:
    /// `failing` has its failure. Where `stop` says so in place of a question, Interrupted is thrown.
    Asker(const Graph& failing, Backend& backend, const Limits& limits, std::function<bool()> stop = {});

    /// Runs the graph as recorded to know how often it fails. Until then the rate is the one in the failure.
    const Rate& measure();
    struct Asked {
        Again again = Again::otherwise;
        bool exact = false;        ///< it is right, and has the bits of what is expected
        std::string message = {};  ///< of the run that decided
    };
    /// Asks with these options in place of the failure's, once each. A graph that fails in some runs only is run as
    /// often as its rate wants before it counts as right, more often with each answer that it does (graph/rate.h).
    /// Throws Error for options that the backend does not have, and Interrupted.
    const Asked& ask(const BackendOptions& options);
    bool fails(const BackendOptions& options) { return ask(options).again == Again::fails; }
    /// The same of another graph, which has its failure, in whatever words and values it fails.
    Answer ask(const Graph& other, std::span<const Tensor> expected);
    /// So many runs without a failure are right …
    int runs() const;
    /// … which somebody has seen who asked in another way.
    void passed() { passed_++; }

    const Graph& graph() const { return graph_; }
    const Failure& failure() const { return *graph_.failure; }
    /// What the graph computes, where its failure is one of results.
    const std::vector<Tensor>& expected() const { return expected_; }

  private:
    Answer answer(Question question, int runs) const;

    const Graph& graph_;
    Backend& backend_;
    const Limits& limits_;
    const std::function<bool()> stop_;
    std::vector<Tensor> expected_;
    Rate rate_;
    std::map<BackendOptions, Asked> answers_;
    int passed_ = 0;  ///< answers that it does not fail
};

/// Two parts of a row between which a graph begins to fail: both were asked, and those between gave no answer.
struct Begin {
    std::optional<std::size_t> right = {};  ///< none of the older ones that was asked is
    std::size_t fails = 0;
    std::vector<std::size_t> silent = {};  ///< between the two, or before `fails` where none is right; ascending
    bool operator==(const Begin&) const = default;
};

/// Of parts 0, 1 …, of which `failing` is known to fail. Asks each at most once: log2 of them where all answer and no
/// failure came and went, or one of its begins where one did; those that are silent cost a question each.
Begin begin_of_failure(std::size_t failing, const std::function<Again(std::size_t)>& ask);

}  // namespace whittle::diagnose
