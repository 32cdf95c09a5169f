#include "repro/schedule/schedule_repro.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "backends/halide/releases.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "repro/schedule/program_text.h"
#include "repro/schedule/shrink.h"
#include "repro/steps.h"
#include "repro/verify.h"

namespace whittle::repro {
namespace fs = std::filesystem;
using halide_program::CapturedPipeline;

namespace {

/// The failure of the program of the pipeline: a program that judges itself ends with a status of its own.
Failure shown_failure(const MinimizedProgram& program) {
    Failure failure{.backend = "halide"};
    Signature& signature = failure.signature;
    const auto has = [&](std::string_view text) { return program.failure.find(text) != std::string::npos; };
    signature = has("error")         ? Signature{.kind = "exception", .stage = has("runtime-error") ? "run" : "compile"}
                : has("killed by ")  ? Signature{.kind = "crash", .stage = "run"}
                : has("did not end") ? Signature{.kind = "timeout", .stage = "run"}
                                     : Signature{.kind = "mismatch", .stage = "run", .detail = "value"};
    if (signature.kind == "crash") signature.detail = program.failure.substr(program.failure.find("killed by ") + 10);
    signature.rate = program.rate;
    return failure;
}

class Work {
  public:
    Work(const MinimizedProgram& program, const Options& options)
        : program_(program), options_(options), failure_(shown_failure(program)) {
        done_.output = options.file();
        done_.repro.graph.failure = failure_;
    }

    ScheduleRepro run() {
        if (!program_.pipeline) return done_.none = program_.not_captured, std::move(done_);
        try {
            code(*program_.pipeline, InputValues::made_up);
        } catch (const Error& error) {  // no program can be written
            return done_.none = error.what(), std::move(done_);
        }
        const CapturedPipeline pipeline = verified(*program_.pipeline);
        if (done_.repro.verified) reduce(pipeline);
        if (done_.repro.verified && options_.runs > 0) ask_releases();
        write();
        return std::move(done_);
    }

  private:
    PipelineCode code(const CapturedPipeline& pipeline, InputValues values) const {
        return code_of(pipeline, values, program_.inputs, options_.stem());
    }

    std::vector<InputValues> values_to_try() const {
        using enum InputValues;
        if (options_.data == "real") return {recorded};
        if (options_.data == "ones") return {ones};
        if (options_.data != "auto" || !done_.has_images) return {made_up};
        return {made_up, ones, recorded};
    }

    /// All culprits are switched off by the control, then each alone: without all of them, what only they allow may be
    /// refused.
    static std::vector<CapturedPipeline> with_other_controls(const CapturedPipeline& pipeline) {
        std::vector<CapturedPipeline> all{pipeline};
        if (std::ranges::count_if(pipeline.schedule, &halide_program::CapturedCall::culprit) < 2) return all;
        for (std::size_t i = pipeline.schedule.size(); i-- > 0;) {
            if (!pipeline.schedule[i].culprit) continue;
            all.push_back(pipeline);
            for (std::size_t k = 0; k < pipeline.schedule.size(); ++k) all.back().schedule[k].culprit = k == i;
        }
        return all;
    }

    /// The first program that fails, and whose control passes.
    CapturedPipeline verified(const CapturedPipeline& pipeline) {
        done_.has_images = code(pipeline, InputValues::made_up).has_images;
        for (const InputValues values : values_to_try()) {
            done_.values = values;
            for (const CapturedPipeline& one : with_other_controls(pipeline)) {
                verify(one);
                if (done_.repro.verified || options_.runs == 0) return one;
                if (!done_.repro.message.starts_with("the control fails")) break;
            }
        }
        return pipeline;
    }

    ScheduleProgramRequest request() const { return {failure_, options_.file(), options_.alarm}; }

    void verify(const CapturedPipeline& pipeline) {
        code_ = code(pipeline, done_.values);
        done_.repro.program = schedule_program(code_, request());
        if (options_.runs == 0) return;
        const TempDir folder("whittle-repro");
        write_program(place_in(folder.path(), done_.repro.program, options_), done_.repro.program, options_);
        copy_inputs(folder.path());
        repro::verify(folder.path(), options_, done_.repro);
    }

    void copy_inputs(const fs::path& folder) const {
        for (const PipelineCode::File& file : code_.files)
            fs::copy_file(file.from, folder / file.name, fs::copy_options::overwrite_existing);
    }

    /// A race fails sometimes: a smaller pipeline may be right by chance.
    void reduce(const CapturedPipeline& pipeline) {
        constexpr std::chrono::seconds kLimit{60};
        const std::chrono::seconds limit = options_.time_limit.value_or(kLimit);
        if (program_.rate.flaky()) return;
        const ShrinkRequest request{.program = this->request(),
                                    .values = done_.values,
                                    .inputs = program_.inputs,
                                    .culprits = code_.culprits.size(),
                                    .message = done_.repro.message,
                                    .end = std::chrono::steady_clock::now() + limit};
        const Repro before = done_.repro;
        const PipelineCode whole = code_;
        verify(shrink(pipeline, request, done_.tried));
        if (done_.repro.verified) return;
        done_.repro = before;
        code_ = whole;
    }

