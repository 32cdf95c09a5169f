#define WHITTLE_API_IMPLEMENTATION
#include "api/trace.h"

#include <unistd.h>

#include <algorithm>

#include "api/stack.h"
#include "base/error.h"
#include "base/log.h"
#include "base/variables.h"
#include "graph/text.h"
#include "ops/custom.h"
#include "passes/functionalize.h"
#include "record/record.h"

namespace whittle::api {

namespace fs = std::filesystem;

namespace {

constexpr int kRunsRecorded = 4;               // of one graph, or function
constexpr std::size_t kFrameBytes = 32 << 20;  // of a frame in which nothing failed
constexpr std::size_t kMostGraphs = 2000;      // of a trace
constexpr std::size_t kSizesRecorded = 64;     // beyond the first, of all graphs whose sizes vary; one run each

std::string text_of(const Addresses& addresses) {
    std::string text;
    for (const void* address : addresses) text += std::to_string(reinterpret_cast<std::uintptr_t>(address)) + " ";
    return text;
}

constexpr std::size_t kSizesTold = 16;  // of a symbol

/// The values that symbols had in one more call.
void add_values(IndexGraph& entry, const SymbolicGraph& symbolic) {
    for (std::size_t i = 0; i < symbolic.symbols.size(); ++i) {
        const auto is_it = [&](const IndexSymbol& s) { return s.name == symbolic.symbols[i].name; };
        auto known = std::find_if(entry.symbols.begin(), entry.symbols.end(), is_it);
        if (known == entry.symbols.end())
            known = entry.symbols.insert(known, {symbolic.symbols[i].name, symbolic.symbols[i].place()});
        const bool told =
            std::find(known->values.begin(), known->values.end(), symbolic.values[i]) != known->values.end();
        if (!told && known->values.size() < kSizesTold) known->values.push_back(symbolic.values[i]);
    }
}

std::string own_program() {
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    return error ? "" : path.string();
}

}  // namespace

Trace* Trace::of_environment() {
    struct OfEnvironment {
        std::unique_ptr<Trace> trace;
        pid_t process = 0;
        OfEnvironment() {
            const std::string folder = variable("WHITTLE_TRACE_DIR");
            if (folder.empty()) return;
            if (fs::exists(fs::path(folder) / "index.json")) return;  // of the program that started this one
            const std::string records = variable("WHITTLE_TRACE_RECORDS");
            if (!records.empty() && records != "always" && records != "on-error" && records != "never")
                throw Error({"WHITTLE_TRACE_RECORDS", {}},
                            "found '" + records + "', expected always, on-error or never");
            trace = std::make_unique<Trace>(folder, records.empty() ? "always" : records);
            process = getpid();
        }
    };
    static OfEnvironment instance;
    return instance.trace && instance.process == getpid() ? instance.trace.get() : nullptr;
}

Trace::Trace(fs::path folder, std::string records) : folder_(std::move(folder)), records_(std::move(records)) {
    index_.model = own_program();
    process_ = getpid();
    if (!folder_.empty()) save();
}

Trace::~Trace() {
    if (folder_.empty() || process_ != getpid()) return;  // of the parent, after a fork
    if (index_.frames.empty())
        note("no compiled function was called: of a program that uses compile() operations outside are not captured");
    try {
        save();
    } catch (const std::exception& error) {
        log_error("record", error.what());
    }
}

void Trace::save() {
    const std::lock_guard lock(mutex_);
    save_locked();
}

void Trace::save_locked() {
    if (folder_.empty()) return;
    save_index(folder_, index_);
    saved_at_ = std::chrono::steady_clock::now();
}

/// The whole index is written each time. A short one always, so that a crash right after loses nothing; a long one now
/// and then, where the program may end (an exception, a backend that compiles), and when the trace does.
void Trace::changed() {
    constexpr std::size_t kAlways = 100;
    constexpr auto kSeldom = std::chrono::milliseconds(100);
    if (++changes_ <= kAlways || std::chrono::steady_clock::now() - saved_at_ >= kSeldom) save_locked();
}

void Trace::frame(const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (std::find(index_.frames.begin(), index_.frames.end(), name) == index_.frames.end())
        index_.frames.push_back(name);
}

/// The user's part of a stack; takes note where that has no lines.
std::vector<StackFrame> Trace::told(const Addresses& addresses) {
    std::vector<StackFrame> stack = user_stack(addresses);
    const auto no_line = [](const StackFrame& frame) { return frame.line == 0; };
    if (const auto found = std::find_if(stack.begin(), stack.end(), no_line); found != stack.end())
        note_locked(found->file + " has no debug information in some places (compile with -g): functions or offsets " +
                    "stand for lines");
    return stack;
}

std::size_t Trace::add_break(const std::string& frame, const capture::GraphBreak& why, const Addresses& stack) {
    const std::lock_guard lock(mutex_);
    const auto [known, added] = breaks_.try_emplace(
        frame + "|" + std::to_string(static_cast<int>(why.kind)) + "|" + why.reason + "|" + text_of(stack),
        index_.breaks.size());
    if (!added) {
        ++index_.breaks[known->second].count;
        return known->second;
    }
    index_.breaks.push_back({.reason = why.reason,
                             .id = std::string(capture::info(why.kind).id),
                             .op = why.op,
                             .frame = frame,
                             .stack = why.stack.empty() ? told(stack) : why.stack});
    if (why.kind == capture::BreakKind::exception)
        save_locked();  // it may end the program
    else
        changed();
    return known->second;
}

std::optional<std::size_t> Trace::graph_of_other_size(const std::string& key, const SymbolicGraph& graph) const {
    const auto [begin, end] = by_shape_.equal_range(key);
    for (auto at = begin; at != end; ++at)
        if (same_but_for_sizes(at->second.first, graph)) return at->second.second;
    return std::nullopt;
}

bool Trace::add_graph(const std::string& frame, const Recorded& recorded, std::optional<std::size_t> ended_by,
                      const Specialization& of) {
    const std::lock_guard lock(mutex_);
    if (index_.graphs.size() >= kMostGraphs && !by_key_.contains(frame + "|" + recorded.key)) {
        beyond_limit_.insert(recorded.key);
        note_locked("the trace was cut after " + std::to_string(kMostGraphs) + " graphs; the program went on");
        return false;
    }
    const auto [known, added] = by_key_.try_emplace(frame + "|" + recorded.key, index_.graphs.size());
    if (!added) return false;
    Graph graph = recorded.captured.graph;
    const bool dynamic = of.symbolic && !of.symbolic->symbols.empty();
    if (dynamic) {  // one graph for all sizes, as its guards say; kernels are made for each
        std::string tensors;
        for (const capture::Guard& guard : of.guards)
            if (guard.kind == capture::GuardKind::tensor_match) tensors += guard.text() + "\n";
        if (const auto same = graph_of_other_size(frame + "|" + tensors, *of.symbolic)) {
            known->second = *same;
            add_values(index_.graphs[*same], *of.symbolic);
            graph = functionalize(graph).graph;
            graph.name = index_.graphs[*same].name;
            if (other_sizes_.size() < kSizesRecorded)
                other_sizes_.emplace(recorded.key, std::move(graph));
            else
                beyond_limit_.insert(recorded.key);
            changed();
            return false;
        }
        by_shape_.emplace(frame + "|" + tensors, std::pair(*of.symbolic, index_.graphs.size()));
    }
    std::int64_t of_frame = 0;
    for (const IndexGraph& other : index_.graphs) of_frame += other.frame == frame;
    graph.name = frame + "_" + std::to_string(of_frame);
    for (std::size_t i = 0; i < graph.nodes.size() && i < recorded.stacks.size(); ++i)
        if (!recorded.stacks[i].empty()) graph.nodes[i].stack = told(recorded.stacks[i]);
    graph = functionalize(graph).graph;  // what backends get; what it writes is among its outputs
    IndexGraph entry = index_graph(graph, frame);
    entry.ended_by_break = ended_by;
    for (const capture::Guard& guard : of.guards) entry.guards.push_back(guard.text());
    if (dynamic) {
        add_values(entry, *of.symbolic);
        entry.input_sizes = of.symbolic->inputs;
        entry.output_sizes = of.symbolic->outputs;
    }
    if (!folder_.empty()) {
        entry.file = save_captured_graph(folder_, graph).lexically_relative(folder_);
        entry.name = entry.file.stem().string();
    } else {
        entry.file = graph.name + ".json";  // by which the report finds the entry
    }
    index_.graphs.push_back(std::move(entry));
    graphs_.push_back(std::move(graph));
    changed();
    return true;
}

void Trace::compiled(const std::string& frame, const std::string& key, double seconds) {
    const std::lock_guard lock(mutex_);
    const auto known = by_key_.find(frame + "|" + key);
    if (known == by_key_.end()) return;
    IndexGraph& graph = index_.graphs.at(known->second);
    graph.compilations = graph.compile_seconds > 0 ? graph.compilations + 1 : 1;
    graph.compile_seconds += seconds;
}

bool Trace::wants_record(const std::string& key, bool failed) {
    if (folder_.empty() || records_ == "never" || (records_ == "on-error" && !failed)) return false;
    const std::lock_guard lock(mutex_);
    if (beyond_limit_.contains(key)) return false;
    if (other_sizes_.contains(key) && recorded_runs_[key] == 1) return false;
    int& runs = recorded_runs_[key];
    if (runs == kRunsRecorded) {
        const std::string text = "of a graph's runs only the first " + std::to_string(kRunsRecorded) + " are recorded";
        note_locked(text);
        return false;
    }
    ++runs;
    return true;
}

void Trace::add_record(const std::string& frame, const Recorded& recorded, const std::vector<whittle::Tensor>& inputs,
                       const std::vector<whittle::Tensor>& expected, const std::string& backend,
                       const BackendOptions& backend_options) {
    const std::lock_guard lock(mutex_);
    const auto known = by_key_.find(frame + "|" + recorded.key);
    WHITTLE_CHECK(known != by_key_.end(), "a record without its graph");
    const std::size_t position = known->second;
    const IndexGraph& graph = index_.graphs[position];
    Record record{.name = graph.name,
                  .frame = frame,
                  .backend = backend,
                  .backend_options = backend_options,
                  .inputs = inputs,
                  .expected = expected};
    const auto taken = [&](const IndexRecord& other) { return other.name == record.name; };
    for (int i = 1; std::any_of(index_.records.begin(), index_.records.end(), taken); ++i)
        record.name = graph.name + "_run" + std::to_string(i);
    const auto other_size = other_sizes_.find(recorded.key);
    const Graph& own = other_size == other_sizes_.end() ? graphs_[position] : other_size->second;
    const fs::path file = save_record(folder_, own, record);
    index_.records.push_back({record.name, file.lexically_relative(folder_), graph.name});
    changed();
}

namespace {

/// What capture made of the frame.
std::string captured_text(const FrameRecord& record) {
    std::string text;
    for (const FrameSegment& segment : record.segments) {
        text += segment.graph + segment.break_id + "\n";
        for (const std::string& guard : segment.guards) text += guard + "\n";
    }
    return text;
}

std::size_t bytes_of(const FrameRecord& record) {
    std::size_t bytes = 0;
    const auto add = [&](const whittle::Tensor& tensor) {
        bytes += static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype());
    };
    for (const FrameSegment& segment : record.segments) {
        std::for_each(segment.inputs.begin(), segment.inputs.end(), add);
        std::for_each(segment.outputs.begin(), segment.outputs.end(), add);
        for (const auto& [name, value] : segment.events.attributes) add(value);
    }
    return bytes;
}

/// Replay cannot capture it again: ops of the program's own are known to the program alone, and graphs inside a graph
/// are no events.
bool stays_here(const FrameRecord& record) {
    for (const FrameSegment& segment : record.segments) {
        if (!segment.events.subgraphs.empty()) return true;
        for (const Node& node : segment.events.nodes)
            if (node.kind == NodeKind::call && custom_op(node.target)) return true;
    }
    return false;
}

}  // namespace

