#include "cli/trace.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "record/launch/hashes.h"
#include "report/hash_diff.h"
#include "report/hash_run.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// Those that decide how many threads compute, and by which code.
std::map<std::string, std::string> numeric_variables() {
    std::map<std::string, std::string> all = reported_variables();
    std::erase_if(all, [](const auto& entry) {
        const std::string& name = entry.first;
        return name.starts_with("$WHITTLE_") || name.starts_with("$HL_") || name.ends_with("PATH");
    });
    return all;
}

std::int64_t count_operations(const fs::path& folder, const HashIndex& index) {
    std::int64_t count = 0;
    for (const HashedProcess& process : index.processes) count += report::HashRun(folder, process).size();
    return count;
}

/// Keeps the other run as a part of the folder's trace.
void keep(const fs::path& folder, const fs::path& run) {
    TraceWriter writer = TraceWriter::continued(folder);
    for (const fs::path& file : trace_files(folder / run)) writer.add_file(run / file);
    writer.save();
}

/// The first run that differs from the one in the folder, out of `runs`; it is kept as FOLDER/run-N.
std::optional<report::HashDiff> repeat(const Tool& tool, const TraceOptions& options, const TraceRequest& request,
                                       std::int64_t runs) {
    for (std::int64_t run = 2; run <= runs; ++run) {
        TraceRequest again = request;
        const std::string name = "run-" + std::to_string(run);
        again.folder = request.folder / name;
        record_hashes(options.program.request(tool, options.models[0], options.inputs), again, numeric_variables());
        report::HashDiff diff = report::diff_hashes(request.folder, again.folder);
        if (!diff.same()) return keep(request.folder, name), diff;
        remove_trace(again.folder);
        std::error_code ignored;  // somebody else's files are in it
        fs::remove(again.folder, ignored);
    }
    return std::nullopt;
}

}  // namespace

void check_usage_of_hashes(const TraceOptions& options) {
    if (options.repeat && !options.hashes)
        throw Error("--repeat needs --hashes", "add --hashes: --repeat compares the hashes of the runs");
    if (!options.hashes) return;
    if (options.repeat && *options.repeat < 2)
        throw Error({"--repeat", {}}, "found " + std::to_string(*options.repeat) + ", expected at least 2 runs");
    const std::string other = options.minify                 ? "--minify"
                              : options.joint                ? "--joint"
                              : options.pt2                  ? "--write-pt2"
                              : options.fullgraph            ? "--fullgraph"
                              : options.backend.name.empty() ? ""
                                                             : "--backend";
    if (!other.empty()) throw Error("--hashes cannot be used with " + other + ", because --hashes captures no graphs");
    require_run(options, "--hashes");
}

int trace_hashes(const Tool& tool, const TraceOptions& options, const TraceRequest& request) {
    remove_trace(request.folder);
    const HashedRun run =
        record_hashes(options.program.request(tool, options.models[0], options.inputs), request, numeric_variables());
    const auto say = [&](const std::string& line) {
        if (!tool.shared().quiet) std::cerr << tool.called() << ": " << line << "\n";
    };
    const std::int64_t operations = count_operations(request.folder, run.index);
    say(request.folder.string() + ": " + plural(operations, "operation") + " of " +
        plural(run.index.processes.size(), "process", "processes") + "; the program " + run.ran.ending());
    for (const HashedProcess& process : run.index.processes)
        for (const std::string& note : process.notes) say(note);
    std::optional<report::HashDiff> diff;
    if (options.repeat) {
        diff = repeat(tool, options, request, *options.repeat);
        if (diff)
            std::cerr << report::to_text(*diff, {.verbose = tool.shared().verbose, .color = tool.shared().color_err});
        else
            say(plural(*options.repeat, "run") + " with the same results");
    }
    if (tool.shared().json) {
        nlohmann::json json = {{"output", request.folder.string()},
                               {"frames", nlohmann::json::array()},
                               {"operations", operations},
                               {"program", run.ran.status}};
        if (diff) json["diff"] = report::to_json(*diff);
        print_json(json);
    }
    return diff && run.ran.good() ? 1 : end_as(run.ran);
}

}  // namespace whittle::cli
