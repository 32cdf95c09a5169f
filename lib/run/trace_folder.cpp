#include "run/trace_folder.h"

#include <algorithm>

#include "base/error.h"
#include "graph/abilities.h"
#include "graph/placement.h"
#include "ops/core/opaque.h"
#include "run/captured.h"
#include "run/trial.h"

namespace whittle {

namespace fs = std::filesystem;

namespace {

/// Fills in the backend and the expected outputs.
Trial try_frame(const FrameToTrace& frame, Backend& backend, const BackendOptions& options, Record& record) {
    Trial trial = try_backend(frame.graph, frame.inputs, {frame.expected, frame.expected_from}, backend, options,
                              record.accuracy);
    if (!trial.no_reference.empty())
        throw Error({frame.file, {}}, "the reference cannot run it: " + trial.no_reference,
                    opaque_ops(frame.graph).empty() ? "give the model inputs that it can run on: --input, --inputs"
                                                    : "give what it computes, too: --inputs, a folder with outputs");
    record.expected = trial.expected.outputs;
    record.expected_from = trial.expected.from;
    return trial;
}

using Verdict = CaptureCheck::Verdict;
void mark(IndexGraph& entry, const Verdict& verdict) {
    entry.checked = entry.checked || verdict.kind == Verdict::Kind::good || verdict.kind == Verdict::Kind::fault;
    if (verdict.kind == Verdict::Kind::fault && entry.capture_fault.empty()) entry.capture_fault = verdict.text;
}

}  // namespace

TraceFolder::TraceFolder(const fs::path& folder, std::span<const fs::path> models, std::string backend,
                         std::map<std::string, std::string> environment)
    : writer_(folder, {}) {
    name_models(writer_.index(), folder, models);
    writer_.index().backend = std::move(backend);
    writer_.index().environment = std::move(environment);
}

TracedFrame TraceFolder::add(const FrameToTrace& frame, Backend& backend, const BackendOptions& options,
                             RecordPolicy policy) {
    TraceIndex& index = writer_.index();
    Record record{
        .name = {}, .frame = frame.name, .backend = index.backend, .inputs = frame.inputs, .expected = frame.expected};
    record.backend_options = options;
    record.expected_from = frame.expected_from;
    record.environment = index.environment;
    TracedFrame traced{.frame = frame.name, .inputs_from = frame.inputs_from};
    const bool reference = offered<Reference>(backend), computable = !misplaced_value(frame.graph);
    Verdict verdict;
    if (!frame.expected.empty()) {
        record.accuracy = accuracy_of(frame.graph);
        verdict = check_.check(frame.graph, frame.inputs, frame.expected, frame.again);
        if (verdict.noisy) record.accuracy.mode = Accuracy::Mode::fp64;
        // The other runs of a wrong graph are no better than the first.
        if (!frame.capture_fault.empty()) verdict = {Verdict::Kind::fault, frame.capture_fault};
    }
    if (verdict.kind == Verdict::Kind::fault) {
        traced.capture_fault = record.capture_fault = verdict.text;
    } else if (verdict.kind == Verdict::Kind::failed && reference) {
        traced.failure = verdict.text;
    } else if (computable && (frame.expected.empty() || !reference)) {
        const Trial trial = try_frame(frame, backend, options, record);
        traced.failure = trial.text();
        traced.minifiable = trial.failed() && !reference && !trial.outcome.rounding;
        traced.rounding = trial.outcome.rounding;
        traced.wrong = trial.outcome.kind == Outcome::Kind::mismatch;
        traced.judged = !trial.outcome.failed() || trial.failed();
        if (trial.outcome.kind == Outcome::Kind::unsupported) traced.declined = trial.outcome.message;
    }

    if (std::find(index.frames.begin(), index.frames.end(), frame.name) == index.frames.end())
        index.frames.push_back(frame.name);
    const std::size_t entry = writer_.add_graph(frame.graph, frame.name);
    mark(index.graphs[entry], verdict);
    traced.graph = index.graphs[entry].file;
    traced.ops = index.graphs[entry].ops;
    const bool good = traced.failure.empty() && traced.capture_fault.empty();
    const bool wanted = policy == RecordPolicy::always || (policy == RecordPolicy::on_error && !good);
    if (wanted && (computable || !frame.expected.empty())) {
        traced.expected_from = record.expected_from;
        traced.record = writer_.add_record(entry, frame.graph, std::move(record));
    }
    return traced;
}

std::vector<TracedFrame> TraceFolder::add(const capture::CapturedFrame& frame, const std::string& from,
                                          Backend& backend, const BackendOptions& options, RecordPolicy policy) {
    std::vector<TracedFrame> all;
    std::vector<std::size_t> first;  // of each graph, where its first run is
    TraceIndex& index = writer_.index();
    add_frame(index, frame);
    for (const capture::CapturedGraph& captured : frame.graphs) {
        const bool has_values = captured.inputs.size() == captured.graph.placeholders().size();
        TracedFrame traced{.frame = frame.name};
        if (has_values)
            traced = add({frame.name, frame.file, captured.graph, captured.inputs, captured.outputs, {}, from}, backend,
                         options, policy);
        else
            traced.graph = index.graphs[writer_.add_graph(captured.graph, frame.name)].file;
        if (!captured.unrecorded.empty())
            note(traced.graph.stem().string() +
                 (has_values ? ": its record expects what the reference computes: " : " has no record: ") +
                 captured.unrecorded);
        const auto entry = std::find_if(index.graphs.begin(), index.graphs.end(),
                                        [&](const IndexGraph& graph) { return graph.file == traced.graph; });
        describe(*entry, frame, captured, index);
        const std::string fault = traced.capture_fault;
        first.push_back(all.size());
        all.push_back(std::move(traced));
        for (const capture::RecordedRun& run : captured.more_runs)
            all.push_back(add({frame.name, frame.file, captured.graph, run.inputs, run.outputs, {}, from, true, fault},
                              backend, options, policy));
    }
    for (const GradientVerdict& verdict : check_.check_gradients(frame)) {
        std::vector<std::string>& faults = all.at(first.at(verdict.graph)).gradient_faults;
        faults = verdict.differences;
        for (const std::string& fault : faults)
            note("gradients of " + frame.graphs[verdict.graph].graph.name + " differ: " + fault);
    }
    return all;
}

void check_records(const fs::path& folder, TraceIndex& index, CaptureCheck& check) {
    for (const IndexRecord& entry : index.records) {
        const auto graph = std::find_if(index.graphs.begin(), index.graphs.end(),
                                        [&](const IndexGraph& other) { return other.name == entry.graph; });
        if (graph == index.graphs.end()) continue;  // a frame record
        LoadedRecord loaded = load_record(folder / entry.file);
        const Verdict verdict = check.check(loaded.graph, loaded.record.inputs, loaded.record.expected, graph->checked);
        mark(*graph, verdict);
        if (verdict.kind != Verdict::Kind::fault && !verdict.noisy) continue;
        loaded.record.capture_fault = verdict.text;
        if (verdict.noisy) loaded.record.accuracy.mode = Accuracy::Mode::fp64;
        save_record(folder, loaded.graph, loaded.record);
    }
}

}  // namespace whittle
