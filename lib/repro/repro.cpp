#include "repro/repro.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "diagnose/diagnose.h"
#include "graph/abilities.h"
#include "graph/short_program.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "judge/suspect.h"
#include "ops/core/interpreter.h"
#include "program/loops_code.h"
#include "repro/also.h"
#include "repro/anonymize.h"
#include "repro/bundle.h"
#include "repro/emit.h"
#include "repro/issue.h"
#include "repro/kernel_failure.h"
#include "repro/near.h"
#include "repro/subject.h"
#include "repro/verify.h"

namespace whittle::repro {
namespace {

namespace fs = std::filesystem;

/// The part of a backend that interprets a graph which passes made.
class Interpreting final : public Emitter {
  public:
    explicit Interpreting(const Graph& instead) : instead_(instead) {}

    SuspectCode emit(const EmitRequest& request) override {
        const Failure& failure = *request.graph.failure;
        SuspectCode code{
            .code = "// What passes made of the graph:\n" + commented(print(instead_)),
            .name = failure.backend,
            .label = (failure.culprit ? "the " + failure.culprit->text() : "the passes") + " of Whittle",
            .header = failure.backend + ", which interprets what passes make of the graph",
        };
        const std::size_t given = request.graph.placeholders().size(), expected = instead_.placeholders().size();
        if (given != expected) {
            code.code += refusing(given, expected);
            code.leaves = request.graph;  // without loops, which are made by the passes that are under suspicion
            return code;
        }
        std::optional<LoopsCode> loops = program::loops_code(instead_, request.outputs, "under_test");
        if (!loops) throw Error("what " + failure.backend + " interprets holds an op that has no loops");
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
               string_literal("graph " + instead_.name + ": found " + inputs + " inputs, expected " + placeholders) +
               ");\n}\n";
    }

    static std::string commented(const std::string& text) {
        std::string result;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) result += "//   " + line + "\n";
        return result;
    }

