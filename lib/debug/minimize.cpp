#include "debug/minimize.h"

#include <algorithm>

#include "backends/registry.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/suggest.h"
#include "debug/check.h"
#include "debug/diagnose.h"
#include "debug/minimize_file.h"
#include "debug/write_repro.h"
#include "graph/abilities.h"
#include "graph/releases.h"
#include "judge/divergence.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "reduce/deletion.h"
#include "reduce/journal.h"
#include "reduce/parallel.h"
#include "reduce/save.h"
#include "run/release_history.h"

namespace whittle::debug {
namespace fs = std::filesystem;

namespace {

using Ending = reduce::Minimized::Ending;

/// The suspect where its queries run in this process's children, and can be looked into.
const Suspect* at_hand(const Search& search) {
    const Suspect* suspect = search.suspect();
    return suspect && suspect->launcher.prefix.empty() ? suspect : nullptr;
}

/// The node whose value is the first to differ from the reference's when every value is exposed.
std::vector<std::string> first_divergent(const LoadedFrame& frame, Backend& backend, const Search& search) {
    constexpr std::size_t kFew = 8;  // calls: the search finds it as quickly
    const Suspect* suspect = at_hand(search);
    if (!suspect || suspect->tier == Tier::ends || frame.graph.calls().size() <= kFew) return {};
    try {
        const Divergence found =
            diverge(frame.graph, frame.inputs, backend, suspect->options, suspect->limits, suspect->accuracy);
        if (!found.first) return {};
        return {found.values[*found.first].node};
    } catch (const Interrupted&) {
        return {};
    }
}

/// What does not always come says in its signature how often it does.
void note(const Rate& rate, reduce::Minimized& result) {
    if (rate.flaky()) result.signature.rate = result.graph.failure->signature.rate = rate;
}

/// Writes what is to blame, and in which version, into the graph's failure; of wrong results, says whether they are
/// rounding noise, and of a compiler of which several releases are installed, since which of them it fails.
void blame(const LoadedFrame& frame, Minimized& done, Backend& backend, const Search& search) {
    const Suspect& suspect = *search.suspect();
    const auto stop = [&] { return search.stopped(); };
    Graph& graph = done.result.graph;
    try {
        graph.failure->version = version_of(backend, suspect.options);
        const Graph compiled = as_compiled(graph, backend);
        const std::string& compiler = compiled.failure->backend;
        const auto other = compiler == graph.failure->backend ? nullptr : find_backend(compiler);
        const DiagnoseOptions options{.limits = suspect.limits, .flaky = done.result.flaky.runs > 0, .stop = stop};
        Diagnosis found = diagnose(compiled, other ? *other : backend, options);
        if (!other) hold_against_model(frame.graph, frame.inputs, graph, found, backend, options);
        graph.failure->culprit = found.culprit;
        done.written.closeness = found.closeness;
        note(found.rate, done.result);
        if (stop()) return;
        const Graph& asked = other ? compiled : graph;
        done.written.releases = release_history(asked, other ? *other : backend, suspect.limits, stop);
        graph.failure->releases = done.written.releases ? done.written.releases->text() : "";
    } catch (const Interrupted&) {  // the graph is minimized all the same
    }
}

/// Whatever was asked failed, and so does a graph that does nothing: a command that cannot load its modules.
bool fails_on_nothing(const reduce::Minimized& result, Backend& backend, const Suspect& suspect) {
    const auto fails = [](const reduce::HistoryEntry& entry) { return entry.verdict == reduce::Verdict::fails; };
    if (!std::ranges::all_of(result.history, fails)) return false;
    Graph nothing{.name = "nothing", .dialect = result.graph.dialect, .opset_imports = result.graph.opset_imports};
    const ValueMeta one{.dtype = DType::f32, .sizes = {1}, .strides = {1}};
    nothing.output({nothing.placeholder("x", one)});
    const Outcome outcome = query(nothing, std::vector{Tensor(DType::f32, {1})}, {}, backend, suspect);
    return outcome.is_failure() && signature_of(outcome) == result.signature;
}

/// OUT.drifted-1.json …, in OUT's folder and format, for the other failures that were met; never the model itself.
std::vector<fs::path> save_drifted(const std::vector<Graph>& finds, const Search& search) {
    std::vector<fs::path> files;
    int number = 0;
    for (const Graph& graph : finds) {
        fs::path file;
        std::error_code ignored;
        do {
            file = search.output;
            file.replace_filename(search.output.stem().string() + ".drifted-" + std::to_string(++number) +
                                  search.output.extension().string());
        } while (fs::equivalent(file, search.model, ignored));
        reduce::save_minimized(graph, file);
        files.push_back(file);
    }
    return files;
}

/// Whether a command that reports failures reports one of a graph that does nothing: it does not read such files.
bool fails_on_everything(const Search& search, reduce::Oracle& oracle) {
    const auto& command = std::get<reduce::CommandOracleOptions>(search.judge);
    if (command.polarity != reduce::CommandOracleOptions::Polarity::check) return false;
    Graph nothing;
    nothing.name = "nothing";
    nothing.output(std::vector<NodeRef>());
    return oracle.observe({nothing, {}, {}, "a graph that does nothing"}).failed;
}

/// A command judges what its user has before it judges what was made of it: the file where its candidates are such
/// files, or where it cannot read the candidates; else its graph with nothing folded.
std::optional<reduce::AsGiven> as_given(const Search& search, const LoadedFrame& frame, reduce::Oracle& oracle) {
    if (!search.unfolded || search.suspect()) return std::nullopt;
    if (search.output.extension() == ".onnx" || fails_on_everything(search, oracle))
        return reduce::AsGiven{.file = frame.file};
    if (frame.folded.empty()) return std::nullopt;  // the graph is what was given
    return reduce::AsGiven{.graph = search.unfolded().graph};
}

/// The suspect as it compiles quickly, where there is such a way and the failure shows alike. Small graphs are not
/// worth the two questions. Of a search that goes on, the journal says how it was judged: asked again, what fails in
/// some runs only might be judged otherwise.
std::optional<Suspect> in_quick_tier(const LoadedFrame& frame, const Search& search, Backend& backend,
                                     const fs::path& journal) {
    constexpr std::size_t kMany = 20;  // calls
    const Suspect* full = at_hand(search);
    const Tiered* tiered = offered<Tiered>(backend);
    if (!full || !tiered || frame.graph.calls().size() < kMany) return std::nullopt;
    Suspect quick = *full;
    quick.options = tiered->quick(full->options);
    if (quick.options == full->options) return std::nullopt;
    if (const auto asked = search.resume ? reduce::journal_identity(journal) : std::nullopt) {
        const auto oracle = reduce::backend_oracle(backend, quick);
        const bool quickly = *asked == reduce::Identity(*oracle)(frame.graph, frame.inputs);
        return quickly ? std::optional(quick) : std::nullopt;
    }
    try {
        const auto expected =
            full->tier == Tier::computes ? evaluate(frame.graph, frame.inputs) : std::vector<Tensor>();
        const Outcome slow = query(frame.graph, frame.inputs, expected, backend, *full);
        if (!slow.is_failure()) return std::nullopt;
        const Outcome fast = query(frame.graph, frame.inputs, expected, backend, quick);
        if (!fast.is_failure() || signature_of(fast) != signature_of(slow)) return std::nullopt;
    } catch (const Error&) {  // of the reference: the search says it
        return std::nullopt;
    }
    log_info(LogChannel::reduce, backend.name() + " fails alike where it compiles quickly: followed there");
    return quick;
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

/// A model that is computed right without optimization is minimized to one of which that is true: else the search may
/// leave the optimizer's fault for another.
void keep_right_unoptimized(const LoadedFrame& frame, const Judgement& said, Search& search, Backend& backend) {
    Suspect& suspect = std::get<Suspect>(search.judge);
    if (!said.fails() || said.outcome.kind != Outcome::Kind::mismatch || !suspect.launcher.prefix.empty()) return;
    suspect.optimized_only =
        right_unoptimized(frame.graph, frame.inputs, said.expected.outputs, backend, suspect).value_or(false);
}

/// Of a graph with calls that Whittle does not know, what such calls compute is unknown: candidates are judged by how
/// they end. Throws Error where that is not how the model fails.
void prepare_for_opaque(const LoadedFrame& frame, const std::optional<Judgement>& said, Search& search,
                        const Observer& observer) {
    const std::vector<std::string> ops = opaque_ops(frame.graph);
    if (ops.empty()) return;
    if (search.compares()) {
        if (said && said->fails() && said->outcome.kind == Outcome::Kind::mismatch)
            throw Error({frame.file.string(), {}},
                        text_of(*said) + "; it cannot be minimized: Whittle does not know " + join(ops));
        std::get<Suspect>(search.judge).tier = Tier::ends;
    }
    observer.warn(frame.file.string() + ": Whittle does not know " + join(ops) +
                  ": of candidates that begin behind such a call, the inputs are random");
}

/// Refers to what it is made of.
reduce::MinimizeOptions options_of(const Search& search, const LoadedFrame& frame, const Judging& judge,
                                   const Observer& observer, bool failed) {
    reduce::MinimizeOptions options;
    options.passes = search.passes;
    options.jobs = search.jobs;
    options.repeat = search.repeat;
    options.search.step_limit = search.step_limit;
    options.search.mode = search.mode;
    options.search.stop = [&] { return search.stopped(); };
    if (search.stored) options.signature = search.stored->signature;
    if (judge.backend) options.likely = [&] { return first_divergent(frame, *judge.backend, search); };
    options.improved = [&](const Graph& graph) { reduce::save_minimized(graph, search.output); };
    options.progress = observer.progress;
    options.has_failed = failed;
    options.as_given = as_given(search, frame, *judge.oracle);
    return options;
}

/// Looks for the culprit, and writes what was found.
void write_result(Minimized& done, const LoadedFrame& frame, const Search& search, const Judging& judge) {
    done.written.output = search.output;
    const reduce::Flakiness& flaky = done.result.flaky;
    note({static_cast<int>(flaky.failures), static_cast<int>(flaky.runs)}, done.result);
    if (at_hand(search) && done.result.ending == Ending::minimized) blame(frame, done, *judge.backend, search);
    if (const Suspect* suspect = at_hand(search); suspect && suspect->tier == Tier::ends)
        done.written.fails_on_nothing = fails_on_nothing(done.result, *judge.backend, *suspect);
    reduce::save_minimized(done.result.graph, search.output);
    done.written.drifted = save_drifted(done.result.drifted, search);
}

void warn_of_folding(const LoadedFrame& frame, const std::string& failure, const Observer& observer) {
    observer.warn(frame.file.string() + " fails (" + failure + "), but not without the " +
                  reduce::folded_text(frame.folded) + " that were computed while reading it: going on with them");
}

Minimized minimize_graph(const LoadedFrame& frame, const Search& asked, const Observer& observer) {
    Search search = asked;
    Judging judge = judging(search);
    Minimized done{.judge = judge.oracle->name(), .file = frame.file.string()};
    if (judge.backend) {
        const int runs = frame.expected.empty() ? 1 : search.repeat;  // else the search repeats
        done.written.judgement = judge_repeatedly(frame, *search.suspect(), *judge.backend, runs);
        done.rewritten = frame.rewritten;
        if (!worth_a_search(*done.written.judgement)) {
            done.result.message = done.written.judgement->reason;
            return done;
        }
    }
    prepare_for_opaque(frame, done.written.judgement, search, observer);
    if (done.written.judgement) keep_right_unoptimized(frame, *done.written.judgement, search, *judge.backend);
    if (judge.backend) judge.oracle = reduce::backend_oracle(*judge.backend, *search.suspect());
    fs::path journal_file = search.output;
    journal_file += ".journal";
    if (auto quick = judge.backend ? in_quick_tier(frame, search, *judge.backend, journal_file) : std::nullopt) {
        judge.oracle = reduce::backend_oracle(*judge.backend, *quick);
        search.judge = std::move(*quick);
    }
    reduce::ParallelOracle parallel(*judge.oracle, search.jobs);
    reduce::JournalingOracle journal(parallel, journal_file, reduce::Identity(*judge.oracle)(frame.graph, frame.inputs),
                                     search.resume);

    const CleanUpScope scope;  // an interrupt ends the search, not us
    // Of the graph itself: what Whittle makes of a file may be right.
    const bool failed = done.written.judgement && done.written.judgement->fails() && !frame.onnx;
    reduce::MinimizeOptions options = options_of(search, frame, judge, observer, failed);
    done.written.stored = search.stored.has_value();
    if (options.as_given) done.written.folded = frame.folded;
    try {
        done.result = reduce::minimize(frame.graph, frame.inputs, journal, options);
        done.searched = true;
    } catch (const reduce::CannotRun& error) {
        if (!done.written.judgement) throw;
        done.no_candidates = error.what();
    }
    if (done.result.hidden && !frame.folded.empty()) {
        warn_of_folding(frame, done.result.signature.text(), observer);
        const LoadedFrame unfolded = search.unfolded();
        options.as_given.reset();
        options.signature = done.result.signature;
        done.written.folded.clear();
        done.result = reduce::minimize(unfolded.graph, unfolded.inputs, journal, options);
        if (!done.failed()) done.result.hidden = true, done.result.signature = *options.signature;
    }
    done.written.replayed = journal.replayed();
    if (done.failed()) write_result(done, frame, search, judge);
    if (done.result.ending != Ending::interrupted) journal.remove();
    return done;
}

/// Whether the file fails and no graph of it does, in a way that parts of the file may show.
bool only_file_fails(const LoadedFrame& frame, const Minimized& done, const Search& search) {
    if (done.failed() || search.output.extension() != ".onnx") return false;
    if (!search.suspect()) return done.result.hidden;
    const Judgement& said = *done.written.judgement;
    return frame.onnx && said.fails() && said.outcome.kind != Outcome::Kind::mismatch && at_hand(search);
}

/// Whether the backend fails at the file and not at the graph, for ops of the file were computed while reading it.
bool folding_hides(const LoadedFrame& frame, const Minimized& done, const Search& search) {
    const std::optional<Judgement>& said = done.written.judgement;
    const Ending ending = done.result.ending;
    return said && said->fails() && (ending == Ending::not_failing || ending == Ending::unsupported) &&
           !frame.folded.empty() && search.unfolded && !search.stored;
}

}  // namespace

Minimized minimize(const LoadedFrame& frame, const Search& search, const Observer& observer) {
    if (!frame.unread.empty()) return minimize_file(frame, search, observer);
    Minimized done = minimize_graph(frame, search, observer);
    if (folding_hides(frame, done, search)) {
        warn_of_folding(frame, signature_of(done.written.judgement->outcome).text(), observer);
        Search unfolded = search;
        unfolded.unfolded = {};
        done = minimize_graph(search.unfolded(), unfolded, observer);
    }
    if (!only_file_fails(frame, done, search)) return done;
    observer.warn(frame.file.string() + " fails, but not the graph that Whittle reads from it: minimizing the file");
    Minimized part = minimize_file(frame, search, observer);
    if (!part.failed()) return done;
    part.written.judgement = std::move(done.written.judgement);
    part.rewritten = std::move(done.rewritten);
    return part;
}

fs::path numbered_result(fs::path output, std::size_t number) {
    return output.replace_filename(output.stem().string() + '-' + std::to_string(number) + output.extension().string());
}

}  // namespace whittle::debug
