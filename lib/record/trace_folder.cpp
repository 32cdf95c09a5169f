#include "record/trace_folder.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/words.h"
#include "graph/abilities.h"
#include "graph/placement.h"
#include "ops/core/opaque.h"
#include "record/captured.h"

namespace whittle {

namespace fs = std::filesystem;

namespace {

/// Fills in the expected outputs of the record; none where only opaque calls (ops/core/opaque.h) are in the way.
Judgement judge_frame(const FrameToTrace& frame, Backend& backend, Record& record) {
    FailingCase asked = frame.asked;
    asked.suspect.accuracy = record.accuracy;
    asked.suspect.tier = Tier::computes;
    Judgement said = judge(asked, backend);
    if (said.expected.outputs.empty() && !said.no_reference.empty() && opaque_ops(asked.graph).empty())
        throw Error({frame.file, {}}, "the reference, eager, cannot run the model: " + said.no_reference,
                    "use --input to pass inputs with which the model runs");
    if (!said.expected.outputs.empty()) {  // else it is not judged, and what is given stays
        record.expected = said.expected.outputs;
        record.expected_from = said.expected.from;
    }
    return said;
}

using Finding = CaptureCheck::Finding;
void mark(IndexGraph& entry, const Finding& finding) {
    entry.checked = entry.checked || finding.kind == Finding::Kind::good || finding.kind == Finding::Kind::fault;
    if (finding.kind == Finding::Kind::fault && entry.capture_fault.empty()) entry.capture_fault = finding.text;
}

}  // namespace

TraceFolder::TraceFolder(const fs::path& folder, std::span<const fs::path> models, std::string backend,
                         std::map<std::string, std::string> environment)
    : TraceWriter(folder, {}) {
    name_models(index(), folder, models);
    index().backend = std::move(backend);
    index().environment = std::move(environment);
}

TracedFrame TraceFolder::add(const FrameToTrace& frame, Backend& backend, RecordPolicy policy) {
    const Graph& graph = frame.asked.graph;
    const Expectation& given = frame.asked.given;
    Record record{.name = {},
                  .frame = frame.name,
                  .backend = index().backend,
                  .backend_options = frame.asked.suspect.options,
                  .inputs = {frame.asked.inputs.begin(), frame.asked.inputs.end()},
                  .expected = given.outputs,
                  .expected_from = given.from,
                  .environment = index().environment};
    const bool reference = offered<Reference>(backend), computable = !misplaced_value(graph);
    TracedFrame traced{.frame = frame.name, .inputs_from = frame.inputs_from, .runnable = computable};
    const bool known = !given.outputs.empty();
    Finding finding;
    const bool own_accuracy = !frame.asked.suspect.accuracy;
    if (!own_accuracy)
        record.accuracy = *frame.asked.suspect.accuracy;
    else if (known)
        record.accuracy = accuracy_of(graph);
    if (known && frame.observed) {
        finding = check_.check(graph, record.inputs, given.outputs, frame.again);
        if (finding.noisy && own_accuracy) record.accuracy.mode = Accuracy::Mode::fp64;
        // The other runs of a wrong graph are no better than the first.
        if (!frame.capture_fault.empty()) finding = {Finding::Kind::fault, frame.capture_fault};
    }
    if (finding.kind == Finding::Kind::fault) {
        traced.capture_fault = record.capture_fault = finding.text;
    } else if (finding.kind == Finding::Kind::failed && reference) {
        traced.failure = finding.text;
    } else if ((computable || !frame.observed) && !(reference && known && (frame.observed || !check_.checks()))) {
        const Judgement said = judge_frame(frame, backend, record);
        if (own_accuracy && known && said.right() && !said.reason.empty())  // it rounds otherwise
            record.accuracy.mode = Accuracy::Mode::fp64;
        if (known && said.right()) finding.kind = Finding::Kind::good;
        traced.judged = judged_frame(frame.name, {}, said);
    }

    add_once(index().frames, frame.name);
    const std::size_t entry = add_graph(graph, frame.name);
    mark(index().graphs[entry], finding);
    traced.graph = index().graphs[entry].file;
    traced.ops = index().graphs[entry].ops;
    if (traced.judged) traced.judged->file = traced.graph.string();
    const bool good = traced.failure.empty() && traced.capture_fault.empty() &&
                      (!traced.judged || traced.judged->verdict == Verdict::right);
    const bool wanted = policy == RecordPolicy::always || (policy == RecordPolicy::on_error && !good);
    if (wanted && (computable || known)) {
        traced.expected_from = record.expected_from;
        traced.record = add_record(entry, graph, std::move(record));
    }
    return traced;
}

std::vector<TracedFrame> TraceFolder::add(const capture::CapturedFrame& frame, const std::string& from,
                                          Backend& backend, const Suspect& suspect, RecordPolicy policy) {
    std::vector<TracedFrame> all;
    std::vector<std::size_t> first;  // of each graph, where its first run is
    std::vector<std::string>& notes = index().notes;
    add_frame(index(), frame);
    for (const capture::CapturedGraph& captured : frame.graphs) {
        FrameToTrace run{.name = frame.name,
                         .file = frame.file,
                         .asked = {captured.graph, captured.inputs, {captured.outputs, from}, suspect},
                         .observed = true};
        const bool has_values = captured.inputs.size() == captured.graph.placeholders().size();
        TracedFrame traced{.frame = frame.name};
        if (has_values)
            traced = add(run, backend, policy);
        else
            traced.graph = index().graphs[add_graph(captured.graph, frame.name)].file;
        if (!captured.unrecorded.empty())
            notes.push_back(traced.graph.stem().string() +
                            (has_values ? ": the expected results of the record come from the reference, because "
                                        : " has no record, because ") +
                            captured.unrecorded);
        describe(*std::ranges::find(index().graphs, traced.graph, &IndexGraph::file), frame, captured, index());
        run.again = true;
        run.capture_fault = traced.capture_fault;
        first.push_back(all.size());
        all.push_back(std::move(traced));
        for (const capture::RecordedRun& more : captured.more_runs) {
            run.asked.inputs = more.inputs;
            run.asked.given.outputs = more.outputs;
            all.push_back(add(run, backend, policy));
        }
    }
    std::map<std::string, std::string> unchecked;  // graphs, by the reason
    for (const GradientVerdict& finding : check_.check_gradients(frame)) {
        const std::string& graph = frame.graphs[finding.graph].graph.name;
        all.at(first.at(finding.graph)).gradient_faults = finding.differences;
        for (const std::string& fault : finding.differences)
            notes.push_back("gradients of " + graph + " differ: " + fault);
        if (finding.leaves_unchecked.empty()) continue;
        std::string& graphs = unchecked[finding.leaves_unchecked];
        graphs += (graphs.empty() ? "" : ", ") + graph;
    }
    for (const auto& [why, graphs] : unchecked)
        notes.push_back("the gradients of inputs and parameters in " + graphs + " were not compared: " + why);
    return all;
}

void check_records(const fs::path& folder, TraceIndex& index, CaptureCheck& check) {
    for (const IndexRecord& entry : index.records) {
        const auto graph =
            std::ranges::find_if(index.graphs, [&](const IndexGraph& other) { return other.name == entry.graph; });
        if (graph == index.graphs.end()) continue;  // a frame record
        LoadedRecord loaded = load_record(folder / entry.file);
        const Finding finding = check.check(loaded.graph, loaded.record.inputs, loaded.record.expected, graph->checked);
        mark(*graph, finding);
        if (finding.kind != Finding::Kind::fault && !finding.noisy) continue;
        loaded.record.capture_fault = finding.text;
        if (finding.noisy) loaded.record.accuracy.mode = Accuracy::Mode::fp64;
        save_record(folder, loaded.graph, loaded.record);
    }
}

}  // namespace whittle
