// Entering and leaving a compiled function.
#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/compile.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <unordered_map>

#include "api/deferred_streams.h"
#include "api/frame.h"
#include "api/global_state.h"
#include "api/output_hooks.h"
#include "api/session.h"
#include "api/stack.h"
#include "api/thrown.h"
#include "base/error.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/number_text.h"
#include "base/variables.h"
#include "capture/log.h"

namespace whittle::api {
namespace {

using capture::Found;
using capture::HostValue;
using capture::Source;

/// Collects the arguments of a call: what guards look at, and where tensors come from.
class ArgumentReader final : public Visitor {
  public:
    explicit ArgumentReader(std::vector<std::string> names) : names_(std::move(names)) {}

    void tensor(const Tensor& value) override {
        if (!value.defined()) return found(HostValue{});
        const auto [known, first] = seen_.try_emplace(value.impl().get(), path_.back());
        if (!first) return found(capture::SameTensor{known->second});  // graphs have one input for both
        tensors.emplace_back(value, path_.back());
        for (const MarkedDim& marked : value.impl()->marked_dims) dynamic.emplace_back(path_.back(), marked);
        found(value.impl()->meta);
    }
    void parameter(const Tensor& value, const std::string& name) override {
        if (value.defined()) parameters.emplace_back(value, name);
    }
    void number(bool value) override { found(HostValue{value}); }
    void number(std::int64_t value) override { found(HostValue{value}); }
    void number(double value) override { found(HostValue{value}); }
    void text(const std::string& value) override { found(HostValue{value}); }
    void length(std::size_t count) override {
        inputs.add(path_.back().attribute(std::string(capture::kLength)), HostValue{static_cast<std::int64_t>(count)});
    }
    void present(bool value) override {
        inputs.add(path_.back().attribute(std::string(capture::kPresent)), HostValue{value});
    }
    void opaque(const char*) override {}
    void enter(const char* member) override { path_.push_back(path_.back().attribute(member)); }
    void enter(std::size_t element) override {
        if (!path_.empty()) return path_.push_back(path_.back().item(static_cast<std::int64_t>(element)));
        path_.push_back(Source::local(element < names_.size() ? names_[element] : "arg" + std::to_string(element)));
    }
    void leave() override { path_.pop_back(); }

    capture::FoundInputs inputs;
    std::vector<std::pair<Tensor, Source>> tensors;
    std::vector<std::pair<Tensor, std::string>> parameters;
    std::vector<std::pair<Source, MarkedDim>> dynamic;  ///< marked so

  private:
    void found(Found value) { inputs.add(path_.back(), std::move(value)); }