    const Graph& instead_;
};

std::string claim_of(const Report& report, const Rate& rate) {
    std::string text = "verified: " + std::to_string(report.runs) + " of " + std::to_string(report.of) +
                       " runs fail, the control passes";
    if (rate.flaky())
        text += "; of what was compiled anew each time, " + std::to_string(rate.failed) + " of " +
                std::to_string(rate.runs) + " runs failed";
    return text;
}

/// The repro says what is known: that the guilty lowering or pass is wrong. Where compilations draw, the loops of one
/// program may be right and its suspect wrong.
bool says_so(const Report& report, const Failure& failure) {
    const bool in_loops = failure.signature.kind == name(Outcome::Kind::mismatch) && failure.culprit &&
                          failure.culprit->component == "lowering";
    return report.verified && (!in_loops || report.message.find(failure.culprit->text()) != std::string::npos);
}

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

/// What a folder needs to show the failure, and where it is built.
void write_all(const fs::path& folder, const Subject& subject, const Emission& emission, const Report& report,
               const Options& options) {
    write_program(place_in(folder, emission, options), emission);
    if (!options.bundle) return;
    write_bundle(folder, subject.graph, subject.expected, emission, report, options);
    write_file(folder / "ISSUE.md", issue_text(subject.graph, emission, report, options));
}

/// Where it was asked for; a bundle has its own.
void write_issue(const Graph& graph, const Emission& emission, const Report& report, const Options& options) {
    if (options.issue) write_file(*options.issue, issue_text(graph, emission, report, options));
}

/// What a short program shows, and the data that it shows it with.
struct Short {
    Subject subject;
    Emission emission;
    std::optional<int> tried = {};
    std::optional<std::string> got = {};     ///< instead of the first element that is wrong
    bool varies = false;                     ///< that is another value in other runs
    std::optional<Emission> otherwise = {};  ///< as ShortProgram's
};

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

/// What one run computes is nothing to be told: another one computes something else.
bool varies(const Short& found, const Report& report) {
    return report.varies || (report.verified && found.got && !has_number(report.printed, *found.got));
}

/// What a program prints that shows it.
std::string said_of(const Signature& signature) {
    constexpr std::string_view kExited = "exited with #: ";  // what a backend says of a command is not its word
    const std::string& detail = signature.detail;
    if (signature.kind == "mismatch") return "expected";
    if (signature.kind != "exception") return "";
    if (detail == "exited with #" || detail.starts_with("killed by ")) return "ended";  // it has no words
    return detail.starts_with(kExited) ? detail.substr(kExited.size()) : detail;
}

Emission emission_of(ShortProgram program, const Failure& failure) {
    Emission emission{.text = std::move(program.text),
                      .summary = std::move(program.summary),
                      .compiler = std::move(program.compiler),
                      .companions = std::move(program.companions),
                      .arguments = std::move(program.arguments),
                      .compile_flags = std::move(program.compile_flags),
                      .folder = std::move(program.folder),
                      .others = std::move(program.others),
                      .ends_by = std::move(program.ends_by),
                      .expected = std::move(program.expected),
                      .facts = std::move(program.facts),
                      .near = std::move(program.near),
                      .model = std::move(program.model),
                      .tracker = std::move(program.tracker)};
    for (ShortProgram::File& file : program.files)
        emission.sidecars.push_back({std::move(file.name), std::move(file.text)});
    emission.control_in_each_run = !program.control.empty();
    emission.control = emission.control_in_each_run ? program.control : program.control_argument;
    const std::string says = said_of(failure.signature);
    if (emission.folder) emission.says = says;
    for (OtherProgram& other : emission.others) {
        other.says = says;
        if (other.ends_by.empty()) other.ends_by = emission.ends_by;
    }
    return emission;
}

/// `program` with one more line at the end of its head: the comment that it begins with, up to the first empty line of
/// that.
std::string with_head_line(const std::string& program, const fs::path& name, const std::string& line) {
    const std::string mark = name.extension() == ".py" ? "#" : "//";
    std::size_t end = 0;
    while (program.compare(end, mark.size() + 1, mark + " ") == 0) end = program.find('\n', end) + 1;
    return program.substr(0, end) + comment_lines(mark, line) + program.substr(end);
}

/// Since which release it fails: what minify found is in the failure; otherwise the releases are asked. Empty where
/// nobody can say.
std::string releases_of(const Graph& graph, Backend& backend, const Limits& limits) {
    if (!graph.failure->releases.empty()) return graph.failure->releases;
    const auto history = diagnose::release_history(graph, backend, limits);
    return history ? history->text() : "";
}

/// Says in the first lines of each program since which release it fails.
void tell_releases(const std::string& releases, const Options& options, Emission& emission) {
    emission.releases = releases;
    if (releases.empty()) return;
    const std::string line = "Releases: " + releases + ".";
    emission.text =
        with_head_line(emission.text, emission.folder ? fs::path(emission.folder->name) : options.output, line);
    for (OtherProgram& other : emission.others) other.text = with_head_line(other.text, other.name, line);
}

std::optional<Short> short_of_kernel(const Graph& original, Backend& backend, program::KernelPrograms& programs,
                                     const Options& options, std::string& why_not) {
    Subject subject = with_data(original, options.data.value_or(Data::real));
    const auto found = failing_kernel(subject.graph, backend, programs, options);
    if (const auto* why = std::get_if<std::string>(&found)) return why_not = *why, std::nullopt;
    const KernelFailure& kernel = std::get<KernelFailure>(found);
    const Failure& failure = *subject.graph.failure;
    std::optional<ShortProgram> program = program_of(kernel, programs, failure, options);
    if (!program) return why_not = "its data are more than a reader takes in", std::nullopt;
    Emission emission = emission_of(std::move(*program), failure);
    if (failure.signature.kind == "mismatch")
        if (auto passing = program_of(kernel, programs, failure, options, true))
            emission.given_expected = std::make_shared<Emission>(emission_of(std::move(*passing), failure));
    emission.also = ask_also(subject, options);
    return Short{std::move(subject), std::move(emission), kernel.tried};
}

std::optional<Short> short_of_graph(const Subject& subject, Backend& backend, Emitter& emitter, const Options& options,
                                    bool varies, std::string& why_not) {
    const Failure& failure = *subject.graph.failure;
    Outcome outcome;  // only wrong values are shown; a hang would take its whole limit
    if (failure.signature.kind == name(Outcome::Kind::mismatch))
        outcome = query(subject.graph, failure.inputs, subject.expected, backend, suspect_of(failure, options.limits));
    const Blame blame = diagnose::blame_of(subject.graph, backend, options.limits);
    // Where a switch makes it right, that says what matters, but not in the title of a long graph.
    constexpr std::int64_t kFewCalls = 2;
    std::optional<NearCase> near;
    if (!blame.controlled() || op_count(subject.graph) > kFewCalls)
        near =
            near_case(subject, outcome.failed() ? std::span<const Tensor>(outcome.outputs) : std::span<const Tensor>(),
                      blame.controlled(), backend, options);
    const ShortRequest request{
        subject.graph, subject.expected, outcome.outputs, options.output, options.alarm.count(), blame, varies, near};
    try {
        std::optional<ShortProgram> program = emitter.short_program(request, why_not);
        if (!program) return std::nullopt;
        const bool values = !wrong_sizes(request) && !wrong_dtype(request);
        const auto wrong = values ? first_wrong(request) : std::nullopt;
        Short found{subject, {}, {}, wrong ? std::optional(wrong->got) : std::nullopt, varies};
        if (program->otherwise) found.otherwise = emission_of(std::move(*program->otherwise), failure);
        found.emission = emission_of(std::move(*program), failure);
        if (failure.signature.kind != "mismatch") return found;
        ShortRequest passing = request;
        passing.given_expected = true;
        std::optional<ShortProgram> given = emitter.short_program(passing, why_not);
        if (found.otherwise && given->otherwise)
            found.otherwise->given_expected =
                std::make_shared<Emission>(emission_of(std::move(*given->otherwise), failure));
        found.emission.given_expected = std::make_shared<Emission>(emission_of(std::move(*given), failure));
        return found;
    } catch (const Error& error) {  // it has no spelling in the compiler's format
        return why_not = error.message(), std::nullopt;
    }
}

/// What is known of a repro before it is run.
Report report_of(const Emission& emission, const Subject& subject, const Options& options) {
    Report report;
    report.output = place_in(options.output.parent_path(), emission, options).file;
    report.control = emission.control;
    report.compile_command = shell_quote(build_command(emission, options));
    report.run_command = shell_quote(run_command(emission, options));
    if (emission.folder) report.get = emission.folder->get;
    report.also = emission.also;
    report.arguments = emission.arguments;
    report.data = subject.data;
    report.passing = subject.passing;
    return report;
}

/// The files beside the program, as they are told.
std::vector<fs::path> beside(const Emission& emission, const Options& options) {
    const fs::path folder = place_in(options.output.parent_path(), emission, options).folder;
    std::vector<fs::path> files;
    for (const Sidecar& sidecar : emission.sidecars) files.push_back(folder / sidecar.file);
    for (const OtherProgram& other : emission.others) files.push_back(folder / other.name);
    if (emission.folder)
        for (const fs::path& companion : emission.companions) files.push_back(folder / companion.filename());
    return files;
}

/// Runs what compares, in each language, on the expected values: a check that refuses them shows nothing.
void check_passes(const Emission& given_expected, const Options& options, Report& report) {
    Options plain = options;
    plain.bundle = false;
    const TempDir folder("whittle-repro");
    write_program(place_in(folder.path(), given_expected, plain), given_expected);
    verify_check(program_in(folder.path(), given_expected, plain), plain, report);
}

/// The short program, written where it shows the failure. Nothing: why_not says why.
std::optional<Report> write_short(const Short& found, const Options& options, std::string& why_not) {
    const Subject& subject = found.subject;
    const Emission* emission = &found.emission;
    Report report = report_of(*emission, subject, options);
    report.lines = lines_of(emission->text);
    report.short_program = true;
    report.tried = found.tried;
    std::set<fs::path> files;
    if (options.bundle || options.verify) {
        const TempDir elsewhere("whittle-repro");
        write_all(elsewhere.path(), subject, *emission, report, options);
        if (options.bundle) files = files_below(elsewhere.path());
        if (!emission->folder || !emission->folder->build.empty())
            files.insert(emission->folder ? fs::path("run") : options.output.stem());
        if (options.verify) verify(program_in(elsewhere.path(), *emission, options), {}, options, report);
        if (report.verified && emission->given_expected) check_passes(*emission->given_expected, options, report);
        if (options.verify && !report.verified) {
            log_info(LogChannel::repro, "the short program:\n" + emission->text);
            return why_not = report.message, std::nullopt;
        }
    }
    report.varies = report.varies || found.varies;
    write_all(options.output.parent_path(), subject, *emission, report, options);
    write_issue(subject.graph, *emission, report, options);
    report.sidecars = beside(*emission, options);
    if (options.bundle) note_contents(options.output.parent_path(), files);
    return report;
}

}  // namespace

