// libwhittle_capture_torch.so: watches LibTorch from inside the program. A RecordFunction callback sees every op of
// every thread with its arguments and results; the stub's hooks add what passes the dispatcher by. Two levels are
// recorded: ops that the program calls, and below composite ones the first that have a kernel; what those call is left
// out. Built with NDEBUG as LibTorch is: RecordFunction::inputs() asserts otherwise.
#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/util/Type.h>
#include <pthread.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <typeinfo>

#include "frontends/libtorch/capture/ops.h"
#include "frontends/libtorch/capture/python.h"
#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/capture/torchscript.h"

namespace whittle::libtorch {

State& state = *new State;

namespace {

thread_local bool thread_gone = false;
thread_local int late_depth = 0;  ///< of ops that run after the thread is gone: in static destructors
thread_local Thread this_thread;

/// Where a signal handler finds the thread: the first look at a thread_local of a library that was loaded later asks
/// for memory, which a handler may not do.
pthread_key_t thread_key;
const bool has_thread_key = ::pthread_key_create(&thread_key, nullptr) == 0;
void announce(Thread& thread) {
    if (has_thread_key && !::pthread_getspecific(thread_key)) ::pthread_setspecific(thread_key, &thread);
}

/// A forked child begins with a file of its own here.
bool is_recorded(Thread& thread) {
    if (!state.recorder.on() && (!state.recorder.may_start() || !start_child(thread))) return false;
    if (thread.generation != state.generation.load(std::memory_order_relaxed)) renew(thread);
    return true;
}

/// A thread that is cancelled ends in the program's code, where it may unwind: files are opened and written here.
class NoCancel {
  public:
    NoCancel() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~NoCancel() { ::pthread_setcancelstate(before_, nullptr); }
    NoCancel(const NoCancel&) = delete;
    NoCancel& operator=(const NoCancel&) = delete;

