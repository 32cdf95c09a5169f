#define WHITTLE_API_IMPLEMENTATION
#include "api/frame.h"

#include <algorithm>
#include <charconv>

#include "api/piecewise.h"
#include "api/session.h"
#include "api/stack.h"
#include "api/stepping.h"
#include "api/uncompiled.h"
#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/joined.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/subprocess.h"
#include "capture/log.h"
#include "compile/program.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/aten/data_sizes.h"
#include "ops/core/assertions.h"
#include "ops/core/interpreter.h"
#include "ops/core/mode.h"
#include "passes/assertions.h"
#include "tensor/compare.h"

namespace whittle::api {
namespace {

using capture::place_of;

thread_local Trace* trace_of_explain = nullptr;

}  // namespace

Trace* current_trace() { return trace_of_explain ? trace_of_explain : Trace::of_environment(); }
Trace* exchange_trace(Trace* trace) { return std::exchange(trace_of_explain, trace); }

namespace {

/// The graph with its parameters' values, in the order of their get_attrs.
Graph with_parameters(Graph graph, const std::vector<whittle::Tensor>& parameters) {
    std::size_t next = 0;
    for (const Node& node : graph.nodes)
        if (node.kind == NodeKind::get_attr) graph.attributes.insert_or_assign(node.target, parameters.at(next++));
    return graph;
}

/// What the graph wrote to its inputs is written to their memory, once nothing reads the old values any more.
void write_updates(const CompiledGraph& compiled, std::vector<whittle::Tensor>& inputs,
                   std::vector<whittle::Tensor>& outputs) {
    if (compiled.updates.empty()) return;
    for (whittle::Tensor& output : outputs)
        for (const auto& [input, ignored] : compiled.updates)
            if (output.storage() == inputs.at(input).storage()) output = output.clone();
    for (const auto& [input, output] : compiled.updates) {
        write_into(inputs.at(input), outputs.at(output));
        note_write(inputs.at(input));
    }
}

/// The way back through one run. What is only saved for it is taken from `outputs`.
std::shared_ptr<CompiledNode> history_of(const CompiledGraph& compiled, const std::string& graph,
                                         const std::vector<whittle::Tensor>& inputs,
                                         std::vector<whittle::Tensor>& outputs) {
    if (!compiled.gradient) return nullptr;
    std::vector<whittle::Tensor> rewritten;
    for (const auto& [input, output] : compiled.updates) rewritten.push_back(inputs.at(input));
    auto history = std::make_shared<CompiledNode>(graph, compiled.gradient, inputs, outputs, rewritten);
    outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(compiled.gradient->outputs), outputs.end());
    return history;
}

}  // namespace

Execution::Execution(FunctionState& function, Trace* trace, std::size_t entry)
    : function_(function), trace_(trace), entry_(entry) {
    const std::lock_guard lock(function.mutex);
    id_ = function.id_of(entry);
    const capture::FrameCache::Entry& of = function.cache.entries()[entry];
    learns_sizes_ = !of.graphs && !of.symbols.empty();
}

namespace {

/// Where the program issued the node of that name.
std::vector<StackFrame> stack_of(const Recorded& recorded, const std::string& name) {
    const Graph& graph = recorded.captured.graph;
    const Node* const node = graph.find(name);
    const auto at = node ? static_cast<std::size_t>(node - graph.nodes.data()) : recorded.stacks.size();
    return at < recorded.stacks.size() ? user_stack(recorded.stacks[at]) : std::vector<StackFrame>();
}

}  // namespace

void Execution::tell_fixed(const SymbolicGraph& symbolic, const Recorded& recorded) {
    for (const SymbolicGraph::Fixed& fixed : symbolic.fixed) {
        {
            const std::lock_guard lock(function_.mutex);
            if (!function_.cache.is_marked(fixed.symbol.source, fixed.symbol.dim)) continue;
        }
        const std::vector<StackFrame> stack = stack_of(recorded, fixed.node);
        const std::string text = fixed.symbol.place() + " of " + function_.name() + " was marked dynamic, but " +
                                 (fixed.op.empty() ? "the graph" : fixed.op) +
                                 " allows only one size: " + fixed.symbol.name + " == " + std::to_string(fixed.size) +
                                 (fixed.words.empty() ? "" : " (" + fixed.words + ")");
        if (function_.options.fullgraph) throw ConstraintError("fullgraph: " + text + "\n" + print(stack));
        const std::string placed = text + (stack.empty() ? "" : ", at " + place_of(stack.front()));
        log_warning(LogChannel::capture, placed);
        if (trace_) trace_->violates(placed);
    }
}

