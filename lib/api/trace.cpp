#define WHITTLE_API_IMPLEMENTATION
#include "api/trace.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "api/debug_trace.h"
#include "api/stack.h"
#include "base/error.h"
#include "base/log.h"
#include "base/variables.h"
#include "ops/core/custom.h"
#include "passes/functionalize.h"
#include "record/captured.h"
#include "trace/record.h"

namespace whittle::api {

namespace fs = std::filesystem;

std::string own_program() {
    std::error_code error;
    const fs::path path = fs::read_symlink("/proc/self/exe", error);
    return error ? "" : path.string();
}

namespace {

constexpr int kRunsRecorded = 4;               // of one graph, or function
constexpr std::size_t kFrameBytes = 32 << 20;  // of a frame in which nothing failed
constexpr std::size_t kMostGraphs = 2000;      // of a trace
constexpr std::size_t kSizesRecorded = 64;     // beyond the first, of all graphs whose sizes vary; one run each

constexpr std::int64_t kCallsLogged = 100;  // of a function; four times as many that make a difference
constexpr std::size_t kMostCallers = 500;   // of a trace

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

/// The graph was run on another way through the function, too: it does not rely on it.
void forget_branches(std::vector<IndexGuard>& guards, const std::vector<capture::Guard>& now) {
    std::erase_if(guards, [&](const IndexGuard& entry) {
        if (!entry.guard || !entry.guard->as<capture::Outcomes>()) return false;
        const capture::Guard* other = capture::counterpart(*entry.guard, now);
        return !other || !(*other == *entry.guard);
    });
}

void add_once(std::vector<std::string>& all, const std::string& text) {
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
}

struct OfEnvironment {
    std::unique_ptr<Trace> trace;
    std::unique_ptr<DebugTrace> debug;

    OfEnvironment() {
        configure_from_environment();
        const std::string folder = variable("WHITTLE_TRACE_DIR");
        if (folder.empty()) {
            debug = DebugTrace::begin();
            return;
        }
        // Of the program that started this one, or of an earlier run.
        if (fs::exists(fs::path(folder) / "index.json")) {
            log_warning(LogChannel::capture, folder + " already holds a trace, so this process is not traced");
            return;
        }
        const std::string records = variable("WHITTLE_TRACE_RECORDS");
        const auto policy = record_policy_called(records.empty() ? name(RecordPolicy::always) : records);
        if (!policy)
            throw Error({"WHITTLE_TRACE_RECORDS", {}},
                        "found '" + records + "', expected 'always', 'on-error' or 'never'");
        try {
            trace = std::make_unique<Trace>(folder, *policy);
        } catch (const Error& error) {  // the program did not ask for it
            log_error(LogChannel::capture, std::string("cannot write the trace: ") + error.what());
        }
    }

    static OfEnvironment& instance() {
        static OfEnvironment instance;
        return instance;
    }
    Trace* own() {
        Trace* const open = debug ? &debug->trace() : trace.get();
        return open && open->is_own() ? open : nullptr;
    }

    /// Full code of what was recorded, once, while all is there that it is made with: the program's end destroys what
    /// was made last first.
    static void write_code_at_exit() {
        if (log_enabled(LogArtifact::full_code)) std::atexit([] { instance().write_code(); });
    }

  private:
    void write_code() {
        Trace* const open = std::exchange(code_written_, true) ? nullptr : own();
        if (!open) return;
        if (debug)
            debug->write_code();
        else if (open->keeps_runs() && open->write_now())
            log_full_code(open->folder());
    }

