#include "cli/diff_values.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "cli/environment.h"
#include "cli/messages.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "formats/json.h"
#include "ops/aten/capture.h"
#include "record/launch/hashes.h"
#include "report/hash_diff.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

void require_hashes(const fs::path& folder) {
    if (!holds_hashes(folder))
        throw Error({folder.string(), {}}, "found no recording of hashes, expected a folder that trace --hashes wrote",
                    shell_quote(program_words("trace", {"--hashes", "-o", folder.string(), "./app"})));
}

/// What is kept: its operands agree, or nothing of that kind was found.
const report::DifferingOperation* first_of(const report::HashDiff& diff) {
    for (const report::ProcessDiff& process : diff.processes) {
        if (process.bits) return &*process.bits;
        if (process.beyond) return &*process.beyond;
    }
    return nullptr;
}

/// In place or not, and by its name in the core ATen set: graphs have other forms of some ops.
std::string plain_name(std::string_view target) {
    std::string name(core_target(target));
    const auto overload = name.find('.', name.find('.') + 1);
    name = name.substr(0, overload);
    if (name.ends_with('_')) name.pop_back();
    return name;
}

/// Runs the program of the second folder again, up to the operation.
std::string record(const Tool& tool, const DiffOptions& options, const report::HashDiff& diff) {
    const report::DifferingOperation* const operation = first_of(diff);
    if (!operation) throw Error({"--record", {}}, "found no operation that differs, so there is nothing to record");
    if (diff.processes_after > 1)
        throw Error({"--record", {}}, "found a recording of " + std::to_string(diff.processes_after) +
                                          " processes, expected one process");
    require_replaceable(*options.record, {}, true, [](const fs::path&) { return false; });
    const TraceLock lock(*options.record);
    remove_trace(*options.record);
    const BackendSpec reference(kReferenceBackend);
    const Traced traced = record_operation(load_hashes(options.after), operation->after,
                                           {.folder = *options.record,
                                            .suspect = {.spec = reference},
                                            .records = RecordPolicy::always,
                                            .check = CheckPolicy::never,
                                            .environment = environment(reference, {})});
    bool found = false;
    std::string text;
    for (const TracedFrame& frame : traced.frames) {
        if (!frame.record) continue;
        const fs::path file = *options.record / *frame.record;
        text += "written:  " + file.string() + "\n";
        for (const Node& node : load_graph(*options.record / frame.graph).nodes)
            found = found || plain_name(node.target) == plain_name(operation->op);
    }
    if (!found)
        warn(tool, "operation " + std::to_string(operation->after) + " of this run is not " + operation->op +
                       ": the program calls other operations, or in another order, from run to run");
    return text + next_replay(traced);
}

}  // namespace

int diff_values(const Tool& tool, const DiffOptions& options) {
    require_hashes(options.before);
    require_hashes(options.after);
    ReportSink sink(tool, options.after, options.report.output);
    const report::HashDiff diff = report::diff_hashes(options.before, options.after);
    nlohmann::json json = report::to_json(diff);
    if (!tool.shared().json) sink.out() << report::to_text(diff, options.report.shown(tool, sink));
    std::string after;
    if (options.record && !diff.same()) {
        after = record(tool, options, diff);
        json["record"] = options.record->string();
    } else if (first_of(diff)) {
        after = next_line(shell_quote(program_words(
            "explain", {"diff", options.before.string(), options.after.string(), "--values", "--record", "first"})));
    }
    if (tool.shared().json)
        print_json(json);
    else if (!tool.shared().quiet && !after.empty())
        sink.out() << "\n" << after;
    sink.close();
    return diff.same() ? 0 : 1;
}

}  // namespace whittle::cli
