#include "cli/diff.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/files.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "debug/trace.h"
#include "explain/trace_diff.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

struct Side {
    debug::Subject subject;
    explain::Report report = {};
    std::vector<explain::RecordedValues> values = {};

    explain::Capture capture() const { return {subject.frames, report, values}; }
};

/// What folders of trace, and records, keep.
std::vector<explain::RecordedValues> recorded(const fs::path& model, const SubjectOptions& options) {
    const ModelKind kind = recognize(model);
    std::vector<explain::RecordedValues> all;
    if (kind != ModelKind::trace && kind != ModelKind::record) return all;
    for (LoadedFrame& frame : load_model(model, {.inputs = options.inputs, .keep_unknown = true})) {
        if (!frame.record) continue;
        explain::RecordedValues values{.graph = frame.graph.name};
        for (const NodeId id : frame.graph.placeholders()) values.inputs_of.push_back(frame.graph.node({id}).target);
        values.inputs = std::move(frame.inputs);
        values.outputs = std::move(frame.expected);
        all.push_back(std::move(values));
    }
    return all;
}

/// A program is traced, so that its values are compared as those of a folder are.
debug::RanProgram traced(const Tool& tool, const fs::path& program, const SubjectOptions& options,
                         const fs::path& folder) {
    const debug::TraceRequest request{
        .folder = folder, .models = {program}, .suspect = {.spec = kReferenceBackend}, .check = CheckPolicy::never};
    debug::RanProgram ran = debug::run_to_trace(options.program.request(tool, program, options.inputs), request);
    debug::trace(ran, request);
    return ran;
}

Side side_of(const Tool& tool, const fs::path& model, SubjectOptions options, const fs::path& scratch) {
    std::optional<debug::RanProgram> ran;
    if (is_run(recognize(model))) {
        ran = traced(tool, model, options, scratch);
        options.inputs = {};  // what was recorded has them
    } else {
        options.program.refuse_for_model(model);
    }
    const fs::path& read = ran ? scratch : model;
    Side side{.subject = subject_of(tool, read, options, scratch)};
    if (ran) {
        side.subject.model = model.string();
        debug::note_end(side.subject, *ran);
    }
    const std::unique_ptr<Backend> backend = find_backend(options.backend.spec(kDefaultSuspect));
    side.report = debug::report(side.subject, *backend);
    side.values = recorded(read, options);
    return side;
}

/// Arguments are for the program, inputs for the model, where one is compared with the other.
SubjectOptions for_one_of(const SubjectOptions& both, const fs::path& model, const fs::path& other) {
    SubjectOptions own = both;
    const bool runs = is_run(recognize(model));
    if (runs == is_run(recognize(other))) return own;
    if (runs)
        own.inputs = {};
    else
        own.program = {};
    return own;
}

}  // namespace

int tell_diff(const Tool& tool, const fs::path& before, const fs::path& after, const SubjectOptions& options,
              const Shown& shown) {
    const TempDir scratch("whittle-diff");
    const Side first = side_of(tool, before, for_one_of(options, before, after), scratch.path() / "before");
    const Side second = side_of(tool, after, for_one_of(options, after, before), scratch.path() / "after");
    const explain::TraceDiff diff = explain::diff(first.capture(), second.capture(), options.accuracy.accuracy());
    if (tool.shared().json)
        print_json(explain::to_json(diff));
    else
        shown.sink.out() << explain::to_text(diff, shown.report.text(tool, shown.sink));
    shown.pictures.write_diff(tool, second.subject, second.report, diff);
    return diff.same() ? 0 : 1;
}

}  // namespace whittle::cli
