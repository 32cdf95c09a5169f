#define WHITTLE_API_IMPLEMENTATION
#include "api/probes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "api/frame.h"
#include "api/session.h"
#include "api/thrown.h"
#include "base/variables.h"
#include "ops/core/registry.h"
#include "probe/probe.h"

/// whittle_program_compiles of compile.h: null in programs without compile(). Known before any initializer runs.
extern const char program_compiles __asm__("whittle_program_compiles") __attribute__((weak));

namespace whittle::api {
namespace {

/// A frame that nobody asked to be compiled.
struct ImplicitFrame {
    FunctionState& function;
    Execution execution;
    std::shared_ptr<Session> session;
    Session* before = nullptr;

    ImplicitFrame(FunctionState& state, Trace& trace)
        : function(state),
          execution(state, &trace, entry_of(state)),
          session(std::make_shared<Session>(state.name(), execution)) {
        trace.frame(state.name());
        trace.set_backend(state.backend_name);
        before = Session::exchange(session.get());
    }
    static std::size_t entry_of(FunctionState& state) {
        const std::lock_guard lock(state.mutex);
        return *state.cache.look_up({}).entry;
    }
    void finish(bool by_exception) {
        const CurrentSession current(session.get());
        if (by_exception)
            session->finish_by_exception(thrown_here());
        else
            session->finish();
    }
};

struct Entered {
    const whittle_probe_file* file;
    unsigned function;
    std::unique_ptr<ImplicitFrame> frame = {};
    std::size_t parameters = 0;
    std::string last_parameter = {};
    bool names_arguments = false;
    std::size_t conditions = 0;  ///< that its callers were in
};

/// Per thread; never destroyed, for probes of static objects.
struct Thread {
    whittle_probe_cursor cursor = {};
    std::vector<Entered> entered;
    std::vector<std::int64_t> conditions;  ///< that are evaluated, outermost first: graphs run before each
};
Thread& thread() {
    thread_local Thread* const instance = new Thread;
    return *instance;
}

/// The trace that wants frames of a program without compile(), or null.
Trace* implicit_trace() {
    Trace* const trace = Trace::of_environment();
    return &program_compiles ? nullptr : trace;
}

FunctionState& implicit_function(const std::string& name) {
    static std::mutex mutex;
    static auto* const functions = new std::map<std::string, std::unique_ptr<FunctionState>>;
    const std::lock_guard lock(mutex);
    std::unique_ptr<FunctionState>& state = (*functions)[name];
    if (!state) {
        CompileOptions options;
        options.name = name;
        state = std::make_unique<FunctionState>(std::move(options), nullptr, "");
        state->implicit = true;
    }
    return *state;
}

/// Of a frame that nobody asked to be compiled: whether --function names it.
bool is_wanted(const std::string& function) {
    static const std::vector<std::string> wanted = list_variable("WHITTLE_DEBUG_FUNCTION");
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), function) != wanted.end();
}

const TensorImpl* tensor_of(const whittle_probe_value& value) {
    return value.kind == WHITTLE_PROBE_TENSOR ? static_cast<const TensorImpl*>(value.tensor) : nullptr;
}

whittle_probe_cursor* on_enter(const whittle_probe_file* file, unsigned function) {
    if (NotRecording::active()) return nullptr;
    Session* const session = Session::current();
    Trace* const trace = session ? nullptr : implicit_trace();
    if (!session && !current_trace()) return nullptr;
    Thread& t = thread();
    t.entered.push_back({file, function});
    t.entered.back().conditions = t.conditions.size();
    const std::string name = file->functions[function].name;
    // Each function that main calls, or those of the filter; those that it calls in turn are part of it.
    const bool within = std::any_of(t.entered.begin(), t.entered.end(), [](const Entered& e) { return bool(e.frame); });
    const bool wanted = !within && is_wanted(name) && (trace || (session && session->implicit()));
    if (wanted && name != "main" && implicit_trace()) {
        if (session) session->finish();
        t.entered.back().frame = std::make_unique<ImplicitFrame>(implicit_function(name), *implicit_trace());
    }
    if (Session* inner = Session::current();
        inner && !inner->in_body() && !std::exchange(inner->parameters_named, true))
        t.entered.back().names_arguments = true;
    return &t.cursor;
}

void on_parameter(const whittle_probe_file*, unsigned, const whittle_probe_value* value) {
    Session* const session = Session::current();
    Thread& t = thread();
    if (!session || t.entered.empty()) return;
    Entered& function = t.entered.back();
    if (!function.names_arguments) return session->name_variable(tensor_of(*value), value->name);
    if (value->name != function.last_parameter) {
        function.last_parameter = value->name;
        ++function.parameters;
    }
    if (session->implicit())
        session->name_variable(
            tensor_of(*value),
            value->element < 0 ? value->name : value->name + std::string("_") + std::to_string(value->element));
    else
        session->name_parameter(function.parameters - 1, tensor_of(*value), value->name);
}

void ignore_result(const whittle_probe_file*, unsigned, const whittle_probe_value*) {}

