#include "repro/repro.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/words.h"
#include "compile/gradients.h"
#include "compile/planned.h"
#include "diagnose/compiled.h"
#include "diagnose/diagnose.h"
#include "diagnose/diagnosis_report.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/suspect.h"
#include "ops/core/opaque.h"
#include "passes/widen.h"
#include "printers/short_program.h"
#include "repro/steps.h"
#include "repro/verify.h"
#include "text/language.h"

namespace whittle::repro {
namespace fs = std::filesystem;

namespace {

/// The part of a backend that interprets a graph which passes made.
class Interpreting final : public Emitter {
  public:
    explicit Interpreting(Graph instead) : instead_(std::move(instead)) {}

    SuspectCode emit(const EmitRequest& request) override {
        const Failure& failure = *request.graph.failure;
        SuspectCode code{
            .code = "// The graph after the passes:\n" + commented(print(instead_)),
            .name = failure.backend,
            .label = (failure.culprit ? "the " + failure.culprit->text() : "the passes") + " of Whittle",
            .header = failure.backend + ", which interprets the graph after the passes",
        };
        const std::size_t given = request.graph.placeholders().size(), expected = instead_.placeholders().size();
        if (given != expected) {
            code.code += refusing(given, expected);
            code.leaves = request.graph;  // without loops, which are made by the passes that are under suspicion
            return code;
        }
        std::optional<LoopsCode> loops = program::loops_code(instead_, request.outputs, "under_test");
        if (!loops)
            throw Error("cannot write the graph of " + failure.backend +
                        " as loops: an op of the graph cannot be written as loops");
        code.support = loops->support;
        code.code += loops->code;
        code.leaves = loops->graph;
        return code;
    }

  private:
    /// Whoever interprets the graph counts first.
    std::string refusing(std::size_t given, std::size_t expected) const {
        const std::string inputs = std::to_string(given), placeholders = std::to_string(expected);
        return "static void under_test(Outputs&) {\n    const int inputs = " + inputs +
               ", placeholders = " + placeholders +
               ";\n    if (inputs != placeholders)\n        throw std::runtime_error(" +
               language::cpp.quoted_lines("graph " + instead_.name + ": found " + inputs + " inputs, expected " +
                                          placeholders) +
               ");\n}\n";
    }

    static std::string commented(const std::string& text) {
        std::string result;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) result += "//   " + line + "\n";
        return result;
    }