/// A number is the size that it equals, where that is one only: the program's own integers carry no symbols.
void Execution::constrained(std::int64_t number, const capture::SizeRange& range, void* pc) {
    if (!learns_sizes_) return;
    using Kind = capture::SizeCondition::Kind;
    const std::vector<StackFrame> stack = user_stack({pc});
    const std::lock_guard lock(function_.mutex);
    const capture::FrameCache::Entry& entry = function_.cache.entries().at(entry_);
    const auto at = std::ranges::find(entry.sizes, number);
    if (at == entry.sizes.end() || std::ranges::count(entry.sizes, number) != 1) return;
    const capture::SizeSymbol symbol = entry.symbols[static_cast<std::size_t>(at - entry.sizes.begin())];
    const auto rely_on = [&](Kind kind, std::int64_t bound) {
        function_.cache.rely_on(entry_,
                                capture::Guard::relation({.kind = kind, .left = symbol, .factor = bound}, stack));
    };
    if (range.least > 2) rely_on(Kind::above, *range.least - 1);
    if (range.most) rely_on(Kind::at_most, *range.most);
}

std::shared_ptr<const CompiledGraph> Execution::at_other_sizes(const SymbolicGraph* symbolic) {
    if (!symbolic || symbolic->symbols.empty() || steps()) return nullptr;
    const std::lock_guard lock(function_.mutex);
    for (const FunctionState::Shape& shape : function_.shapes) {
        if (shape.keys.empty() || !same_but_for_sizes(shape.graph, *symbolic)) continue;
        const auto known = function_.graphs.find(shape.keys.front());
        if (known != function_.graphs.end()) return known->second;
    }
    return nullptr;
}

std::shared_ptr<const SymbolicGraph> Execution::learn_sizes(const Recorded& recorded, CompiledGraph& compiled) {
    std::vector<capture::SizeSymbol> symbols;
    std::uint64_t id = 0;
    {
        const std::lock_guard lock(function_.mutex);
        const auto& entry = function_.cache.entries().at(entry_);
        if (entry.symbols.empty() && !has_data_sizes(recorded.captured.graph)) return nullptr;
        if (const auto known = compiled.symbolic.find(entry.id); known != compiled.symbolic.end()) return known->second;
        symbols = entry.symbols;
        id = entry.id;
    }
    const auto known = [&](const SymbolicGraph& form) -> std::optional<SymbolicGraph> {
        const std::lock_guard lock(function_.mutex);
        for (const FunctionState::Shape& shape : function_.shapes)
            if (shape.graph.symbols == form.symbols && same_but_for_sizes(shape.graph, form)) return shape.graph;
        return std::nullopt;
    };
    const auto found = std::make_shared<const SymbolicGraph>(
        symbolic_graph(functionalize(recorded.captured.graph).graph, symbols, known));
    const std::lock_guard lock(function_.mutex);
    for (const auto& [condition, node, is_bound] : found->conditions) {
        capture::Guard guard = capture::Guard::relation(condition, stack_of(recorded, node));
        if (is_bound)
            function_.cache.may_rely_on(entry_, std::move(guard));
        else
            function_.cache.rely_on(entry_, std::move(guard));
    }
    return compiled.symbolic[id] = found;
}

/// Equal for graphs that are the same but for sizes that may vary.
const void* Execution::identity(const CompiledGraph& compiled, const SymbolicGraph* symbolic, const std::string& key) {
    if (!symbolic || symbolic->symbols.empty()) return &compiled;
    const std::lock_guard lock(function_.mutex);
    auto known = std::ranges::find_if(function_.shapes, [&](const FunctionState::Shape& shape) {
        return same_but_for_sizes(shape.graph, *symbolic);
    });
    if (known == function_.shapes.end()) known = function_.shapes.insert(known, {*symbolic});
    if (!key.empty()) forget_old_sizes(*known, key);
    return &*known;
}

void Execution::forget_old_sizes(FunctionState::Shape& shape, const std::string& key) {
    std::erase(shape.keys, key);
    shape.keys.push_front(key);
    if (shape.keys.size() <= FunctionState::Shape::kMostCompiled) return;
    function_.graphs.erase(shape.keys.back());
    function_.graphs.erase(stepped_key(shape.keys.back()));
    shape.keys.pop_back();
}

