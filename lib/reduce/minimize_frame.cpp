#include "reduce/minimize_frame.h"

#include <algorithm>

#include "backends/registry.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/words.h"
#include "diagnose/diagnose.h"
#include "graph/abilities.h"
#include "judge/divergence.h"
#include "judge/frames.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "reduce/report.h"
#include "reduce/save.h"

namespace whittle::reduce {
namespace fs = std::filesystem;

namespace {

using Ending = Minimized::Ending;

/// The suspect where its queries run in this process's children, and can be looked into.
const Suspect* at_hand(const Request& request) {
    const Suspect* suspect = request.suspect();
    return suspect && suspect->launcher.prefix.empty() ? suspect : nullptr;
}

/// The node whose value is the first to differ from the reference's when every value is exposed.
std::vector<std::string> first_divergent(const LoadedFrame& frame, Backend& backend, const Request& request) {
    constexpr std::size_t kFew = 8;  // calls: the search finds it as quickly
    const Suspect* suspect = at_hand(request);
    if (!suspect || suspect->tier == Tier::ends || frame.graph.calls().size() <= kFew) return {};
    try {
        const Divergence found =
            diverge(frame.graph, frame.inputs, backend, suspect->options, suspect->limits, suspect->compared_by());
        if (!found.first) return {};
        return {found.values[*found.first].node};
    } catch (const Interrupted&) {
        return {};
    }
}

/// What does not always come says in its signature how often it does.
void note(const Rate& rate, Minimized& done) {
    if (rate.flaky()) done.signature.rate = done.smallest.graph.failure->signature.rate = rate;
}

/// Writes what is to blame, and in which version, into the graph's failure; of wrong results, says whether they are
/// rounding noise, and of a compiler of which several releases are installed, since which of them it fails.
void blame(const LoadedFrame& frame, Minimized& done, Backend& backend, const Request& request) {
    const Suspect& suspect = *request.suspect();
    const auto stop = [&] { return request.how.stopped(); };
    Graph& graph = done.smallest.graph;
    try {
        graph.failure->version = version_of(backend, suspect.options);
        diagnose::Diagnosis found =
            diagnose::diagnose(graph, backend, {.limits = suspect.limits, .stop = stop, .model = &frame});
        graph.failure->culprit = std::move(found.culprit);
        graph.failure->releases = found.releases ? found.releases->text() : "";
        done.closeness = found.closeness;
        done.releases = std::move(found.releases);
        note(found.rate, done);
    } catch (const Interrupted&) {  // the graph is minimized all the same
    }
}

/// A graph that returns what it is given.
Graph nothing_like(const Graph& graph) {
    Graph nothing = blank_graph(graph, "nothing");
    nothing.output({nothing.placeholder("x", {.dtype = DType::f32, .sizes = {1}, .strides = {1}})});
    return nothing;
}

/// Whatever was asked failed, and so does a graph that does nothing: a command that cannot load its modules.
bool fails_on_nothing(const Minimized& done, Backend& backend, const Suspect& suspect) {
    const auto fails = [](const HistoryEntry& entry) { return entry.result == TestResult::fails; };
    if (!std::ranges::all_of(done.history, fails)) return false;
    const Outcome outcome =
        query(nothing_like(done.smallest.graph), std::vector{Tensor(DType::f32, {1})}, {}, backend, suspect);
    return outcome.is_failure() && signature_of(outcome) == done.signature;
}

/// Whether a command that reports failures reports one of a graph that does nothing: it does not read such files.
bool fails_on_everything(const Request& request, Oracle& oracle) {
    if (std::get<CommandOracleOptions>(request.judge).polarity != "check") return false;
    Graph nothing{.name = "nothing"};
    nothing.output(std::vector<NodeRef>());
    return oracle.observe({nothing}).failed;
}

/// A command judges what its user has before it judges what was made of it: the file where its candidates are such
/// files, or where it cannot read the candidates; else its graph with nothing folded.
std::optional<Case> as_given(const Request& request, const LoadedFrame& frame, const Deletion& deletion,
                             Oracle& oracle) {
    if (!request.unfolded || request.suspect()) return std::nullopt;
    Case given = deletion.original().value_or(deletion.whole());
    if (request.output.extension() == ".onnx" || fails_on_everything(request, oracle)) {
        given.file = std::make_shared<OnnxFile>(OnnxFile{.model = frame.file});
        return given;
    }
    if (frame.folded.empty()) return std::nullopt;  // the graph is what was given
    given.graph = request.unfolded().graph;
    return given;
}

/// The backend computes what was given: that the reference computes something else is not its fault.
bool is_as_given(const Judgement& said) {
    return said.right() && !said.compared.empty() && said.expected.from != kReferenceBackend;
}

/// Whether a search, which compares with the reference, may find less that fails: the model fails, or may do so in a
/// later run.
bool worth_a_search(const Judgement& said) {
    return said.fails() || (said.right() && said.reason.empty() && !is_as_given(said)) ||
           said.outcome.kind == Outcome::Kind::unresolved;
}

/// Minimizes one frame: its graph; where reading it hid the failure, the graph with nothing folded; and where no graph
/// of it fails, its file.
class FrameMinimizer {
  public:
    FrameMinimizer(const LoadedFrame& frame, const Request& request, const Observer& observer)
        : frame_(frame),
          request_(request),
          observer_(observer),
          judging_(request.judge),
          backend_(judging_.backend.get()) {}