    const Graph instead_;
};

/// What is shown of the graph: what was compiled when it failed, or interpreted.
Repro shown_of(const Graph& graph, Backend& backend) {
    if (std::optional<program::Interpreted> run = diagnose::wrongly_interpreted(backend, graph))
        return {.graph = std::move(run->asked), .instead = std::move(run->instead)};
    if (graph.failure->signature.at_gradients() && own_gradients(backend, graph.failure->options)) {
        JointShape shape;
        Graph joint = program::joint_alone(graph, shape);
        return {.graph = std::move(joint), .gradients = std::move(shape), .differentiated = graph};
    }
    if (std::optional<Graph> run = diagnose::run_by_interpreter(backend, graph)) return {.graph = std::move(*run)};
    Repro repro{.graph = diagnose::as_compiled(graph, backend)};
    std::string& detail = repro.graph.failure->signature.detail;
    detail = diagnose::without_place(detail);
    return repro;
}

/// What a folder needs to show the failure, and where it is built.
void write_all(const fs::path& folder, const Options& options, const Repro& repro) {
    write_program(place_in(folder, repro.program, options), repro.program, options);
    if (options.bundle) write_bundle(folder, repro, options);
}

/// What a bundle consists of that was written to a folder which has nothing else, with the program that is made of it.
std::set<fs::path> contents_of(const fs::path& folder, const Options& options, const ReproProgram& program) {
    std::set<fs::path> files = files_below(folder);
    if (!build_command(program, options).empty()) files.insert(program.folder ? "run" : options.stem());
    return files;
}

/// Writes it where it was asked for. `contents`: of a bundle.
void write_out(const std::set<fs::path>& contents, const Options& options, Repro& repro) {
    const fs::path root = options.file().parent_path();
    write_all(root, options, repro);
    if (options.issue) write_file(*options.issue, issue_text(repro, options));
    if (options.bundle) note_contents(root, contents);
    const auto [folder, file] = place_in(root, repro.program, options);
    repro.output = file;
    for (const ReproProgram::File& beside : repro.program.files) repro.sidecars.push_back(folder / beside.name);
    for (const OtherProgram& other : repro.program.others) repro.sidecars.push_back(folder / other.name);
    if (repro.program.folder)
        for (const fs::path& companion : repro.program.companions)
            repro.sidecars.push_back(folder / companion.filename());
}

// ---- the short program ----------------------------------------------------------------------------------------------

/// With its short program, written where it shows the failure. Nothing: why_not says why. `is_final`: whether the
/// program, which fails, is not replaced by another one; what is replaced is neither checked nor written.
std::optional<Repro> in_short(
    Repro repro, const Options& options, std::string& why_not,
    const std::function<bool(const Repro&)>& is_final = [](const Repro&) { return true; }) {
    const TempDir elsewhere("whittle-repro");
    write_all(elsewhere.path(), options, repro);
    const std::set<fs::path> contents = contents_of(elsewhere.path(), options, repro.program);
    if (options.runs > 0) {
        verify(elsewhere.path(), options, repro);
        if (repro.verified && !is_final(repro)) return repro;
        if (repro.verified && repro.program.given_expected) verify_check(options, repro);
        if (!repro.verified) {
            log_info(LogChannel::repro, "the short program:\n" + repro.program.text);
            return why_not = repro.message, std::nullopt;
        }
    }
    write_out(contents, options, repro);
    return repro;
}

std::optional<Repro> short_of_kernel(Repro repro, Backend& backend, program::KernelPrograms& programs,
                                     const Options& options, std::string& why_not) {
    if (!show_kernel(repro, backend, programs, options, why_not)) return std::nullopt;
    ask_also(options, repro);
    return in_short(std::move(repro), options, why_not);
}

/// Whether the text has the number, which may be printed with six digits. `wanted`: as short_number_at() writes it.
bool has_number(const std::string& text, const std::string& wanted) {
    if (wanted == "true" || wanted == "false")  // "True" in Python
        return text.find(wanted.substr(1)) != std::string::npos;
    const auto read = [](const char*& at, const char* end, double& number) {
        const auto [behind, error] = std::from_chars(at, end, number);
        at = error == std::errc() ? behind : at + 1;
        return error == std::errc();
    };
    double value = 0;
    const char* first = wanted.data();
    read(first, wanted.data() + wanted.size(), value);
    const auto same = [&](double number) {
        return std::isnan(value) ? std::isnan(number)
                                 : number == value || std::fabs(number - value) <= 1e-5 * std::fabs(value);
    };
    double number = 0;
    for (const char *at = text.data(), *end = at + text.size(); at != end;)
        if (read(at, end, number) && same(number)) return true;
    return false;
}

/// Whether what PyTorch computes in eager mode is further from the results in f64 than the tolerance: the reference
/// computes as PyTorch does. Not of calls that name a dtype, which would round the results in f64, too.
bool eager_is_inexact(const Repro& repro) {
    const auto is_dtype = [](const Arg& arg) { return std::holds_alternative<DType>(arg.value); };
    for (const Node& node : repro.graph.nodes)
        if (std::ranges::any_of(node.args, is_dtype) ||
            std::ranges::any_of(node.kwargs, [&](const auto& entry) { return is_dtype(entry.second); }))
            return false;
    const auto exact = evaluate_exactly(repro.graph, repro.failure().inputs);
    for (std::size_t i = 0; exact && i < repro.expected.size(); i++) {
        const Tensor& eager = repro.expected[i];
        if (is_floating(eager.dtype()) &&
            compare(eager, exact->at(i).to(eager.dtype()), repro.failure().accuracy.tolerance(eager.dtype())))
            return true;
    }
    return false;
}

/// The short program of a graph, or the longer one where that alone shows the failure; once more in other words where
/// another run computes something else. Nothing: why_not says why.
std::optional<Repro> short_of_graph(const Repro& known, Backend& backend, Emitter& emitter, const Options& options,
                                    std::string& why_not) {
    const Failure& failure = known.failure();
    const bool mismatch = failure.signature.kind == name(Outcome::Kind::mismatch);
    const Graph& asked = known.differentiated ? *known.differentiated : known.graph;
    Outcome outcome;  // only wrong values are shown; a hang would take its whole limit
    if (mismatch)
        outcome =
            query(asked, asked.failure->inputs,
                  std::span(known.expected).first(known.gradients ? known.gradients->outputs : known.expected.size()),
                  backend, suspect_of(failure));
    append(outcome.outputs, outcome.gradients);  // together those of the joint graph
    const Blame blame = diagnose::blame_of(asked, backend, {});
    ShortRequest request{known.graph, known.expected, outcome.outputs, options.file(), options.alarm, blame};
    request.gradients = known.gradients;
    request.in_f64 = mismatch && eager_is_inexact(known);
    // Where a switch makes it right, that says what matters, but not in the title of a long graph.
    constexpr std::int64_t kFewCalls = 2;
    const bool controlled = blame.controlled();
    if (!known.gradients && (!controlled || op_count(known.graph) > kFewCalls))
        request.near =
            near_case(known, outcome.failed() ? request.got : std::span<const Tensor>(), controlled, backend);
    const bool values = !wrong_sizes(request) && !wrong_dtype(request);
    const auto wrong = values ? first_wrong(request) : std::nullopt;

    const auto ask = [&](bool given_expected) -> std::shared_ptr<ReproProgram> {
        request.given_expected = given_expected;
        try {
            const std::optional<ReproProgram> program = emitter.short_program(request, why_not);
            return program ? std::make_shared<ReproProgram>(*program) : nullptr;
        } catch (const Error& error) {  // it has no spelling in the compiler's format
            return why_not = error.message(), nullptr;
        }
    };
    // What one run computes is nothing to be told where another one computes something else.
    const auto differs = [&](const Repro& repro) {
        return repro.varies || (repro.verified && wrong && !has_number(repro.printed, wrong->got));
    };
    std::optional<Repro> written;
    for (const bool varies : {false, true}) {
        request.varies = varies;
        const auto program = ask(false);
        if (!program) break;
        if (mismatch && !(program->given_expected = ask(true))) break;
        if (program->otherwise && program->given_expected)
            program->otherwise->given_expected = program->given_expected->otherwise;
        const auto write = [&](const ReproProgram& one) {
            Repro repro = known;
            repro.program = one;
            repro.varies = varies;
            tell_releases(options, repro);
            return in_short(std::move(repro), options, why_not,
                            [&](const Repro& one_run) { return varies || !differs(one_run); });
        };
        if (options.runs > 0 || !program->otherwise) written = write(*program);
        if (!written && program->otherwise) written = write(*program->otherwise);
        if (varies || !written || !differs(*written)) break;
        written.reset();  // its file was not written
    }
    return written;
}

// ---- the harness ----------------------------------------------------------------------------------------------------

std::string claim_of(const Repro& repro) {
    const Rate& rate = repro.failure().signature.rate;
    std::string text = "verified: " + std::to_string(repro.runs) + " of " + std::to_string(repro.of) +
                       " runs fail, and the control passes";
    if (rate.flaky())
        text += "; with a new compilation for each run, " + std::to_string(rate.failed) + " of " +
                std::to_string(rate.runs) + " runs failed";
    return text;
}

/// The repro says what is known: that the culprit lowering or pass is wrong. Where compilations draw, the loops of one
/// program may be right and its suspect wrong.
bool says_so(const Repro& repro) {
    const Failure& failure = repro.failure();
    const bool in_loops = failure.signature.kind == name(Outcome::Kind::mismatch) && failure.culprit &&
                          failure.culprit->component == "lowering";
    return repro.verified && (!in_loops || repro.message.find(failure.culprit->text()) != std::string::npos);
}

Repro with_harness(Repro repro, Emitter& emitter, const Options& options) {
    const TempDir elsewhere("whittle-repro");
    const auto check = [&] {
        if (repro.failure().signature.detail.starts_with("written_")) {
            repro.message =
                "the backend wrote to an input or parameter; a standalone program cannot reproduce such a write, "
                "because the inputs and parameters of the program are constants";
            return;
        }
        repro.varies = false;
        verify(elsewhere.path(), options, repro);
        if (repro.verified) claim(repro.program, claim_of(repro));
    };
    repro.program = emit(repro, emitter, options);
    write_all(elsewhere.path(), options, repro);
    const std::set<fs::path> contents = contents_of(elsewhere.path(), options, repro.program);
    if (options.runs > 0) {
        const Rate& rate = repro.failure().signature.rate;
        std::set<std::string> tried = {repro.program.text};
        check();
        for (int i = rate.flaky() ? runs_until_passing(rate) : 0; i > 0 && !says_so(repro); i--) {
            ReproProgram other = emit(repro, emitter, options);
            if (!tried.insert(other.text).second) continue;
            repro.program = std::move(other);
            write_all(elsewhere.path(), options, repro);
            check();
        }
    }
    write_out(contents, options, repro);
    return repro;
}

}  // namespace