    /// Builds the program with each release of Halide that is installed, and runs it.
    void ask_releases() {
        std::vector<std::string> fail, right, other;
        for (const std::string& release : halide::installed_releases()) {
            Repro asked = done_.repro;
            if (!halide::library_for({{"release", release}}).empty()) ask(release, asked);
            const bool ended_well = asked.message.find(" ended with exit 0") != std::string::npos;
            (asked.verified ? fail : ended_well ? right : other).push_back(release);
        }
        if (fail.size() + right.size() + other.size() < 2) return;
        done_.releases = "fails in " + join(fail);
        if (!right.empty()) done_.releases += "; right in " + join(right);
        if (!other.empty()) done_.releases += "; no verdict in " + join(other);
        done_.repro.releases = done_.releases;
    }

    void ask(const std::string& release, Repro& asked) const {
        asked.verified = false;
        asked.runs = asked.of = 0;
        try {
            asked.program.compile_flags = halide::compile_flags_of(release);
        } catch (const Error& error) {
            asked.message = error.what();
            return;
        }
        const TempDir folder("whittle-repro");
        write_program(place_in(folder.path(), asked.program, options_), asked.program, options_);
        copy_inputs(folder.path());
        repro::verify(folder.path(), options_, asked);
    }

    /// With what the program prints in its header.
    void write() {
        const bool says = done_.repro.verified && !done_.repro.message.empty();
        done_.repro.program = schedule_program(code_, request(), says ? done_.repro.message : "");
        tell_releases(options_, done_.repro);
        const fs::path folder = done_.output.parent_path();
        write_program({folder, done_.output}, done_.repro.program, options_);
        copy_inputs(folder);
        for (const PipelineCode::File& file : code_.files) done_.sidecars.push_back(folder / file.name);
    }

    const MinimizedProgram& program_;
    const Options& options_;
    const Failure failure_;
    PipelineCode code_;
    ScheduleRepro done_;
};

}  // namespace

std::optional<MinimizedProgram> load_minimized_program(const fs::path& file) {
    std::error_code ignored;
    constexpr std::uintmax_t kMostBytes = std::uintmax_t(64) << 20;
    if (file.extension() != ".json" || !fs::is_regular_file(file, ignored) || fs::file_size(file) > kMostBytes)
        return std::nullopt;
    const nlohmann::json json = nlohmann::json::parse(read_file(file), nullptr, false);
    if (!json.is_object() || !json.contains("outcome") || !json.contains("needed")) return std::nullopt;
    MinimizedProgram program{.file = file,
                             .command = json.value("command", std::vector<std::string>()),
                             .left_out = json.value("left_out", std::set<std::string>()),
                             .outcome = json["outcome"],
                             .failure = json.value("failure", ""),
                             .error = json.value("error", ""),
                             .not_captured = json.value("not_captured", "no pipeline was captured")};
    program.rate = {json.value("failed", 0), json.value("runs", 0)};
    std::vector<std::string> culprits;
    for (const nlohmann::json& directive : json["needed"])
        if (directive.value("cause", false))
            culprits.push_back(directive["text"].get<std::string>() +
                               (directive.contains("line")
                                    ? " (" + fs::path(directive["file"]).filename().string() + ":" +
                                          std::to_string(directive["line"].get<int>()) + ")"
                                    : ""));
    program.culprit = join(culprits, " and ");
    if (json.contains("pipeline")) program.pipeline = json["pipeline"].get<halide_program::CapturedPipeline>();
    if (json.contains("inputs")) program.inputs = file.parent_path() / json["inputs"].get<std::string>();
    return program;
}

ScheduleRepro write_schedule_repro(const MinimizedProgram& program, const Options& options) {
    return Work(program, options).run();
}

std::string to_text(const ScheduleRepro& repro, const MinimizedProgram& program, const Options& options) {
    const std::string failure = program.error.empty() ? program.failure : "Halide's error: " + program.error;
    std::string text = "failure:  " + failure + "\nculprit:  " + program.culprit + "\n";
    if (!repro.none.empty()) return text + "no repro: " + repro.none + "\n";
    const Repro& written = repro.repro;
    if (repro.has_images) text += "data:     " + std::string(words(repro.values)) + "\n";
    if (repro.tried) text += "tried:    " + plural(repro.tried, "smaller pipeline") + "\n";
    text += "written:  " + repro.output.string() + " (" +
            plural(static_cast<std::size_t>(std::ranges::count(written.program.text, '\n')), "line") + ")\n";
    for (const fs::path& sidecar : repro.sidecars) text += "          " + sidecar.string() + "\n";
    if (options.runs > 0 && written.verified)
        text += "verified: " + std::to_string(written.runs) + " of " + std::to_string(written.of) +
                " runs fail, and the control passes (" + control_of(written.program) + ")\n          " +
                written.message + "\n";
    if (!repro.releases.empty()) text += "releases: " + repro.releases + "\n";
    if (options.runs > 0 && !written.verified) text += "NOT verified: " + written.message + "\n";
    return text + next_line(all_commands(written.program, options), written.verified, options);
}

nlohmann::json to_json(const ScheduleRepro& repro, const Options& options) {
    if (!repro.none.empty()) return {{"verified", false}, {"runs", 0}, {"message", repro.none}};
    const std::string_view data = repro.values == InputValues::recorded ? "real"
                                  : repro.values == InputValues::ones   ? "ones"
                                                                        : "small";
    nlohmann::json json = to_json(repro.repro, options);
    json["output"] = repro.output.string();
    json["data"] = data;
    if (!repro.releases.empty()) json["releases"] = repro.releases;
    return json;
}

}  // namespace whittle::repro