  private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Callbacks of ours do not see each other, and nothing they throw reaches the program: what cannot be written down is
/// counted, and capture goes on.
template <class F>
void quietly(F&& body) {
    if (thread_gone) return;
    Thread& thread = this_thread;
    if (thread.busy) return;
    const NoCancel whole;
    if (!is_recorded(thread)) return;
    announce(thread);
    thread.busy = true;
    try {
        body(thread);
    } catch (...) {
        state.recorder.lose();
    }
    thread.busy = false;
}

}  // namespace

Thread* thread_here() { return thread_gone ? nullptr : &this_thread; }

void quietly_here(const std::function<void(Thread&)>& body) { quietly(body); }

Thread::~Thread() {
    thread_gone = true;
    if (has_thread_key) ::pthread_setspecific(thread_key, nullptr);
    chunk.unmap();
}

bool commit(Thread& thread, RecordBuffer& record) {
    if (!thread.chunk.numbered) {
        RecordBuffer first;
        first.start(records::Thread{.number = at::RecordFunction::currentThreadId(), .main = ::gettid() == ::getpid()});
        if (!state.recorder.commit(thread.chunk, first)) return false;
    }
    return state.recorder.commit(thread.chunk, record);
}

namespace {

// ---- Ops

bool is_script(const at::RecordFunction& function) { return function.scope() == at::RecordScope::TORCHSCRIPT_FUNCTION; }

// Depth and core are kept even where nothing is recorded, so that begins and ends always meet.
std::unique_ptr<at::ObserverContext> op_begins(const at::RecordFunction& function) {
    if (thread_gone) {
        if (late_depth++ == 0 && is_op(function)) state.recorder.miss();
        return nullptr;
    }
    Thread& thread = this_thread;
    if (is_script(function)) {
        auto context = std::make_unique<torchscript::CallContext>(torchscript::open_call(thread));
        quietly([&](Thread&) { torchscript::begin_call(thread, function); });
        return context;
    }
    if (thread.depth == 0 && is_op(function) && !is_recorded(thread)) state.recorder.miss();
    const bool wanted = thread.core < 0 && !thread.printing && !thread.busy;
    if (wanted) quietly([&](Thread&) { record_begin(thread, function); });
    if (wanted && !thread.enclosing.empty() && thread.enclosing.back() >= kKernel) thread.core = thread.depth;
    ++thread.depth;
    if (wanted && state.recorder.with_times() && !thread.starts.empty()) thread.starts.back() = now_ns();
    return nullptr;
}
void op_ends(const at::RecordFunction& function, at::ObserverContext* context) {
    if (thread_gone) {
        --late_depth;
        return;
    }
    Thread& thread = this_thread;
    if (is_script(function)) {
        if (context) torchscript::end_call(thread, static_cast<torchscript::CallContext*>(context)->call);
        return;
    }
    const std::uint64_t now = state.recorder.with_times() ? now_ns() : 0;
    --thread.depth;
    if (thread.core == thread.depth) thread.core = -1;
    const bool wanted = thread.core < 0 && !thread.printing && !thread.busy && !thread.enclosing.empty();
    if (wanted) quietly([&](Thread&) { record_end(thread, function, now); });
}

// ---- Hooks of the stub

bool is_foreign(const void* caller) { return in_torch_code(reinterpret_cast<std::uintptr_t>(caller)); }

void on_module_made(void* module) {
    quietly([&](Thread&) {
        std::lock_guard lock(state.mutex);
        state.made.push_back(static_cast<torch::nn::Module*>(module));
        state.modules_made = true;
        state.names_stale = true;
    });
}

void on_registered(void* module, const void* pointer, const char* name, int is_buffer) {
    quietly([&](Thread& thread) {
        const at::Tensor& tensor = *static_cast<const at::Tensor*>(pointer);
        if (!tensor.defined()) return;
        const std::uint64_t number = identity_of(thread.identities, tensor, kRegistered).number;
        state.names_stale = true;
        const Registration one{number, is_buffer ? NameKind::buffer : NameKind::parameter,
                               std::to_string(reinterpret_cast<std::uintptr_t>(module)), name};
        std::lock_guard lock(state.mutex);
        write_name(thread, number, one.kind, nullptr, one.module, one.name);
        state.registrations.push_back(one);
    });
}

/// `caller` is what tells two reads apart that follow each other.
void on_data_ptr(const void* pointer, const char* how, const void* caller) {
    quietly([&](Thread& thread) {
        if (thread.depth || thread.printing) return;
        const std::pair<const void*, const void*> what{pointer, caller};
        if (what == thread.last_data_ptr && thread.ops == thread.ops_at_data_ptr) return;
        thread.last_data_ptr = what;
        thread.ops_at_data_ptr = thread.ops;
        const at::Tensor& tensor = *static_cast<const at::Tensor*>(pointer);
        if (state.only) return;
        const std::uint32_t stack = stack_id(thread);
        if (state.recorder.with_hashes()) return hash_read(thread, tensor, stack, true);
        thread.record.start(records::DataPointer{.stack = stack, .how = how});
        put_value(thread, thread.record, c10::IValue(tensor));
        commit(thread, thread.record);
    });
}

void on_typed_data_ptr(const void* pointer, const char* how, void* caller) {
    if (!is_foreign(caller)) on_data_ptr(pointer, how, caller);
}
void on_python_read(const void* pointer, const char* how) { on_data_ptr(pointer, how, how); }

/// Streams that end in a file or a terminal; a std::ostringstream is no output.
bool writes_out(const void* pointer) {
    if (!pointer) return true;
    auto* stream = const_cast<std::ostream*>(static_cast<const std::ostream*>(pointer));
    if (stream == &std::cout || stream == &std::cerr || stream == &std::clog) return true;
    return dynamic_cast<std::filebuf*>(stream->rdbuf()) || stream->rdbuf() == std::cout.rdbuf() ||
           stream->rdbuf() == std::cerr.rdbuf();
}

/// Only output between ops matters, and of a row of it the first.
template <class Counts>
void record_io(const char* function, Counts&& counts) {
    // Output is nothing that a child begins with.
    if (!state.recorder.on() || state.recorder.with_hashes() || state.only) return;
    quietly([&](Thread& thread) {
        if (thread.ops == 0 || thread.ops == thread.ops_at_io || thread.depth || thread.printing) return;
        if (!counts(thread)) return;
        thread.ops_at_io = thread.ops;
        const std::uint32_t stack = stack_id(thread);
        thread.record.start(records::Io{.stack = stack, .function = function});
        commit(thread, thread.record);
    });
}

void on_io(const char* function, const void* stream, void* caller) {
    record_io(function, [&](Thread&) { return !is_foreign(caller) && writes_out(stream); });
}

void print_event(const void* pointer, bool begins) {
    quietly([&](Thread& thread) {
        const bool hashes = state.recorder.with_hashes();
        if (thread.depth || state.only || (hashes && !begins)) return;
        if (begins) {
            const std::uint32_t stack = stack_id(thread);
            const auto& tensor = *static_cast<const at::Tensor*>(pointer);
            if (hashes) return hash_read(thread, tensor, stack, false);
            thread.record.start(records::PrintBegin{.stack = stack});
            put_value(thread, thread.record, c10::IValue(tensor));
        } else {
            thread.record.start(records::PrintEnd());
        }
        commit(thread, thread.record);
    });
}

/// Printing may throw.
struct Printing {
    const void* tensor;
    explicit Printing(const void* printed) : tensor(printed) {
        if (!thread_gone && this_thread.printing++ == 0) print_event(tensor, true);
    }
    ~Printing() {
        if (!thread_gone && --this_thread.printing == 0) print_event(tensor, false);
    }
};

void* on_print(PrintFunction next, void* stream, const void* tensor, long width) {
    const Printing printing(tensor);
    return next(stream, tensor, width);
}

/// What a kernel of TorchScript's calls is a part of it. It may throw.
struct FusedRun {
    Thread* const thread = thread_here();
    const bool recorded = thread && thread->core < 0 && !thread->printing && !thread->busy;
    FusedRun() {
        if (recorded) {
            quietly([](Thread& here) { record_fused(here, true); });
            thread->core = thread->depth;
        }
        if (thread) ++thread->depth;
    }
    ~FusedRun() {
        if (thread) --thread->depth;
        if (!recorded) return;
        thread->core = -1;
        quietly([](Thread& here) { record_fused(here, false); });
    }
    FusedRun(const FusedRun&) = delete;
    FusedRun& operator=(const FusedRun&) = delete;
};

void on_fused(FusedFunction next, const void* kernel, void* stack) {
    const FusedRun run;
    next(kernel, stack);
}

void on_from_blob(void* caller) {
    quietly([&](Thread& thread) {
        if (thread.depth || is_foreign(caller)) return;
        const std::uint32_t stack = stack_id(thread);
        thread.record.start(records::FromBlob{.stack = stack});
        commit(thread, thread.record);
    });
}

/// A thread that is not has called no operation, or is about to end: what it releases or throws does not matter.
bool is_announced() { return state.recorder.on() && has_thread_key && ::pthread_getspecific(thread_key); }

void on_released(const void* tensor) {
    if (!is_announced()) return;
    quietly([&](Thread& thread) {
        if (thread.chunk.numbered) tell_release(thread, static_cast<const c10::TensorImpl*>(tensor));
    });
}

/// What LibTorch throws by itself comes of an operation, or of what it was asked for instead of one.
void on_thrown(const void* type, void* caller) {
    if (!is_announced() || is_foreign(caller)) return;
    quietly([&](Thread& thread) {
        begin_exception(thread, c10::demangle(static_cast<const std::type_info*>(type)->name()));
    });
}
void on_caught() {
    if (is_announced()) quietly(end_exception);
}

}  // namespace

void python_writes() {
    record_io("write", [](Thread& thread) {
        std::uint64_t key = 0;
        python::frames(thread.frames, key);
        return python::writes_for_program(thread.frames);
    });
}
void python_reads(const at::Tensor& tensor, const char* how) {
    on_data_ptr(&tensor, how, tensor.unsafeGetTensorImpl());
}

ThreadPlace place_of_thread() {
    const auto* const thread = static_cast<const Thread*>(has_thread_key ? ::pthread_getspecific(thread_key) : nullptr);
    if (!thread || !thread->chunk.numbered || thread->generation != state.generation) return {UINT32_MAX, 0};
    return {thread->chunk.thread, static_cast<std::uint32_t>(thread->depth)};
}

namespace {

void on_probe_enter(const char* function) {
    quietly([&](Thread& thread) { record_probe_enter(thread, function); });
}
void on_probe_name(const void* tensor, const char* name, long long element, int is_parameter) {
    quietly([&](Thread& thread) { record_probe_name(thread, tensor, name, element, is_parameter != 0); });
}
void on_probe_leave() {
    quietly([&](Thread& thread) { record_probe_leave(thread); });
}
void on_probe_value(const whittle_probe_value* value) {
    quietly([&](Thread& thread) { record_probe_value(thread, *value); });
}
void on_probe_branch(const whittle_probe_file* file, unsigned site, long long outcome) {
    quietly([&](Thread& thread) { record_probe_branch(thread, *file, site, outcome); });
}

// ---- Start and end

/// At the end of the program: its own exit handlers and static objects are done or run without us. The hooks stay, as
/// threads may be about to call them.
struct AtExit {
    bool started = false;
    ~AtExit() {
        if (started) state.recorder.finish();
    }
} at_exit;

}  // namespace
}  // namespace whittle::libtorch

extern "C" __attribute__((visibility("default"))) int whittle_capture_start(whittle::libtorch::Hooks* hooks,
                                                                            const char* base, const char* file,
                                                                            std::uint64_t max_bytes, double max_seconds,
                                                                            int flags, std::uint64_t only) {
    using namespace whittle::libtorch;
    if (!state.recorder.start(base, file, max_bytes, max_seconds, static_cast<std::uint64_t>(flags))) return -1;
    state.only = only;
    start_rows();
    start_unwinding();
    quietly(write_mappings);
    quietly(python::start);
    watch_forks();
    at::addGlobalCallback(at::RecordFunctionCallback(op_begins, op_ends)
                              .needsInputs(true)
                              .needsOutputs(true)
                              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
                                       at::RecordScope::USER_SCOPE, at::RecordScope::TORCHSCRIPT_FUNCTION}));
    *hooks = {on_module_made, on_registered,  on_typed_data_ptr, on_python_read, on_io,          on_print,
              on_from_blob,   on_fused,       on_released,       on_thrown,      on_caught,      on_end,
              on_process,     on_probe_enter, on_probe_name,     on_probe_leave, on_probe_value, on_probe_branch};
    if (state.recorder.with_hashes() || only) {  // no record of theirs is wanted
        hooks->module_made = nullptr;
        hooks->registered = nullptr;
        hooks->io = nullptr;
        hooks->from_blob = nullptr;
        hooks->released = nullptr;
        hooks->thrown = nullptr;
        hooks->caught = nullptr;
        hooks->probe_enter = nullptr;
        hooks->probe_name = nullptr;
        hooks->probe_leave = nullptr;
        hooks->probe_value = nullptr;
        hooks->probe_branch = nullptr;
    }
    at_exit.started = true;
    return 0;
}