    Minimized run() {
        Minimized done = frame_.unread.empty() ? of_graph(frame_, request_) : of_file();
        if (folding_hides(done)) {
            observer_.warn(frame_.file.string() + " fails (" + failure_of(done).text() +
                           "), but does not fail after Whittle replaced " + folded_text(frame_.folded) +
                           " by constants; minimizing the graph with these ops");
            Request unfolded = request_;
            unfolded.unfolded = {};
            if (!backend_) signature_ = done.signature;
            done = of_graph(request_.unfolded(), unfolded);
            if (!backend_ && !done.failed()) done.hidden = true, done.signature = *signature_;
        }
        if (only_file_fails(done)) {
            const std::string why = done.judgement ? done.judgement->only_file : std::string();
            observer_.warn(frame_.file.string() + " fails, but " + (why.empty() ? kGraphDoesNotFail : why) +
                           "; minimizing the file instead of the graph");
            Minimized part = of_file();
            if (part.failed()) {
                part.judgement = std::move(done.judgement);
                part.rewritten = std::move(done.rewritten);
                done = std::move(part);
            }
        }
        done.judge = judging_.oracle->name();
        done.file = frame_.file;
        if (journal_) done.replayed = journal_->replayed();
        if (journal_ && done.ending != Ending::interrupted) journal_->remove();
        return done;
    }

  private:
    Minimized of_graph(const LoadedFrame& frame, Request asked) {
        std::optional<Judgement> said;
        if (backend_) {
            const std::int64_t runs = frame.expected.empty() ? 1 : asked.how.repeat;  // else the search repeats
            said = judge_repeatedly(frame, *asked.suspect(), *backend_, static_cast<int>(runs));
            const bool runnable = frame.breaks.empty() && !leaves_nothing_to_run(frame.graph);
            if (!worth_a_search(*said) || !runnable)
                return {.message = said->reason,
                        .judgement = said,
                        .no_candidates = frame.breaks.empty() ? "" : said->only_file,
                        .rewritten = frame.rewritten};
        }
        prepare_for_opaque(frame, said, asked);
        if (said) keep_right_unoptimized(frame, *said, asked);
        if (said) std::get<Suspect>(asked.judge).beyond_rounding = said->beyond_rounding;
        if (auto quick = in_quick_tier(frame, asked)) asked.judge = std::move(*quick);
        const auto oracle = backend_ ? backend_oracle(*backend_, *asked.suspect()) : nullptr;
        Goal goal;
        if (backend_) goal.likely = [&] { return first_divergent(frame, *backend_, asked); };
        goal.signature = signature_;
        // Of the graph itself: what Whittle makes of a file may be right.
        goal.has_failed = said && said->fails() && !frame.onnx;
        Minimized done;
        try {
            const auto deletion = deletion_of_calls(frame.graph, frame.inputs);
            opened_journal();  // before the command is asked: another search may have it
            goal.as_given = as_given(asked, frame, *deletion, *judging_.oracle);
            done = search(*deletion, oracle ? *oracle : *judging_.oracle, goal, asked.how);
            done.searched = true;
            if (goal.as_given) done.folded = frame.folded;
        } catch (const CannotRun& error) {
            if (!said) throw;
            done.no_candidates = error.what();
        }
        done.judgement = std::move(said);
        done.rewritten = frame.rewritten;
        done.stored = request_.stored.has_value();
        if (done.failed()) write(done, frame, asked);
        return done;
    }

