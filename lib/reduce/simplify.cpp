#include "reduce/minimize.h"

#include <algorithm>
#include <numeric>

namespace whittle::reduce {
namespace {

class Simplification {
  public:
    Simplification(const Reduction& reduction, Find& best, Queries& queries, const Options& options)
        : queries_(queries), options_(options), from_(best.found), best_(best), edits_(reduction.edits(from_)) {
        std::erase_if(edits_, [&](const Edit& edit) {  // what fits nowhere needs no search
            Draft draft(from_);
            edit.apply(draft, edit.simplest);
            return !draft.infers();
        });
        for (const Edit& edit : edits_) levels_.push_back(edit.unchanged);
    }

    /// False when it was stopped.
    bool run() {
        if (edits_.empty()) return true;
        Problem problem;
        problem.count = static_cast<int>(edits_.size());
        problem.ask_empty = true;
        problem.test = [&](const Set& unchanged) {
            if (unchanged.size() == edits_.size()) return TestResult::fails;
            const std::optional<Case> candidate = made(levels_without(unchanged));
            return candidate ? queries_.test(*candidate) : TestResult::unresolved;
        };
        problem.prefetch = [&](const Set& unchanged) {
            const std::optional<Case> candidate = made(levels_without(unchanged));
            return !candidate || queries_.prefetch(*candidate);
        };
        Options options = options_;
        options.improved = [&](const Set& unchanged) { accept(levels_without(unchanged)); };
        const Result result = search(problem, options);
        finished_ = result.finished;
        for (const int i : result.kept)
            if (finished_) bisect(static_cast<std::size_t>(i));
        return finished_;
    }

  private:
    using Levels = std::vector<std::int64_t>;

    Levels levels_without(const Set& unchanged) const {
        Levels levels;
        for (const Edit& edit : edits_) levels.push_back(edit.simplest);
        for (const int i : unchanged)
            levels[static_cast<std::size_t>(i)] = edits_[static_cast<std::size_t>(i)].unchanged;
        return levels;
    }

    std::optional<Case> made(const Levels& levels) const {
        Draft draft(from_);
        for (std::size_t i = 0; i < edits_.size(); ++i)
            if (levels[i] != edits_[i].unchanged) edits_[i].apply(draft, levels[i]);
        return draft.finish();
    }

    void accept(const Levels& levels) {
        levels_ = levels;
        best_ = queries_.last_failing();
        if (options_.improved) options_.improved({});
    }

    /// The simplest level of an edit that fails, all others staying as they are.
    void bisect(std::size_t i) {
        std::int64_t passes = edits_[i].simplest, fails = edits_[i].unchanged;
        while (fails - passes > 1) {
            if (queries_.stopped()) {
                finished_ = false;
                return;
            }
            Levels levels = levels_;
            levels[i] = passes + (fails - passes) / 2;
            const std::optional<Case> candidate = made(levels);
            if (candidate && queries_.test(*candidate) == TestResult::fails) {
                fails = levels[i];
                accept(levels);
            } else {
                passes = levels[i];
            }
        }
    }

    Queries& queries_;
    const Options& options_;
    const Case from_;
    Find& best_;
    std::vector<Edit> edits_;
    Levels levels_;  ///< of the best case
    bool finished_ = true;
};

}  // namespace

bool simplify(const Reduction& reduction, Find& best, Queries& queries, const Options& options) {
    return Simplification(reduction, best, queries, options).run();
}

}  // namespace whittle::reduce
