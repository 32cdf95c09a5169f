#include "judge/judge.h"

#include <algorithm>

#include "backends/eager/eager.h"
#include "backends/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "base/module.h"
#include "base/words.h"
#include "graph/abilities.h"
#include "graph/placement.h"
#include "graph/rate.h"
#include "judge/exact.h"
#include "judge/explained.h"
#include "judge/file_backend.h"
#include "ops/aten/random.h"
#include "ops/core/assertions.h"
#include "ops/core/draws.h"
#include "ops/core/opaque.h"
#include "ops/core/open.h"
#include "passes/dce.h"

namespace whittle {
namespace {

constexpr const char* kLibTorch = "libtorch";
constexpr const char* kExpected = "expected";

bool is_reference(Backend& backend) { return offered<Reference>(backend) != nullptr; }

/// The backend that is given the user's file, where it reads such files and runs here; else null.
std::unique_ptr<Backend> takes_file(const FailingCase& asked, Backend& backend, const Suspect& suspect) {
    // What is compared by its time is given to both as a graph.
    const bool may = suspect.launcher.prefix.empty() && !suspect.slower;
    return asked.file && may ? file_backend(backend, *asked.file, suspect.options) : nullptr;
}

/// What was given: the file, else the graph. Only the reference is trusted not to take this process down.
Outcome run(const FailingCase& asked, Backend& backend, const Suspect& suspect) {
    seed_random_ops(0);
    if (const auto as_given = takes_file(asked, backend, suspect))
        return run_suspect(asked.graph, asked.inputs, *as_given, suspect);
    return is_reference(backend) && !suspect.slower
               ? run_in_process(asked.graph, asked.inputs, backend, suspect.options)
               : run_suspect(asked.graph, asked.inputs, backend, suspect);
}

/// The first call that draws random numbers on which a result depends, as messages name it; empty: none does.
std::string random_op(const Graph& graph) {
    if (!draws_random_numbers(graph)) return {};
    const Graph live = dce(graph);
    const auto draws = [&](NodeId id) { return draws_random_numbers(live, live.node({id})); };
    const std::vector<NodeId> calls = live.calls();
    const auto found = std::ranges::find_if(calls, draws);
    if (found != calls.end()) return live.node({*found}).target;
    return draws_random_numbers(live) ? "a nested graph" : "";
}

/// Judges one case.
class CaseJudge {
  public:
    CaseJudge(const FailingCase& asked, Backend& backend) : asked_(asked), backend_(backend) {
        name_ = asked.suspect.spec.text().empty() ? backend.name() : asked.suspect.spec.text();
    }

    Judgement run(Outcome ran) {
        said_.outcome = std::move(ran);
        const Outcome::Kind kind = said_.outcome.kind;
        const bool ended = !said_.outcome.failed();
        if (asked_.suspect.tier == Tier::computes) expect();
        if (kind == Outcome::Kind::unsupported || kind == Outcome::Kind::unresolved)
            not_judged(said_.outcome.message);
        else if (is_left_nothing())
            not_judged("no operation is left to run: the results of the graph are constants");
        else if (const std::string op = random_op(asked_.graph);
                 ended && !op.empty() && asked_.suspect.tier == Tier::computes)
            not_judged(op + " draws random numbers");
        else if (auto open = open_input(asked_.graph, asked_.inputs, false))
            not_judged(std::move(open->reason));
        else if (refused_alike())
            not_judged("the reference backend fails with the same error: " + said_.outcome.message);
        else if (!ended)
            fails();
        else if (asked_.suspect.tier == Tier::ends)
            said_.verdict = Verdict::right, said_.reason = said_.outcome.message;  // by its time: the figures
        else if (!said_.no_reference.empty() && said_.expected.outputs.empty())
            not_judged("no expected values: " + std::string(opaque_ ? "" : "the reference backend failed: ") +
                       said_.no_reference);
        else
            compare();
        if (said_.verdict == Verdict::right && said_.reason.empty() && !asked_.scope.empty())
            said_.reason = "judged " + asked_.scope;
        return std::move(said_);
    }

  private:
    void not_judged(std::string reason) {
        said_.verdict = Verdict::not_judged;
        said_.reason = std::move(reason);
    }
    void fails() {
        said_.verdict = Verdict::fails;
        said_.reason = text_of(said_.outcome);
    }

    /// The backend got the graph, not the file, and the graph asks nothing of it. What the reference returns is still
    /// held against the results that were given: these constants are its own.
    bool is_left_nothing() const {
        return !is_reference(backend_) && leaves_nothing_to_run(asked_.graph) &&
               !takes_file(asked_, backend_, asked_.suspect);
    }

