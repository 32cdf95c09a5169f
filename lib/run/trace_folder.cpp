#include "run/trace_folder.h"

#include <algorithm>

#include "base/error.h"
#include "run/captured.h"
#include "run/trial.h"

namespace whittle {

namespace fs = std::filesystem;

namespace {

/// Fills in the backend and the expected outputs.
Trial try_frame(const FrameToTrace& frame, Backend& backend, const BackendOptions& options, Record& record) {
    Trial trial = try_backend(frame.graph, frame.inputs, {frame.expected, frame.expected_from}, backend, options);
    if (!trial.no_reference.empty())
        throw Error({frame.file, {}}, "the reference cannot run it: " + trial.no_reference);
    record.backend_options = options;
    record.expected = trial.expected.outputs;
    record.expected_from = trial.expected.from;
    return trial;
}

}  // namespace

void remove_trace(const fs::path& folder) {
    for (const char* part : {"index.json", "graphs", "records", "code"}) {
        std::error_code error;
        fs::remove_all(folder / part, error);
        if (error) throw Error({(folder / part).string(), {}}, "cannot remove what an earlier trace left");
    }
}

TraceFolder::TraceFolder(fs::path folder, std::string model, std::string backend,
                         std::map<std::string, std::string> environment)
    : folder_(std::move(folder)) {
    index_.model = std::move(model);
    index_.backend = std::move(backend);
    index_.environment = std::move(environment);
    remove_trace(folder_);
}

TracedFrame TraceFolder::add(const FrameToTrace& frame, Backend& backend, const BackendOptions& options,
                             RecordPolicy policy) {
    Record record{.name = {}, .frame = frame.name, .backend = index_.backend, .inputs = frame.inputs, .expected = {}};
    record.environment = index_.environment;
    TracedFrame traced;
    const Trial trial = try_frame(frame, backend, options, record);
    traced.failure = trial.text();
    traced.minifiable = trial.failed();

    IndexGraph graph = index_graph(frame.graph, frame.name);
    traced.graph = graph.file = save_captured_graph(folder_, frame.graph).lexically_relative(folder_);
    graph.name = graph.file.stem().string();  // unlike the graph's own, unique in the folder
    if (policy == RecordPolicy::always || (policy == RecordPolicy::on_error && !traced.failure.empty())) {
        record.name = graph.name;
        const auto taken = [&](const IndexRecord& other) { return other.name == record.name; };
        for (int i = 1; std::any_of(index_.records.begin(), index_.records.end(), taken); ++i)
            record.name = graph.name + "_run" + std::to_string(i);
        traced.record = save_record(folder_, frame.graph, record).lexically_relative(folder_);
        traced.expected_from = record.expected_from;
        index_.records.push_back({record.name, *traced.record, graph.name});
    }
    if (std::find(index_.frames.begin(), index_.frames.end(), frame.name) == index_.frames.end())
        index_.frames.push_back(frame.name);
    const auto same = [&](const IndexGraph& other) { return other.file == graph.file; };
    if (std::none_of(index_.graphs.begin(), index_.graphs.end(), same)) index_.graphs.push_back(std::move(graph));
    return traced;
}

std::vector<TracedFrame> TraceFolder::add(const capture::CapturedFrame& frame, const std::string& from,
                                          Backend& backend, const BackendOptions& options, RecordPolicy policy) {
    std::vector<TracedFrame> all;
    add_frame(index_, frame);
    for (const capture::CapturedGraph& captured : frame.graphs) {
        const bool has_values = captured.inputs.size() == captured.graph.placeholders().size();
        TracedFrame traced;
        if (has_values) {
            traced = add({frame.name, frame.file, captured.graph, captured.inputs, captured.outputs, from}, backend,
                         options, policy);
        } else {
            IndexGraph graph = index_graph(captured.graph, frame.name);
            traced.graph = graph.file = save_captured_graph(folder_, captured.graph).lexically_relative(folder_);
            graph.name = graph.file.stem().string();
            index_.graphs.push_back(std::move(graph));
        }
        if (!captured.unrecorded.empty())
            note(traced.graph.stem().string() +
                 (has_values ? ": its record expects what the reference computes: " : " has no record: ") +
                 captured.unrecorded);
        const auto entry = std::find_if(index_.graphs.begin(), index_.graphs.end(),
                                        [&](const IndexGraph& graph) { return graph.file == traced.graph; });
        describe(*entry, frame, captured, index_);
        all.push_back(std::move(traced));
        for (const capture::RecordedRun& run : captured.more_runs)
            all.push_back(
                add({frame.name, frame.file, captured.graph, run.inputs, run.outputs, from}, backend, options, policy));
    }
    return all;
}

void TraceFolder::finish() const { save_index(folder_, index_); }

}  // namespace whittle