void on_leave(const whittle_probe_file*, unsigned, int by_exception) {
    Thread& t = thread();
    if (t.entered.empty()) return;
    if (t.conditions.size() > t.entered.back().conditions) t.conditions.resize(t.entered.back().conditions);
    const std::unique_ptr<ImplicitFrame> frame = std::move(t.entered.back().frame);
    t.entered.pop_back();
    if (!frame) return;
    try {
        frame->finish(by_exception != 0);
    } catch (const std::exception& error) {
        if (Trace* const trace = Trace::of_environment())  // none in a child of fork()
            trace->note(frame->function.name() + ": the last graph of the function failed: " + error.what());
    }
    Session::exchange(frame->before);
}

void on_variable(const whittle_probe_file*, unsigned, const whittle_probe_value* value) {
    if (Session* session = Session::current()) session->name_variable(tensor_of(*value), value->name);
}

void on_before_branch(const whittle_probe_file*, unsigned) {
    const Session* const session = Session::current();
    thread().conditions.push_back(session ? session->graphs_run() : -1);
}

void on_branch(const whittle_probe_file* file, unsigned site, long long outcome) {
    Thread& t = thread();
    const std::int64_t before = t.conditions.empty() ? -1 : t.conditions.back();
    if (!t.conditions.empty()) t.conditions.pop_back();
    Session* const session = Session::current();
    if (session && !session->in_body() && session->graphs_run() == before) session->went({file, site, outcome});
}

void on_effect(const whittle_probe_file* file, unsigned site) {
    Session* const session = Session::current();
    // In a body: a probe must not throw; the effect itself may.
    if (!session || session->empty() || session->in_body() || session->defers_output()) return;
    Thread& t = thread();
    const whittle_probe_cursor before = t.cursor;
    t.cursor = {file, site};
    try {
        const whittle_probe_site& place = file->sites[site];
        session->break_graph({.kind = capture::BreakKind::side_effect,
                              .reason = std::string(place.what) + ": " + place.text,
                              .brief = place.what},
                             __builtin_return_address(0));
    } catch (const std::exception&) {
        // Probes must not throw; what failed is told again by whoever wants the values.
    }
    t.cursor = before;
}

}  // namespace

std::vector<capture::Guard> branch_guards(const Ways& ways) {
    std::vector<std::pair<const Way*, capture::Outcomes>> branches;
    for (const Way& way : ways) {
        const auto is_it = [&](const auto& branch) {
            return branch.first->file == way.file && branch.first->site == way.site;
        };
        auto known = std::find_if(branches.begin(), branches.end(), is_it);
        if (known == branches.end()) {
            const bool selects = probe::selects(way.file->sites[way.site]);
            known = branches.insert(known, {&way, capture::Outcomes{{}, selects}});
        }
        known->second.values.push_back(way.outcome);
    }
    std::vector<capture::Guard> guards;
    for (auto& [way, outcomes] : branches) {
        const whittle_probe_site& site = way->file->sites[way->site];
        const StackFrame place{way->file->path, static_cast<int>(site.range.line), static_cast<int>(site.range.column),
                               way->file->functions[site.function].name, site.text};
        guards.emplace_back(capture::Source::condition(site.text, place.line), std::move(outcomes),
                            std::vector<StackFrame>{place});
    }
    return guards;
}

std::vector<StackFrame> with_cursor(std::vector<StackFrame> stack) {
    const whittle_probe_cursor& cursor = thread().cursor;
    if (!cursor.file || cursor.site >= cursor.file->site_count) return stack;
    const whittle_probe_site& site = cursor.file->sites[cursor.site];
    StackFrame exact{cursor.file->path, static_cast<int>(site.range.line), static_cast<int>(site.range.column),
                     cursor.file->functions[site.function].name, site.text};
    // The entry of that function; one in a function without probes that it called is more exact still.
    if (stack.empty())
        stack.push_back(std::move(exact));
    else if (stack.front().file == exact.file && stack.front().line >= exact.line &&
             stack.front().line <= static_cast<int>(site.range.end_line))
        stack.front() = std::move(exact);
    return stack;
}

void begin_implicit_frame() {
    if (NotRecording::active()) return;
    Trace* const trace = implicit_trace();
    if (!trace || !is_wanted("main")) return;
    static_cast<void>(Registry::instance());  // lives longer than what is registered below
    // Ends with the program: what main leaves undone is done then.
    static ImplicitFrame* main_frame = nullptr;
    static std::once_flag once;
    bool mine = false;
    std::call_once(once, [&] {
        main_frame = new ImplicitFrame(implicit_function("main"), *trace);
        mine = true;
        std::atexit([] {
            try {
                main_frame->finish(false);
            } catch (const std::exception& error) {
                if (Trace* open = Trace::of_environment()) open->note(std::string("main: ") + error.what());
            }
        });
    });
    if (!mine) return;  // another thread: runs eagerly
}

}  // namespace whittle::api

extern "C" __attribute__((visibility("default"))) const whittle_probe_table whittle_probe_ops = {
    WHITTLE_PROBE_VERSION,
    sizeof(whittle_probe_table),
    &whittle::api::on_enter,
    &whittle::api::on_parameter,
    &whittle::api::ignore_result,
    &whittle::api::on_leave,
    nullptr,
    &whittle::api::on_variable,
    &whittle::api::on_before_branch,
    &whittle::api::on_branch,
    &whittle::api::on_effect,
};