    /// The reference refuses the graph in the same words: it is Whittle that does not compute it, or nobody can. What
    /// the program asserts, it knows better.
    bool refused_alike() {
        const Outcome& outcome = said_.outcome;
        if (outcome.kind != Outcome::Kind::exception || outcome.op == kAssertion || is_reference(backend_))
            return false;
        reference();
        return said_.no_reference == outcome.message;
    }

    /// What is right: as given, else what the reference computes, of ops that only LibTorch knows what that computes,
    /// else what the backend does without optimization.
    void expect() {
        said_.expected = asked_.given;
        if (!said_.expected.outputs.empty()) return;
        const Values& own = reference();
        if (said_.no_reference.empty()) {
            said_.expected = {own, std::string(kReferenceBackend)};
            return;
        }
        if (opaque_)
            if (auto values = libtorch()) {
                said_.expected = {std::move(*values), kLibTorch};
                return;
            }
        if (!said_.outcome.failed())
            if (auto plain = without_optimization()) said_.expected = {std::move(*plain), plain_name()};
    }

    /// The reference's outputs, computed once; said_.no_reference where it has none.
    const Values& reference() {
        if (reference_) return *reference_;
        if (auto unknown = unknown_value(asked_.graph)) {
            said_.no_reference = std::move(*unknown);
            return reference_.emplace();
        }
        Outcome ran;
        if (is_reference(backend_))
            ran = said_.outcome;
        else
            ran = run_on(*make_eager_backend());
        if (ran.failed()) said_.no_reference = ran.message;
        return reference_.emplace(std::move(ran.outputs));
    }

    /// Of the graph, within the limits of the case.
    Outcome run_on(Backend& backend, const BackendSpec& spec = {}) const {
        return whittle::run({asked_.graph, asked_.inputs}, backend,
                            {.spec = spec, .limits = asked_.suspect.limits, .tier = Tier::ends});
    }

    /// LibTorch's outputs; nothing where it is not there or cannot run the graph.
    std::optional<Values> libtorch() const {
        if (name_ == kLibTorch || !has_module(kLibTorch) || unknown_value(asked_.graph)) return std::nullopt;
        const BackendSpec spec(kLibTorch);
        return outputs_of(run_on(*find_backend(spec), spec));
    }

    /// The backend's own outputs when it optimizes nothing; nothing where it has no such form, or that fails.
    std::optional<Values> without_optimization() const {
        Suspect plain = asked_.suspect;
        if (!plain.launcher.prefix.empty()) return std::nullopt;
        auto options = unoptimized(asked_.graph, backend_, plain.options).options;
        if (!options) return std::nullopt;
        plain.options = std::move(*options);
        plain.tier = Tier::ends;
        const ArtifactPause nobody_asked;
        return outputs_of(whittle::run(asked_, backend_, plain));
    }
    std::string plain_name() const { return name_ + " without optimization"; }

    static std::optional<Values> outputs_of(Outcome ran) {
        return ran.failed() ? std::nullopt : std::optional(std::move(ran.outputs));
    }

    bool close(const Values& one, std::span<const Tensor> other) const {
        return !whittle::judge(Outcome{.outputs = one}, other, asked_.suspect.compared_by()).failed();
    }

    void compare() {
        const Expectation& expected = said_.expected;
        const bool alone = is_reference(backend_) && asked_.given.outputs.empty();
        if (alone || expected.outputs.empty()) {  // there is nothing to compare
            said_.verdict = Verdict::right;
            return;
        }
        const Accuracy accuracy = asked_.suspect.compared_by();
        if (accuracy.mode == Accuracy::Mode::exact)
            if (std::string why = not_exact(asked_.graph, asked_.inputs, expected.outputs); !why.empty())
                return not_judged(std::move(why));
        said_.compared = {expected.from};
        said_.outcome =
            whittle::judge(std::move(said_.outcome), asked_.graph, asked_.inputs, expected.outputs, accuracy);
        if (!said_.outcome.failed()) {
            said_.verdict = Verdict::right;
            return;
        }
        if (auto open = open_input(asked_.graph, asked_.inputs)) return not_judged(std::move(open->reason));
        RoundingDecision rounding =
            explained_by_rounding(asked_.graph, asked_.inputs, said_.outcome, expected.outputs, accuracy);
        fails();
        if (rounding.explained) {
            said_.verdict = Verdict::right;
            said_.reason = std::move(rounding.why);
            return;
        }
        said_.beyond_rounding = rounding.outside;
        if (rounding.too_wide) said_.reason += "; " + rounding.why;
        if (!said_.outcome.failed_at_gradients()) ask_others();
    }