GraphRun Execution::run(const Recorded& recorded, std::shared_ptr<CompiledGraph>& compiled,
                        const std::vector<whittle::Tensor>& inputs, const std::vector<whittle::Tensor>& parameters) {
    const std::string& name = function_.name();
    const Graph& graph = recorded.captured.graph;
    const std::optional<std::size_t> ended_by = std::exchange(ended_by_, std::nullopt);
    const std::shared_ptr<const SymbolicGraph> symbolic =
        capture_step(verbose(), [&] { return learn_sizes(recorded, compiled ? *compiled : *slot(recorded)); });
    if (symbolic && learns_sizes_) tell_fixed(*symbolic, recorded);
    if (trace_) {
        std::vector<capture::Guard> guards;
        {
            const std::lock_guard lock(function_.mutex);
            guards = function_.cache.entries().at(entry_).guards;
        }
        if (function_.implicit) guards.clear();
        for (const capture::Guard& guard : recorded.captured.guards)
            if (function_.implicit || guard.as<capture::Outcomes>()) guards.push_back(guard);
        trace_->add_graph(name, recorded, ended_by, {guards, symbolic.get(), id_});
    }
    std::vector<whittle::Tensor> all = joined(inputs, parameters);
    const auto record = [&](const std::vector<whittle::Tensor>& expected) {
        trace_->add_record(name, recorded, inputs, expected, function_.backend_name, function_.backend_options);
    };
    const auto reference = [&] {
        const WithoutModes not_seen;
        return evaluate(without_any_assertions(form_to_compile(graph)), all);
    };
    std::vector<whittle::Tensor> outputs;
    const auto keep = [&](bool wrong_results) {
        keep_for_minify({with_parameters(graph, parameters), name, function_.backend_name, function_.backend_options,
                         inputs, reference()},
                        function_.repro, wrong_results);
    };
    if (!compiled && function_.repro.before_compiling()) keep(false);
    try {
        if (!compiled || compiled->stepped != steps()) compiled = find(recorded, symbolic.get());
        graphs_.push_back(identity(*compiled, symbolic.get(), recorded.key));
        if (trace_) keys_.push_back(recorded.key);
        outputs = execute(*compiled, recorded, all);
        if (verifies()) verify(*compiled, all, outputs);
    } catch (const std::exception& error) {
        try {
            if (trace_ && trace_->wants_record(recorded.key, true)) record(reference());
            if (function_.repro.on_failure()) keep(dynamic_cast<const VerifyError*>(&error) != nullptr);
        } catch (const std::exception& second) {
            log_warning(LogChannel::capture, std::string("the failing graph could not be saved: ") + second.what());
        }
        throw;
    }
    pure_run_.reset();
    if (function_.options.pure && graphs_.size() == 1 && !compiled->gradient && compiled->updates.empty() &&
        !verifies() && !has_data_sizes(graph) && !has_assertions(graph))
        pure_run_ = PureRun{compiled, all, outputs};
    GraphRun ran{.history = history_of(*compiled, graph.name, all, outputs)};
    if (trace_ && trace_->wants_record(recorded.key, false))
        record(function_.backend_name == kReferenceBackend ? outputs : reference());
    write_updates(*compiled, all, outputs);
    ran.outputs = std::move(outputs);
    return ran;
}

std::optional<std::size_t> numbered_argument(std::string_view name) {
    constexpr std::string_view prefix = "arg";
    std::size_t position = 0;
    if (!name.starts_with(prefix) || name.size() > prefix.size() + 3) return std::nullopt;
    const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), position);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return position;
}

void Execution::argument_named(const std::string& before, const std::string& name) {
    const std::lock_guard lock(function_.mutex);
    function_.cache.rename(before, name);
    const std::size_t position = numbered_argument(before).value();
    auto& names = function_.options.arg_names;
    for (std::size_t i = names.size(); i <= position; ++i) names.push_back("arg" + std::to_string(i));
    names[position] = name;
}

