#include "repro/timing.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/number_text.h"
#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "graph/abilities.h"
#include "judge/suspect.h"
#include "repro/steps.h"
#include "text/language.h"

namespace whittle::repro {
namespace fs = std::filesystem;
using language::plain_python;

namespace {

/// One of the two: how messages call it, and who it is.
struct Side {
    std::string called;
    Backend& backend;
    BackendOptions options;
};

/// What is asked of a side; its files are written into `folder`.
AskedByLine asked(const Side& side, const Graph& graph, const fs::path& folder) {
    auto* const asks = offered<AsksByLine>(side.backend);
    if (!asks)
        throw Error("cannot write a program that measures the time of " + side.called +
                        ", expected a backend that runs as a worker process",
                    "to measure both times again: minify FILE");
    fs::create_directories(folder);
    return asks->asked_by_line(graph, side.options, folder);
}

/// An entry of the script's list.
std::string entry(const Side& side, const AskedByLine& asked, const std::string& folder) {
    const auto quoted = [](const std::string& word) { return plain_python.quoted(word); };
    return "    (" + quoted(side.called) + ", [" + join(asked.command, quoted) + "], json.loads(" +
           quoted(asked.question) + "), " + quoted(folder) + "),\n";
}

void run_times(TimingRepro& repro, const Options& options) {
    const ProcessResult process =
        run_process({kPython, repro.output.string()}, {.timeout = 10 * std::chrono::seconds(options.alarm)});
    repro.verified = process.signal == 0 && process.exit_code == 1 && !process.timed_out;
    repro.printed = process.out.empty() ? process.err : process.out;
    if (repro.printed.empty()) repro.printed = "the program " + ending_of(process);
    while (repro.printed.ends_with('\n')) repro.printed.pop_back();
}

}  // namespace

TimingRepro write_timing(const Graph& graph, const Options& options) {
    const Failure& failure = *graph.failure;
    const Pace& pace = *failure.slower;
    const std::unique_ptr<Backend> backend = find_backend(failure.backend, failure.options);
    const std::unique_ptr<Backend> other = pace.than.empty() ? nullptr : find_backend(pace.than);
    BackendOptions plain = pace.options;
    if (!other) plain = unoptimized(graph, *backend, failure.options).options.value_or(failure.options);
    const Side sides[] = {{failure.backend, *backend, failure.options},
                          {pace.than.empty() ? failure.backend + " without optimization" : pace.text(),
                           other ? *other : *backend, plain}};
    const char* const names[] = {"slow", "fast"};
    fs::path root = options.file();
    root.replace_extension();
    std::string list;
    TimingRepro repro{.output = root / "run.py"};
    for (std::size_t i = 0; i < std::size(sides); ++i) {
        repro.sidecars.push_back(root / names[i]);
        list += entry(sides[i], asked(sides[i], graph, repro.sidecars.back()), names[i]);
    }
    write_file(repro.output, fill_template("repro_times.py",
                                           {{"HEADER", plain_python.comment(failure.backend + ": " + failure.message)},
                                            {"FACTOR", shortest(pace.factor)},
                                            {"SIDES", list}}));
    if (options.runs > 0) run_times(repro, options);
    return repro;
}

std::string to_text(const TimingRepro& repro, const Failure& failure, const Options& options) {
    std::string text = "failure:  " + failure.signature.text() + "\n          " + failure.message + "\n";
    text += "written:  " + repro.output.string() + "\n";
    for (const fs::path& sidecar : repro.sidecars) text += "          " + sidecar.string() + "\n";
    if (options.runs > 0)
        text += repro.verified
                    ? "verified: in a run of the program, the first backend takes too long compared with the second\n"
                    : "NOT verified:\n";
    for (std::size_t at = 0; at < repro.printed.size();) {
        const std::size_t end = std::min(repro.printed.find('\n', at), repro.printed.size());
        text += "          " + repro.printed.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return text + next_line(shell_quote({kPython, repro.output.string()}), repro.verified, options);
}

nlohmann::json to_json(const TimingRepro& repro) {
    return {{"output", repro.output.string()}, {"verified", repro.verified}, {"message", repro.printed}};
}

}  // namespace whittle::repro