    /// The backend's results are not those that were expected: who computes which?
    void ask_others() {
        const bool given = !asked_.given.outputs.empty();
        const std::string expected = given ? kExpected : said_.expected.from;
        std::vector<std::pair<std::string, Values>> all = {{name_, said_.outcome.outputs},
                                                           {expected, said_.expected.outputs}};
        if (given && !is_reference(backend_)) {
            const Values& eager = reference();
            if (said_.no_reference.empty()) all.emplace_back(kReferenceBackend, eager);
        }
        if (expected != kLibTorch)
            if (auto values = libtorch()) all.emplace_back(kLibTorch, std::move(*values));
        if (expected != plain_name())
            if (auto values = without_optimization()) all.emplace_back(plain_name(), std::move(*values));
        std::vector<const Values*> first;  // of each group
        for (const auto& [who, values] : all) {
            std::size_t group = 0;
            while (group < first.size() && !close(values, *first[group])) ++group;
            if (group == first.size()) first.push_back(&values), said_.agree.emplace_back();
            said_.agree[group].push_back(who);
            if (who != name_ && who != expected) said_.compared.push_back(who);
        }
        // Who agrees with the backend, and is another one, says that the expected results are wrong; nobody else may
        // say that they are right.
        const std::vector<std::string>& with_backend = said_.agree[0];
        const bool runs_libtorch = offered<RunsLibTorch>(backend_) != nullptr;
        const auto is_other = [&](const std::string& who) {
            return who != name_ && who != plain_name() && !(runs_libtorch && who == kLibTorch);
        };
        if (std::ranges::any_of(with_backend, is_other) && said_.agree[1].size() == 1)
            not_judged(join(with_backend, ", ") + " agree; " +
                       (given ? "the expected outputs (" + said_.expected.from + ") differ: "
                              : "the reference (" + expected + ") differs: ") +
                       said_.outcome.message);
    }