namespace {

Report write_named(const Graph& original, Backend& backend, const Options& options);

}  // namespace

Report write_repro(const Graph& original, Backend& backend, const Options& options) {
    if (!original.failure)
        throw Error("the graph does not say how it fails, as those that minify writes do",
                    "name the backend with --backend to look for a failure first");
    WHITTLE_CHECK(!original.failure->backend.empty(), "a failure without a backend");
    if (!options.anonymize) return write_named(original, backend, options);
    const Anonymous anonymous = anonymized(original, backend, options);
    Options named = options;
    named.command = "repro m.json --anonymize";  // what the user typed names files
    Report report = write_named(anonymous.graph, backend, named);
    report.replaced = anonymous.replaced;
    report.kept = anonymous.kept;
    return report;
}

namespace {

/// What is known of releases beside the one that fails.
struct Known {
    const std::string& releases;
    const Also& also;
};

/// The short program of a graph, or the longer one where that alone shows the failure; once more in other words where
/// another run computes something else. Nothing: why_not says why.
std::optional<Report> write_short_of_graph(const Subject& subject, Backend& backend, Emitter& emitter,
                                           const Known& known, const Options& options, std::string& why_not) {
    std::optional<Report> written;
    for (const bool other_words : {false, true}) {
        auto found = short_of_graph(subject, backend, emitter, options, other_words, why_not);
        if (!found) break;
        const auto write = [&] {
            tell_releases(known.releases, options, found->emission);
            found->emission.also = known.also;
            return write_short(*found, options, why_not);
        };
        if (options.verify || !found->otherwise) written = write();
        if (!written && found->otherwise) {
            found->emission = std::move(*found->otherwise);
            written = write();
        }
        if (!written || !varies(*found, *written)) break;
    }
    return written;
}

Report write_named(const Graph& original, Backend& backend, const Options& options) {
    std::optional<Interpreting> interpreting;
    if (options.instead) interpreting.emplace(*options.instead);
    Emitter* emitter = interpreting ? &*interpreting : offered<Emitter>(backend);
    if (!emitter)
        throw Error("found backend " + original.failure->backend +
                        ", expected one that says how a program without Whittle runs it",
                    "what is part of Whittle needs no repro; a backend of your own offers Emitter");
    Report report;
    const Rate& rate = original.failure->signature.rate;
    const bool in_short = !options.harness && !interpreting && !rate.flaky();
    if (rate.flaky() && !options.harness) report.not_short = "it does not always fail";
    program::KernelPrograms* const programs = offered<program::KernelPrograms>(backend);
    if (in_short && programs)
        if (const auto found = short_of_kernel(original, backend, *programs, options, report.not_short))
            if (std::optional<Report> written = write_short(*found, options, report.not_short)) return *written;
    const Subject subject = options.data ? with_data(original, *options.data) : smallest(original, backend, options);
    const std::string releases = interpreting ? "" : releases_of(original, backend, options.limits);
    const Also also = ask_also(subject, options);
    if (in_short && !programs)
        if (auto written =
                write_short_of_graph(subject, backend, *emitter, {releases, also}, options, report.not_short))
            return *written;
    const Graph& graph = subject.graph;
    const auto emit = [&] {
        return repro::emit(graph, subject.expected, *emitter, options, {data_text(subject), subject.seeds, releases});
    };

    Emission emission = emit();
    emission.also = also;
    const std::string not_short = std::move(report.not_short);
    report = report_of(emission, subject, options);
    report.not_short = not_short;
    const auto check = [&](const fs::path& folder) {
        if (graph.failure->signature.detail.starts_with("written_")) {
            report.message = "the program's inputs and parameters are constants, which no backend can write to";
            return;
        }
        verify(program_in(folder, emission, options), rate, options, report);
        if (report.verified) claim(emission, claim_of(report, rate));
    };
    std::set<fs::path> files;  // of the bundle, and the program that is made of it
    if (options.bundle || options.verify) {
        const TempDir elsewhere("whittle-repro");
        write_all(elsewhere.path(), subject, emission, report, options);
        if (options.bundle) files = files_below(elsewhere.path());
        files.insert(options.output.stem());
        std::set<std::string> tried = {emission.text};
        if (options.verify) check(elsewhere.path());
        for (int i = rate.flaky() && options.verify ? runs_until_passing(rate) : 0;
             i > 0 && !says_so(report, *graph.failure); i--) {
            Emission other = emit();
            if (!tried.insert(other.text).second) continue;
            emission = std::move(other);
            emission.also = also;
            write_all(elsewhere.path(), subject, emission, report, options);
            check(elsewhere.path());
        }
    }
    write_all(options.output.parent_path(), subject, emission, report, options);
    write_issue(graph, emission, report, options);
    if (options.bundle) note_contents(options.output.parent_path(), files);
    report.sidecars = beside(emission, options);
    report.lines = lines_of(emission.text);
    return report;
}

}  // namespace

}  // namespace whittle::repro