    /// Parts of the file as it stands. The result has no failure beside it, for which a graph is needed.
    Minimized of_file() {
        if (request_.output.extension() != ".onnx")
            throw Error({request_.output.string(), {}},
                        "found a name without .onnx, expected -o FILE.onnx: the result is a part of the ONNX file");
        Strategy deleting = request_.how;
        std::erase_if(deleting.passes, [](const std::string& pass) { return pass != kDeletion; });
        Goal goal;
        Minimized done = search(*deletion_of_nodes(frame_), *judging_.oracle, goal, deleting);
        if (done.failed()) save(done);
        return done;
    }

    Minimized search(const Deletion& deletion, Oracle& oracle, Goal& goal, const Strategy& how) {
        goal.progress = observer_.progress;
        goal.improved = [&](const Case& smaller) { save_minimized(smaller, request_.output); };
        Journal& journal = opened_journal();
        if (!scope_) scope_.emplace();
        return reduce::minimize(deletion, oracle, how, goal, &journal);
    }

    /// One for all that is searched.
    Journal& opened_journal() {
        if (journal_) return *journal_;
        fs::path file = request_.output;
        file += ".journal";
        Case whole{frame_.graph, frame_.inputs};
        if (!frame_.unread.empty()) whole.file = std::make_shared<OnnxFile>(OnnxFile{.model = frame_.file});
        return journal_.emplace(file, Identity(*judging_.oracle)(whole), request_.how.resume);
    }

    /// The suspect as it compiles quickly, where there is such a way and the failure shows alike. Small graphs are not
    /// worth the two questions. The journal keeps the answers: asked again, what fails in some runs only might be
    /// judged otherwise.
    std::optional<Suspect> in_quick_tier(const LoadedFrame& frame, const Request& asked) {
        constexpr std::size_t kMany = 20;  // calls
        const Suspect* full = at_hand(asked);
        const Tiered* tiered = full ? offered<Tiered>(*backend_) : nullptr;
        // What compiles quickly may be slow for that reason.
        if (!tiered || full->slower || frame.graph.calls().size() < kMany) return std::nullopt;
        Suspect quick = *full;
        quick.options = tiered->quick(full->options);
        if (quick.options == full->options) return std::nullopt;
        try {
            Case whole{frame.graph, frame.inputs};
            if (full->tier == Tier::computes) whole.expected = evaluate(frame.graph, frame.inputs);
            const auto seen = [&](Suspect suspect) {
                suspect.optimized_only = false;
                const auto oracle = backend_oracle(*backend_, std::move(suspect));
                return Queries(*oracle, asked.how, &opened_journal()).observe(whole);
            };
            const Observation slow = seen(*full);
            if (!slow.failed || slow.unresolved) return std::nullopt;
            const Observation fast = seen(quick);
            if (!fast.failed || fast.unresolved || fast.signature != slow.signature) return std::nullopt;
        } catch (const Error&) {  // of the reference: the search says it
            return std::nullopt;
        }
        log_info(LogChannel::reduce,
                 backend_->name() + " fails in the same way in the backend's quick mode; the search uses this mode");
        return quick;
    }

    /// A model that is computed right without optimization is minimized to one of which that is true: else the search
    /// may leave the optimizer's fault for another.
    void keep_right_unoptimized(const LoadedFrame& frame, const Judgement& said, Request& asked) {
        Suspect& suspect = std::get<Suspect>(asked.judge);
        if (!said.fails() || said.outcome.kind != Outcome::Kind::mismatch || !suspect.launcher.prefix.empty()) return;
        suspect.optimized_only =
            right_unoptimized(frame.graph, frame.inputs, said.expected.outputs, *backend_, suspect).value_or(false);
    }

    /// Of a graph with calls that Whittle does not know, what such calls compute is unknown: candidates are judged by
    /// how they end. Throws Error where that is not how the model fails.
    void prepare_for_opaque(const LoadedFrame& frame, const std::optional<Judgement>& said, Request& asked) {
        const std::vector<std::string> ops = opaque_ops(frame.graph);
        if (ops.empty()) return;
        if (Suspect* const suspect = std::get_if<Suspect>(&asked.judge); suspect && suspect->tier == Tier::computes) {
            if (said && said->fails() && said->outcome.kind == Outcome::Kind::mismatch)
                throw Error({frame.file.string(), {}},
                            text_of(*said) +
                                "; this failure cannot be minimized, because Whittle does not know the ops " +
                                join(ops));
            suspect->tier = Tier::ends;
        }
        observer_.warn(frame.file.string() + ": Whittle does not know the ops " + join(ops) +
                       "; candidates that start after a call of such an op get random inputs");
    }