void Trace::add_frame_record(FrameRecord record) {
    const std::lock_guard lock(mutex_);
    if (!failed(record)) {
        if (records_ != "always" || bytes_of(record) > kFrameBytes || stays_here(record)) return;
        if (!recorded_frames_.insert(record.frame + "|" + captured_text(record)).second) return;
    }
    int& recorded = recorded_runs_[(failed(record) ? "failed frame " : "frame ") + record.frame];
    if (recorded == kRunsRecorded) return;
    ++recorded;
    const std::string name = record.name;
    const auto taken = [&](const IndexRecord& other) { return other.name == record.name; };
    for (int i = 1; std::any_of(index_.records.begin(), index_.records.end(), taken); ++i)
        record.name = name + std::to_string(i);
    const fs::path file = save_frame_record(folder_, record);
    index_.records.push_back({record.name, file.lexically_relative(folder_), ""});
    save_locked();
}

void Trace::add_recompile(const std::string& frame, const capture::Violation& why, const Addresses& stack) {
    const std::lock_guard lock(mutex_);
    const auto [known, added] =
        recompiles_.try_emplace(frame + "|" + why.guard->source.text() + "|" +
                                    std::string(capture::name(why.guard->kind)) + "|" + text_of(stack),
                                index_.recompiles.size());
    if (!added) {
        ++index_.recompiles[known->second].count;
        return;
    }
    index_.recompiles.push_back({frame, why.reason, told(stack), why.advice});
    changed();
}

void Trace::drop_guard(const std::string& frame, const std::string& guard) {
    const std::lock_guard lock(mutex_);
    for (IndexGraph& graph : index_.graphs)
        if (graph.frame == frame) std::erase(graph.guards, guard);
    changed();
}

void Trace::restore_guard(const std::string& frame, const std::string& guard) {
    const std::lock_guard lock(mutex_);
    for (IndexGraph& graph : index_.graphs)
        if (graph.frame == frame) graph.guards.push_back(guard);
    changed();
}

void Trace::note(const std::string& text) {
    const std::lock_guard lock(mutex_);
    note_locked(text);
}

void Trace::note_locked(const std::string& text) {
    if (std::find(index_.notes.begin(), index_.notes.end(), text) == index_.notes.end()) index_.notes.push_back(text);
}

void Trace::set_backend(const std::string& name) {
    const std::lock_guard lock(mutex_);
    index_.backend = name;
}

}  // namespace whittle::api