fs::path Options::file() const {
    const fs::path named = output.empty() ? fs::path("repro.cpp") : output;
    return bundle ? *bundle / named.filename() : named;
}

Repro write_repro(const Graph& graph, const Options& options, Backend* own) {
    if (!graph.failure)
        throw Error("found no failure in the graph, expected a graph that minify wrote",
                    "pass the failing backend with --backend");
    const Failure& failure = *graph.failure;
    if (failure.backend.empty())
        throw Error({options.graph.string(), {}},
                    "found a failure from --test or --check, expected a failure of a backend",
                    "minimize the model with --backend, or send the minimized file to the compiler's maintainers");
    const std::vector<std::string> unknown = opaque_ops(graph);
    if (failure.signature.kind == name(Outcome::Kind::mismatch) && !unknown.empty())
        throw Error({options.graph.string(), {}},
                    "a repro of wrong results needs expected values, and Whittle does not know what " + join(unknown) +
                        " computes",
                    "send the minimized file to the backend's maintainers");
    const std::unique_ptr<Backend> found = own ? nullptr : find_backend(failure.backend, failure.options);
    Backend& backend = own ? *own : *found;
    if (diagnose::other_compiler(failure, backend))
        return write_repro(diagnose::as_compiled(graph, backend), options);  // by who compiled it

    Repro repro = shown_of(graph, backend);
    repro.send_to = diagnose::where_to_report(graph, &backend);
    std::optional<Interpreting> interpreting;
    if (repro.instead) interpreting.emplace(*repro.instead);
    Emitter* const emitter = interpreting ? &*interpreting : offered<Emitter>(backend);
    if (!emitter)
        throw Error("backend " + failure.backend + " cannot emit a standalone program",
                    "if this is your own backend, implement Emitter: see share/doc/reference/backends.md");
    if (options.anonymize) anonymize(repro, backend);
    const bool flaky = repro.failure().signature.rate.flaky();
    const bool wants_short = !options.harness && !repro.instead && !flaky;
    if (flaky && !options.harness) repro.not_short = "the model does not fail in every run";
    // Other data would be tried on a graph that says nothing of gradients.
    const std::optional<Data> data = repro.gradients ? Data::real : data_called(options.data);
    auto* const programs = offered<program::KernelPrograms>(backend);
    if (wants_short && programs)
        if (auto written = short_of_kernel(with_data(repro, data.value_or(Data::real)), backend, *programs, options,
                                           repro.not_short))
            return *std::move(written);
    if (!repro.instead) repro.releases = releases_of(repro.graph, backend);
    repro = data ? with_data(std::move(repro), *data) : with_smallest_data(std::move(repro), backend);
    ask_also(options, repro);
    if (wants_short && !programs)
        if (auto written = short_of_graph(repro, backend, *emitter, options, repro.not_short))
            return *std::move(written);
    return with_harness(std::move(repro), *emitter, options);
}

}  // namespace whittle::repro
