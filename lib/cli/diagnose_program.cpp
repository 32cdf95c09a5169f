#include "cli/diagnose_program.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/minify_program.h"
#include "cli/tool.h"
#include "reduce/schedule/blame.h"
#include "repro/schedule/schedule_repro.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

reduce::ScheduleRequest request_of(const CulpritOptions& options, const fs::path& output) {
    const Limits limits = options.subject.limits.limits();
    reduce::ScheduleRequest request{.program = options.model,
                                    .arguments = options.subject.program.arguments,
                                    .accuracy = options.subject.accuracy.chosen().value_or(Accuracy()),
                                    .timeout = limits.timeout,
                                    .memory = limits.memory};
    request.inputs = inputs_folder(output);
    return request;
}

/// Writes what minify would write, and the repro of it.
void follow(const reduce::MinimizedSchedule& done, const fs::path& output, std::ostream* report, nlohmann::json& json) {
    write_file(output, to_json(done).dump(2) + "\n");
    repro::Options options{.output = fs::path(output).replace_extension(".cpp"), .graph = output};
    const repro::MinimizedProgram program = repro::load_minimized_program(output).value();
    const repro::ScheduleRepro written = write_schedule_repro(program, options);
    json["repro"] = to_json(written, options);
    if (report) *report << "written:    " << output.string() << "\n\n" << to_text(written, program, options);
}

}  // namespace

std::optional<int> diagnose_program(const Tool& tool, const CulpritOptions& options) {
    using Outcome = reduce::MinimizedSchedule::Outcome;
    const fs::path output = stem_of(options.model, options.subject.program.arguments) + ".min.json";
    const reduce::ScheduleRequest request = request_of(options, output);
    const reduce::MinimizedSchedule done = reduce::minimize_schedule(request);
    if (!done.program.found()) return std::nullopt;
    ReportSink sink(tool, options.model, options.report.output);
    std::ostream* const report = tool.shared().json ? nullptr : &sink.out();
    nlohmann::json json = to_json(done);
    if (report) *report << to_text(done) << std::flush;
    const bool minimized = done.outcome == Outcome::minimized,
               fails = minimized || done.outcome == Outcome::not_the_schedule;
    if (fails) {
        const reduce::ScheduleBlame blame = blame_schedule(request, done);
        json["blame"] = to_json(blame);
        if (report) *report << to_text(blame) << std::flush;
    }
    if (minimized) follow(done, output, report, json);
    if (!report) print_json({{"halide", json}});
    sink.close();
    return done.outcome == Outcome::not_failing ? 0 : 1;
}

}  // namespace whittle::cli