    bool code_written_ = false;
};

}  // namespace

Trace* Trace::of_environment() { return OfEnvironment::instance().own(); }

Trace::Trace(fs::path folder, RecordPolicy records, bool reported)
    : writer_(std::move(folder), {.model = own_program()}), process_(getpid()), records_(records), reported_(reported) {
    if (!variable("WHITTLE_TIMES").empty()) timeline_.emplace();
    save();
}

bool Trace::is_own() const { return process_ == getpid(); }

Trace::~Trace() {
    if (!keeps_files() || !is_own()) return;
    if (timeline_) index_.spans = whittle::told(timeline_->spans());
    if (index_.frames.empty())
        note("no compiled function was called: in a program that uses compile(), other operations are not captured");
    const std::lock_guard lock(mutex_);
    changed_for_good();
}

void Trace::save() {
    const std::lock_guard lock(mutex_);
    if (timeline_) index_.spans = whittle::told(timeline_->spans());
    if (!lost_) writer_.save();
}

bool Trace::write(const std::function<void()>& what) {
    if (lost_) return false;
    try {
        what();
        return true;
    } catch (const std::exception& error) {
        lost_ = true;
        log_error(LogChannel::capture, std::string("the trace is incomplete from here on: ") + error.what());
        return false;
    }
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
        note_locked("parts of " + found->file +
                    " have no debug information, so the trace shows functions or offsets in place of source lines; to "
                    "see source lines, compile with -g");
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
    index_.breaks.push_back(break_entry(why, frame));
    index_.breaks.back().count = 1;
    index_.breaks.back().order = ++order_;
    if (why.stack.empty()) index_.breaks.back().stack = told(stack);
    if (why.kind == capture::BreakKind::exception)
        changed_for_good();
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
        note_locked("the trace has only the first " + std::to_string(kMostGraphs) +
                    " graphs of the program: a trace has at most this number of graphs");
        return false;
    }
    const auto [known, added] = by_key_.try_emplace(frame + "|" + recorded.key, index_.graphs.size());
    if (!added) {
        forget_branches(index_.graphs[known->second].guards, of.guards);
        return false;
    }
    Graph graph = recorded.captured.graph;
    const bool dynamic = of.symbolic && !of.symbolic->symbols.empty();
    if (dynamic) {  // one graph for all sizes, as its guards say; kernels are made for each
        std::string tensors;
        for (const capture::Guard& guard : of.guards)
            if (guard.as<capture::TensorMatch>()) tensors += guard.text() + "\n";
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
    capture::CapturedGraph captured{
        .graph = std::move(graph), .sources = recorded.captured.sources, .guards = of.guards};
    functionalize(captured);  // what backends get
    std::size_t position = 0;
    const std::size_t before = index_.graphs.size();
    // Where it cannot be written it has a place in memory all the same.
    if (!write([&] { position = writer_.add_graph(captured.graph, frame); })) {
        position = before;
        if (index_.graphs.size() == before) index_.graphs.push_back(index_graph(captured.graph, frame));
    }
    IndexGraph& entry = index_.graphs[position];
    describe(entry, captured);
    entry.ended_by_break = ended_by;
    entry.order = ++order_;
    entry.compile_id = of.id.numbers();
    if (dynamic) {
        add_values(entry, *of.symbolic);
        entry.input_sizes = of.symbolic->inputs;
        entry.output_sizes = of.symbolic->outputs;
    }
    graphs_.push_back(std::move(captured.graph));
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
    if (!keeps_files() || records_ == RecordPolicy::never || (records_ == RecordPolicy::on_error && !failed))
        return false;
    const std::lock_guard lock(mutex_);
    if (beyond_limit_.contains(key)) return false;
    if (other_sizes_.contains(key) && recorded_runs_[key] == 1) return false;
    int& runs = recorded_runs_[key];
    if (runs == kRunsRecorded) {
        const std::string text = "only the first " + std::to_string(kRunsRecorded) + " runs of each graph are recorded";
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
    Record record{.name = {},
                  .frame = frame,
                  .backend = backend,
                  .backend_options = backend_options,
                  .inputs = inputs,
                  .expected = expected};
    const auto other_size = other_sizes_.find(recorded.key);
    const Graph& own = other_size == other_sizes_.end() ? graphs_[position] : other_size->second;
    write([&] { writer_.add_record(position, own, std::move(record)); });
    if (this == of_environment()) OfEnvironment::write_code_at_exit();
}

bool Trace::write_now() {
    const std::lock_guard lock(mutex_);
    return write([this] { writer_.save(); });
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

std::size_t record_bytes(const FrameRecord& record) {
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
        if (records_ != RecordPolicy::always || record_bytes(record) > kFrameBytes || stays_here(record)) return;
        if (!recorded_frames_.insert(record.frame + "|" + captured_text(record)).second) return;
    }
    int& recorded = recorded_runs_[(failed(record) ? "failed frame " : "frame ") + record.frame];
    if (recorded == kRunsRecorded) return;
    ++recorded;
    write([&] {
        writer_.add_frame_record(std::move(record));
        writer_.save();  // the program may end here
    });
}

void Trace::add_recompile(const std::string& frame, const capture::Violation& why, const Addresses& stack) {
    const std::lock_guard lock(mutex_);
    const auto [known, added] = recompiles_.try_emplace(
        frame + "|" + why.reason.about + "|" + std::string(why.guard->kind()) + "|" + text_of(stack),
        index_.recompiles.size());
    if (!added) {
        ++index_.recompiles[known->second].count;
        return;
    }
    index_.recompiles.push_back(
        {why.reason, frame, why.guard->stack().empty() ? told(stack) : why.guard->stack(), why.advice});
    changed();
}

void Trace::called(IndexCall call, const Addresses& stack) {
    const std::lock_guard lock(mutex_);
    call.call = ++calls_[call.frame];
    if (call.call > 1) index_.calls[call.frame] = call.call;
    if (!call.specialization) ++index_.eager_calls[call.frame];
    const auto [known, added] = callers_.try_emplace(call.frame + "|" + text_of(stack), index_.callers.size());
    if (added && index_.callers.size() == kMostCallers)
        callers_.erase(known);
    else if (added)
        index_.callers.push_back({.frame = call.frame, .stack = told(stack), .calls = 1});
    else
        ++index_.callers[known->second].calls;
    const bool tells = !call.specialization || call.compiled || !call.guard.empty();
    std::int64_t& logged = calls_logged_[call.frame];
    if (logged >= kCallsLogged && (!tells || logged >= 4 * kCallsLogged)) return;
    ++logged;
    index_.call_log.push_back(std::move(call));
    changed();
}

std::vector<std::string> Trace::graph_names(const std::string& frame, const std::vector<std::string>& keys) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const std::string& key : keys)
        if (const auto known = by_key_.find(frame + "|" + key); known != by_key_.end())
            names.push_back(index_.graphs[known->second].name);
    return names;
}

void Trace::drop_guard(const std::string& frame, const capture::Guard& guard) {
    const std::lock_guard lock(mutex_);
    for (IndexGraph& graph : index_.graphs)
        if (graph.frame == frame) std::erase(graph.guards, IndexGuard(guard));
    changed();
}

void Trace::restore_guard(const std::string& frame, const capture::Guard& guard) {
    const std::lock_guard lock(mutex_);
    for (IndexGraph& graph : index_.graphs)
        if (graph.frame == frame) graph.guards.emplace_back(guard);
    changed();
}

void Trace::note(const std::string& text) {
    const std::lock_guard lock(mutex_);
    note_locked(text);
}

void Trace::violates(const std::string& text) {
    const std::lock_guard lock(mutex_);
    add_once(index_.constraint_violations, text);
}

void Trace::note_locked(const std::string& text) { add_once(index_.notes, text); }

void Trace::set_backend(const std::string& name) {
    const std::lock_guard lock(mutex_);
    index_.backend = name;
}

}  // namespace whittle::api