void Execution::gave_up(const Thrown& why, const Addresses& user) {
    const NotRecording unseen;
    function_.skip = true;
    capture_failure_ = why.what;
    const std::vector<StackFrame> stack = user_stack(user);
    std::vector<StackFrame> begin;
    if (function_.address) begin = user_stack({static_cast<char*>(const_cast<void*>(function_.address)) + 1});
    const std::string at = !begin.empty()  ? " " + place_of(begin.front())
                           : stack.empty() ? ""
                                           : " " + place_of(stack.back());
    std::string text = "WON'T CONVERT " + function_.name() + at + "\ndue to:\n" + why.what + "\n";
    if (verbose()) text += print(whole_stack(why.addresses));
    text += "from user code:\n" + print(stack);
    text += "from here on, the function runs uncompiled";
    if (!verbose())
        text += "; hint: to print the stacks of the program and of Whittle in full, add -v or set WHITTLE_VERBOSE=1";
    log_error(LogChannel::capture, text);
    if (trace_) trace_->note(function_.name() + at + " runs uncompiled: capture failed: " + why.what);
}

bool Execution::wants_events() const {
    return !function_.frame_records.empty() || (trace_ && trace_->wants_frame_records());
}

void Execution::keep_events(std::vector<FrameSegment> events, const std::string& error) {
    if (events.empty()) return;
    FrameRecord record{.name = function_.name() + "_frame", .frame = function_.name(), .error = error};
    record.segments = std::move(events);
    // Outputs of another backend say nothing about capture; the records of graphs judge it.
    if (function_.backend_name != kReferenceBackend)
        for (FrameSegment& segment : record.segments) segment.outputs.clear();
    if (trace_ && trace_->wants_frame_records()) trace_->add_frame_record(record);
    if (function_.frame_records.empty() || !failed(record)) return;
    const std::filesystem::path file = save_frame_record(function_.frame_records, record);
    log_error(LogChannel::capture, "capture of " + record.frame + " failed; the recorded operations are saved; next: " +
                                       shell_quote(program_words("replay", {file.string()})));
}

std::vector<std::shared_ptr<const Tape>> Execution::tapes(std::int64_t position) const {
    const std::lock_guard lock(function_.mutex);
    const auto found = function_.tapes.find({entry_, position});
    return found == function_.tapes.end() ? std::vector<std::shared_ptr<const Tape>>() : found->second;
}

void Execution::remember(std::int64_t position, std::shared_ptr<const Tape> tape) {
    constexpr std::size_t kMost = 4;  // ways through the function at one place
    const std::lock_guard lock(function_.mutex);
    auto& tapes = function_.tapes[{entry_, position}];
    tapes.insert(tapes.begin(), std::move(tape));
    if (tapes.size() > kMost) tapes.pop_back();
}

/// A warning, as in TorchDynamo's guide, unless a report will tell of it, or the exception that it is.
void Execution::log_break(const capture::GraphBreak& why, const Addresses& stack) const {
    const bool told_otherwise = (trace_ && trace_->is_reported()) || why.kind == capture::BreakKind::exception;
    const LogLevel level = told_otherwise ? LogLevel::info : LogLevel::warning;
    if (!log_enabled(LogChannel::capture, level) && !log_enabled(LogArtifact::graph_breaks)) return;
    capture::GraphBreak told = why;
    if (told.stack.empty()) told.stack = user_stack(stack);
    capture::log_break(told, title(), level);
}

namespace {

/// No option that is set already is a hint.
std::string hint_at(const capture::GraphBreak& why, const CompileOptions& options) {
    using enum capture::BreakKind;
    const bool set = why.kind == item            ? options.capture_scalar_outputs
                     : why.kind == dynamic_shape ? options.capture_dynamic_shapes
                     : why.kind == side_effect   ? options.defer_output
                                                 : false;
    return capture::hint(why.kind, {}, {.tensor_api = true, .more = !set});
}

}  // namespace

void Execution::broke(const capture::GraphBreak& why, const Addresses& stack) {
    bool first = false;
    broke_ = true;
    {
        const std::lock_guard lock(function_.mutex);
        ++function_.counts.breaks;
        // By the line: some calls come with whole stacks, which others do not.
        const Addresses line(stack.begin(), stack.begin() + (stack.empty() ? 0 : 1));
        first = function_.told_breaks.insert({why.reason, line}).second;
    }
    if (trace_) {
        capture::GraphBreak with_hint = why;
        with_hint.hint = hint_at(why, function_.options);
        ended_by_ = trace_->add_break(function_.name(), with_hint, stack);
    }
    if (first) log_break(why, stack);
    if (!function_.options.fullgraph) return;
    const std::string text = "fullgraph: " + function_.name() + " has a graph break: " + why.reason;
    throw GraphBreakError(text + "\n" + print(user_stack(stack)));
}

}  // namespace whittle::api