    std::vector<std::string> names_;
    std::vector<Source> path_;
    std::unordered_map<const TensorImpl*, Source> seen_;
};

std::mutex all_mutex;
std::vector<std::weak_ptr<FunctionState>> all_functions;

/// The specialization that fits, or (with .limited()) none: this call runs eagerly.
capture::FrameCache::Lookup enter(FunctionState& function, const ArgumentReader& reader, Trace* trace) {
    const std::string& name = function.name();
    const std::lock_guard lock(function.mutex);
    for (const auto& [source, marked] : reader.dynamic)
        function.cache.mark_dynamic(source, marked.dim, {marked.least, marked.most});
    const capture::FrameCache::Lookup lookup = function.cache.look_up(reader.inputs);
    if (!lookup.limited()) {
        ++function.running;
        return lookup;
    }
    ++function.counts.eager_calls;
    if (!function.profile && !std::exchange(function.warned, true)) {
        const std::string text = name + " reached its cache limit of " + std::to_string(function.options.cache_limit) +
                                 " specializations: from now on, calls that fit none of the specializations run "
                                 "eagerly; in the last call, this guard failed: " +
                                 lookup.reason.text();
        log_warning(LogChannel::capture, text + "; hint: " + lookup.advice);
        if (trace) trace->note(text);
    }
    return lookup;
}

/// A call that uses the cache, which enter() has counted.
class Running {
  public:
    explicit Running(FunctionState& function) : function_(function) {}
    ~Running() {
        bool last = false;
        {
            const std::lock_guard lock(function_.mutex);
            last = --function_.running == 0 && function_.reset_wanted;
        }
        if (last) function_.reset();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

  private:
    FunctionState& function_;
};

/// Whether somebody wants to know where a call came from that no specialization fitted.
bool wants_call_stack(const FunctionState& function, const Trace* trace, const capture::FrameCache::Lookup& lookup) {
    if (trace) return true;
    if (function.profile) return lookup.failed || !lookup.added;
    return lookup.failed && (log_enabled(LogChannel::capture, LogLevel::info) || log_enabled(LogArtifact::recompiles));
}

/// Who observes the function is told whether its first specialization fits the call; `why` it was compiled again, where
/// no guard says. The function's mutex is held.
void observe(FunctionState& function, const ArgumentReader& reader, const std::optional<capture::Violation>& why,
             const Addresses& stack) {
    if (!function.profile) return;
    const auto& entries = function.cache.entries();
    const auto unfit = capture::first_violation(entries.front().guards,
                                                [&](const Source& source) { return reader.inputs.find(source); });
    function.profile->called(function.counts.name, entries.size(), unfit ? unfit : why, stack);
}

/// The same of a call beyond the cache limit.
void observe_eager_call(FunctionState& function, const ArgumentReader& reader, const Addresses& stack) {
    const std::lock_guard lock(function.mutex);
    if (!function.cache.entries().empty()) observe(function, reader, std::nullopt, stack);
}

/// As they are known by now: probes tell more of them while the function runs, on any thread.
std::vector<std::string> argument_names(FunctionState& function) {
    const std::lock_guard lock(function.mutex);
    return function.options.arg_names;
}

/// Of a call that made graphs of its own though its specialization is known: the ways that the first call of that went.
std::vector<capture::Guard> branches_before(FunctionState& function, const capture::FrameCache::Lookup& lookup,
                                            const Execution& execution) {
    const auto& entries = function.cache.entries();
    if (*lookup.entry >= entries.size()) return {};  // it turned out to be none
    const capture::FrameCache::Entry& entry = entries[*lookup.entry];
    const auto [known, first] = function.ways.try_emplace(entry.id, execution.ways());
    const bool other = !first && execution.compiled_another() && entry.graphs && !entry.graphs->empty() &&
                       !execution.graphs().empty() && entry.graphs->front() != execution.graphs().front();
    return other ? branch_guards(known->second) : std::vector<capture::Guard>();
}

/// The first branch at which the call went another way.
std::optional<capture::Violation> other_way(const std::vector<capture::Guard>& was,
                                            const std::vector<capture::Guard>& now) {
    for (const capture::Guard& guard : was) {
        const capture::Guard* other = capture::counterpart(guard, now);
        if (!other) continue;
        const Found found = capture::found_of(*other);
        if (auto reason = guard.violated_by([&](const Source&) { return &found; }))
            return capture::Violation{&guard, std::move(*reason), capture::advice(guard, &found)};
    }
    return std::nullopt;
}

bool relies_on_deterministic(FunctionState& function) {
    const std::lock_guard lock(function.mutex);
    return function.relies_on_deterministic;
}

/// What the trace says of a call.
IndexCall call_of(const std::string& name, const capture::FrameCache::Lookup& lookup,
                  const std::optional<capture::Violation>& recompile, std::vector<std::string> graphs = {}) {
    IndexCall call;
    if (recompile)
        call = {recompile->reason};
    else if (lookup.limited())
        call = {lookup.reason};
    call.frame = name;
    call.compiled = lookup.added;
    call.graphs = std::move(graphs);
    if (lookup.entry) call.specialization = static_cast<std::int64_t>(*lookup.entry);
    return call;
}

/// Learns from what the call ran, and tells of a recompile. `deterministic`: the mode that it began with.
void leave(FunctionState& function, const capture::FrameCache::Lookup& lookup, const ArgumentReader& reader,
           const Execution& execution, Trace* trace, const Addresses& stack, bool deterministic) {
    const std::string& name = function.name();
    const std::lock_guard lock(function.mutex);
    if (take_asked_deterministic()) {
        function.relies_on_deterministic = true;
        function.cache.rely_on(*lookup.entry, capture::Guard::state("deterministic", HostValue{deterministic}));
    }
    const auto outcome = function.cache.ran(lookup, reader.inputs, execution.graphs());
    if (lookup.added && *lookup.entry < function.cache.entries().size())
        capture::log_guards(execution.title(), function.cache.entries()[*lookup.entry].guards);
    if (trace) {
        for (const capture::Guard& guard : outcome.dropped) trace->drop_guard(name, guard);
        for (const capture::Guard& guard : outcome.restored) trace->restore_guard(name, guard);
    }
    const std::vector<capture::Guard> was = branches_before(function, lookup, execution),
                                      now = branch_guards(execution.ways());
    const std::optional<capture::Violation> recompile = outcome.recompile ? outcome.recompile : other_way(was, now);
    observe(function, reader, recompile, stack);
    if (trace) trace->called(call_of(name, lookup, recompile, trace->graph_names(name, execution.keys())), stack);
    if (!recompile) return;
    const capture::Violation& why = *recompile;
    ++function.counts.recompiles;
    auto& reasons = function.counts.recompile_reasons;
    const std::string reason = why.reason.text();
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
    if (log_enabled(LogChannel::capture, LogLevel::info) || log_enabled(LogArtifact::recompiles))
        capture::log_recompile(reason, why.advice, execution.title(), user_stack(stack));
    if (trace) trace->add_recompile(name, why, stack);
}

/// What the program logs; any thread may change it.
struct ProgramLog {
    std::mutex mutex;
    LogOptions options;
};
ProgramLog& program_log() {
    static ProgramLog log;
    return log;
}

}  // namespace

void configure_from_environment() {
    static const bool done = [] {
        try {
            LogOptions& options = program_log().options;
            options = {.variable = variable("WHITTLE_LOGS"),
                       .file = variable("WHITTLE_LOG_FILE"),
                       .debug_dir = variable("WHITTLE_DEBUG_DIR"),
                       .debug_parts = variable("WHITTLE_DEBUG_PARTS")};
            if (!options.variable.empty() || !options.file.empty() || !options.debug_dir.empty())
                configure_log(options);
        } catch (const std::exception& error) {
            log_warning(LogChannel::capture, error.what());
        }
        return true;
    }();
    static_cast<void>(done);
}

std::shared_ptr<FunctionState> make_function(CompileOptions options, const void* address, const char* type) {
    configure_from_environment();
    static_cast<void>(Trace::of_environment());  // tells of a function that is never called, too
    link_output_hooks();
    link_throw_hook();
    auto state = std::make_shared<FunctionState>(std::move(options), address, type);
    const std::lock_guard lock(all_mutex);
    std::erase_if(all_functions, [](const auto& entry) { return entry.expired(); });
    all_functions.push_back(state);
    return state;
}

void run_frame(FunctionState& function, const std::function<void(Visitor&)>& describe,
               const std::function<void()>& body) {
    std::optional<PureRun> unwanted;
    run_frame(function, describe, body, unwanted);
}

__attribute__((noinline)) void run_frame(FunctionState& function, const std::function<void(Visitor&)>& describe,
                                         const std::function<void()>& body, std::optional<PureRun>& ran) {
    // Inside another compiled function this one is part of it.
    Session* const outer = Session::current();
    if ((outer && !outer->implicit()) || function.skip) return body();
    if (outer) outer->finish();
    if (!function.functions.empty() &&
        std::find(function.functions.begin(), function.functions.end(), function.name()) == function.functions.end())
        return body();
    Trace* const trace = current_trace();
    ArgumentReader reader(argument_names(function));
    reader.inputs.add(Source::state("grad_mode"), HostValue{grad_enabled()});
    reader.inputs.add(Source::state("default_dtype"), HostValue{std::string(name(get_default_dtype()))});
    const bool deterministic = is_deterministic();
    if (relies_on_deterministic(function)) reader.inputs.add(Source::state("deterministic"), HostValue{deterministic});
    describe(reader);
    {
        const std::lock_guard lock(function.mutex);
        ++function.counts.calls;
    }
    if (trace) {
        trace->frame(function.name());
        trace->set_backend(function.backend_name);
    }
    const capture::FrameCache::Lookup lookup = enter(function, reader, trace);
    const Addresses stack =
        wants_call_stack(function, trace, lookup) ? capture_stack(__builtin_return_address(0)) : Addresses{};
    if (lookup.limited()) {
        observe_eager_call(function, reader, stack);
        if (trace) trace->called(call_of(function.name(), lookup, std::nullopt), stack);
        return body();
    }
    const Running running(function);
    RestoreState restore;
    static_cast<void>(take_asked_deterministic());
    Execution execution(function, trace, *lookup.entry);
    std::optional<LogStep> step;  // of the first call of a specialization: the others run what it captured
    if (lookup.added) step.emplace(LogStep::Kind::capture, execution.title());
    const DeferredStreams streams(execution.defers_output());
    const auto session = std::make_shared<Session>(function.name(), execution);
    session->outside = __builtin_return_address(0);
    for (const auto& [tensor, source] : reader.tensors) session->naming().know(tensor.impl()->key, source);
    for (const auto& [tensor, name] : reader.parameters) session->naming().know_parameter(tensor.impl()->key, name);
    const CurrentSession current(session.get());
    try {
        body();
        session->finish();
    } catch (const GraphBreakError& error) {
        session->abandon();
        execution.keep_events(session->take_events(), error.what());
        throw;
    } catch (...) {
        session->finish_by_exception(thrown_here());
        execution.keep_events(session->take_events(), execution.capture_failure());
        leave(function, lookup, reader, execution, trace, stack, deterministic);
        throw;
    }
    execution.keep_events(session->take_events(), execution.capture_failure());
    leave(function, lookup, reader, execution, trace, stack, deterministic);
    if (!execution.capture_failure().empty()) return;
    ran = execution.pure_run();
}

CompileStats stats(const FunctionState& function) {
    auto& state = const_cast<FunctionState&>(function);  // for its mutex
    state.name();
    const std::lock_guard lock(state.mutex);
    return state.counts;
}

namespace {

std::vector<std::shared_ptr<FunctionState>> living_functions() {
    std::vector<std::shared_ptr<FunctionState>> functions;
    const std::lock_guard lock(all_mutex);
    for (const auto& entry : all_functions)
        if (auto state = entry.lock()) functions.push_back(std::move(state));
    return functions;
}

}  // namespace

void reset() {
    for (const auto& function : living_functions()) function->reset();
}

std::string compile_times() {
    std::string text;
    for (const auto& function : living_functions()) {
        const CompileStats counts = stats(*function);
        text += counts.name + ": " + std::to_string(counts.graphs) + " graphs, " + std::to_string(counts.ops) +
                " ops, " + std::to_string(counts.breaks) + " breaks, " + std::to_string(counts.recompiles) +
                " recompiles, compiled in " + fixed(counts.compile_seconds, 4) + " s\n";
    }
    return text;
}

void set_logs(const std::string& spec, const std::string& file) {
    configure_from_environment();  // or it would come later
    const std::lock_guard lock(program_log().mutex);
    LogOptions options = program_log().options;
    options.variable.clear();
    options.spec = spec;
    options.file = file;
    configure_log(options);
    program_log().options = options;
}

void set_debug_dir(const std::string& folder, const std::string& parts) {
    configure_from_environment();
    const std::lock_guard lock(program_log().mutex);
    LogOptions options = program_log().options;
    options.debug_dir = folder;
    options.debug_parts = parts;
    configure_log(options);
    program_log().options = options;
}

void mark_dynamic(const Tensor& tensor, std::int64_t dim, std::optional<std::int64_t> least,
                  std::optional<std::int64_t> most) {
    TensorImpl& impl = defined(tensor, "mark_dynamic");
    const std::int64_t rank = tensor.dim();
    if (dim < -rank || dim >= rank)
        throw Error("mark_dynamic: found dimension " + std::to_string(dim) +
                    (rank == 0 ? " of a tensor without dimensions, expected a tensor of at least 1 dimension"
                               : ", expected " + std::to_string(-rank) + " to " + std::to_string(rank - 1)));
    const auto d = static_cast<std::size_t>(wrap_dim(dim, rank));
    if (impl.meta.sizes[d] < 2)
        throw Error("mark_dynamic: found size " + std::to_string(impl.meta.sizes[d]) + " at dimension " +
                        std::to_string(d) + ", expected 2 or more",
                    "mark a dimension of size 2 or more: every graph is specialized for the sizes 0 and 1");
    if (least.value_or(2) > most.value_or(std::numeric_limits<std::int64_t>::max()))
        throw Error("mark_dynamic: found the minimum " + std::to_string(least.value_or(2)) + " and the maximum " +
                    std::to_string(*most) +
                    ", expected the maximum to be at least the minimum; the default minimum is 2");
    std::erase_if(impl.marked_dims, [&](const MarkedDim& known) { return known.dim == d; });
    impl.marked_dims.push_back({d, least, most});
}

void graph_break(const std::string& reason) {
    if (Session* session = Session::current())
        session->break_graph({.kind = capture::BreakKind::explicit_break, .reason = reason},
                             __builtin_return_address(0));
}

}  // namespace whittle::api