    const FailingCase& asked_;
    Backend& backend_;
    std::string name_;  ///< as the user calls the backend
    const bool opaque_ = !opaque_ops(asked_.graph).empty();
    Judgement said_;
    std::optional<Values> reference_;
};

bool alike(const Question& question, const Outcome& outcome) {
    if (!outcome.is_failure()) return false;
    const Signature seen = signature_of(outcome), &recorded = question.graph.failure->signature;
    if (seen == recorded) return true;
    if (question.any_values && seen.kind == name(Outcome::Kind::mismatch)) return seen.kind == recorded.kind;
    return question.any_words && seen.kind == name(Outcome::Kind::exception) && seen.kind == recorded.kind &&
           seen.stage == recorded.stage && seen.part == recorded.part;
}

Again again_of(const Question& question, Outcome& outcome, const Suspect& suspect) {
    const auto found = excuse(question.graph, question.graph.failure->inputs, outcome, question.expected, suspect);
    if (!alike(question, outcome)) return Again::otherwise;
    if (!found) return Again::fails;
    return found->verdict == Verdict::right ? Again::right : Again::otherwise;
}

std::string broken_text(const FailingCase& asked) { return "Whittle cannot read a part of the file: " + asked.broken; }

}  // namespace

std::string_view name(Verdict verdict) {
    static constexpr std::string_view kNames[] = {"right", "fails", "not_judged"};
    return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view words(Verdict verdict) { return verdict == Verdict::not_judged ? "not judged" : name(verdict); }

Verdict worst(std::span<const Verdict> verdicts) {
    for (const Verdict verdict : {Verdict::fails, Verdict::not_judged, Verdict::right})
        if (std::ranges::find(verdicts, verdict) != verdicts.end()) return verdict;
    return Verdict::not_judged;
}

bool leaves_nothing_to_run(const Graph& graph) {
    const std::vector<NodeId> results = graph.outputs();
    const auto constant = [&](NodeId id) { return graph.node({id}).kind == NodeKind::get_attr; };
    return !results.empty() && graph.calls().empty() && std::ranges::all_of(results, constant);
}

Judgement judge(const FailingCase& asked, Backend& backend) {
    const bool of_file = takes_file(asked, backend, asked.suspect) != nullptr;
    if (!of_file) {
        if (auto why = unknown_value(asked.graph)) return {.reason = std::move(*why)};
        if (!asked.broken.empty()) return {.reason = broken_text(asked)};
    }
    Judgement said = judge(asked, backend, run(asked, backend, asked.suspect));
    if (!said.fails() || !of_file) return said;
    if (!asked.broken.empty()) {
        said.only_file = broken_text(asked);
        return said;
    }
    FailingCase read = asked;
    read.file = nullptr;
    if (!judge(read, backend).fails()) said.only_file = kGraphDoesNotFail;
    return said;
}

Judgement judge(const FailingCase& asked, Backend& backend, Outcome ran) {
    Judgement judgement = CaseJudge(asked, backend).run(std::move(ran));
    if (judgement.right() && !judgement.outcome.no_gradients.empty() && asked.suspect.tier == Tier::computes)
        log_warning(LogChannel::run,
                    "graph " + asked.graph.name + ": gradients are not compared: " + judgement.outcome.no_gradients);
    return judgement;
}

Outcome query(const FailingCase& asked, Backend& backend) {
    if (const auto as_given = takes_file(asked, backend, asked.suspect))
        return run_suspect(asked.graph, asked.inputs, *as_given, asked.suspect);
    return query(asked.graph, asked.inputs, asked.given.outputs, backend, asked.suspect);
}

std::optional<Excuse> excuse(const Graph& graph, std::span<const Tensor> inputs, Outcome& outcome,
                             std::span<const Tensor> expected, const Suspect& suspect) {
    if (auto open = open_input(graph, inputs, outcome.kind == Outcome::Kind::mismatch))
        return Excuse{Verdict::not_judged, std::move(open->reason)};
    const Accuracy accuracy = suspect.compared_by();
    if (accuracy.mode == Accuracy::Mode::exact && outcome.kind == Outcome::Kind::mismatch) {
        std::string why = not_exact(graph, inputs, expected);
        return why.empty() ? std::nullopt : std::optional(Excuse{Verdict::not_judged, std::move(why)});
    }
    RoundingDecision rounding = explained_by_rounding(graph, inputs, outcome, expected, accuracy);
    if (rounding.explained) return Excuse{Verdict::right, std::move(rounding.why)};
    const bool may_round = suspect.beyond_rounding && rounding.inside;
    return may_round ? std::optional(Excuse{Verdict::not_judged, std::move(rounding.why)}) : std::nullopt;
}

std::optional<bool> right_unoptimized(const Graph& graph, std::span<const Tensor> inputs,
                                      std::span<const Tensor> expected, Backend& backend, Suspect suspect) {
    const auto options = unoptimized(graph, backend, suspect.options).options;
    if (!options) return std::nullopt;
    suspect.options = *options;
    const ArtifactPause nobody_asked;
    Outcome ran = query(graph, inputs, expected, backend, suspect);
    if (!ran.failed()) return true;
    const auto found = excuse(graph, inputs, ran, expected, suspect);
    return found && found->verdict == Verdict::right;
}

std::string heading_of(const Outcome& outcome) {
    return std::string(name(outcome.kind)) + (outcome.stage.empty() ? "" : " at " + outcome.stage) +
           (outcome.part.empty() ? "" : " of " + outcome.part);
}

std::string text_of(const Outcome& outcome) {
    return outcome.failed() ? heading_of(outcome) + ": " + outcome.message : "";
}

std::string failure_text(const Judgement& judgement) {
    return judgement.reason + (judgement.only_file.empty() ? "" : "; but " + judgement.only_file);
}

std::string text_of(Verdict verdict, const std::string& reason, const std::vector<std::string>& compared) {
    std::string text(words(verdict));
    if (verdict != Verdict::right) return text + ": " + reason;
    if (!compared.empty()) text += ": matches " + join(compared);
    return text + (reason.empty() ? "" : ", " + reason);
}

Answer ask_again(const Question& question, Backend& backend, int runs) {
    const Failure& failure = *question.graph.failure;
    Suspect suspect = suspect_of(failure, question.limits);
    if (question.spec) suspect.spec = *question.spec, suspect.options = {};
    if (question.options) suspect.options = *question.options;
    if (question.compares) suspect.tier = Tier::computes;
    Answer answer{.again = Again::right};
    for (int left = runs; left > 0 && answer.again != Again::fails; left--) {
        Outcome outcome = query(question.graph, failure.inputs, question.expected, backend, suspect);
        if (!outcome.failed() && answer.again == Again::otherwise) continue;
        if (outcome.failed()) answer.again = again_of(question, outcome, suspect);
        answer.outcome = std::move(outcome);
    }
    return answer;
}

Answer ask_again(const Question& question, Backend& backend) {
    return ask_again(question, backend, runs_until_passing(question.graph.failure->signature.rate));
}

bool still_fails(const Question& question, Backend& backend) {
    return ask_again(question, backend).again == Again::fails;
}

}  // namespace whittle