    /// Looks for the culprit, and writes what was found.
    void write(Minimized& done, const LoadedFrame& frame, const Request& asked) {
        note({static_cast<int>(done.flaky.failures), static_cast<int>(done.flaky.runs)}, done);
        if (std::optional<Failure>& failure = done.smallest.graph.failure) failure->python = interpreter_of(frame);
        const Suspect* suspect = at_hand(asked);
        if (suspect && done.ending == Ending::minimized) blame(frame, done, *backend_, asked);
        if (suspect && suspect->tier == Tier::ends) done.fails_on_nothing = fails_on_nothing(done, *backend_, *suspect);
        save(done);
    }

    /// The other failures that were met go to OUT.drifted-1.json …, in OUT's folder and format; never the model itself.
    void save(Minimized& done) {
        done.output = request_.output;
        save_minimized(done.smallest, done.output);
        std::size_t number = 0;
        for (const Case& other : done.drifted) {
            fs::path file;
            std::error_code ignored;
            do file = numbered_result(done.output, ++number, ".drifted-");
            while (fs::equivalent(file, request_.model, ignored));
            save_minimized(other, file);
            done.drifted_files.push_back(file);
        }
    }

    /// How the model fails, of which a graph does not.
    static Signature failure_of(const Minimized& done) {
        return done.judgement ? signature_of(done.judgement->outcome) : done.signature;
    }

    /// Whether the file fails and the graph does not, for ops of the file were computed while reading it.
    bool folding_hides(const Minimized& done) const {
        if (frame_.folded.empty() || !frame_.breaks.empty() || !request_.unfolded) return false;
        if (!backend_) return done.hidden;
        return done.judgement && done.judgement->fails() && !request_.stored &&
               (done.ending == Ending::not_failing || done.ending == Ending::unsupported);
    }

    /// Whether the file fails and no graph of it does, in a way that parts of the file may show.
    bool only_file_fails(const Minimized& done) const {
        if (!frame_.unread.empty() || done.failed() || request_.output.extension() != ".onnx") return false;
        if (!backend_) return done.hidden;
        const Judgement& said = *done.judgement;
        return frame_.onnx && said.fails() && said.outcome.kind != Outcome::Kind::mismatch && at_hand(request_);
    }

    const LoadedFrame& frame_;
    const Request& request_;
    const Observer& observer_;
    const Judging judging_;
    Backend* const backend_;  ///< null: a command judges
    std::optional<Signature> signature_ =
        request_.stored ? std::optional(request_.stored->signature) : std::nullopt;  ///< the failure to follow
    std::optional<Journal> journal_;
    std::optional<CleanUpScope> scope_;  ///< an interrupt ends the search, not us
};

}  // namespace

Minimized minimize(const LoadedFrame& frame, const Request& request, const Observer& observer) {
    Request own = request;
    if (Suspect* const suspect = std::get_if<Suspect>(&own.judge)) suspect->accuracy = accuracy_for(frame, *suspect);
    return FrameMinimizer(frame, own, observer).run();
}

bool MinimizedModel::good() const { return !results.empty() && std::ranges::all_of(results, &Minimized::failed); }

Verdict MinimizedModel::verdict() const {
    return !results.empty() ? Verdict::fails : !not_judged.empty() ? Verdict::not_judged : Verdict::right;
}

MinimizedModel minimize(const std::vector<LoadedFrame>& frames, const Request& request, const Observer& observer) {
    MinimizedModel all{.graphs = frames.size()};
    const auto add = [&](const LoadedFrame& frame, const Request& own) {
        all.results.push_back(minimize(frame, own, observer));
        observer.ended(all.results.back(), own);
    };
    if (frames.size() == 1) {
        add(frames[0], request);
        return all;
    }
    const Findings found = check(frames, request);
    all.not_judged = found.not_judged;
    observer.checked(found);
    for (const Findings::Failing& failing : found.failing) {
        Request own = request;
        if (found.failing.size() > 1) own.output = numbered_result(request.output, all.results.size() + 1);
        observer.begins(failing);
        add(*failing.smallest, own);
        throw_if_interrupted();
    }
    return all;
}

}  // namespace whittle::reduce
