// libwhittle_capture_torch.so: watches LibTorch from inside the program. A RecordFunction callback sees every op of
// every thread with its arguments and results; the stub's hooks add what passes the dispatcher by. Two levels are
// recorded: ops that the program calls, and below composite ones the first that have a kernel; what those call is left
// out. Built with NDEBUG as LibTorch is: RecordFunction::inputs() asserts otherwise.
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "frontends/libtorch/capture/python.h"
#include "frontends/libtorch/capture/state.h"
#include "frontends/libtorch/capture/torchscript.h"
#include "ops/aten/capture.h"

namespace whittle::libtorch {

State& state = *new State;

namespace {

enum Enclosing : std::uint8_t { kCompositeOp, kScope, kKernel, kTraced, kOnly };

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

void write_op(Thread& thread, const OpInfo& info, const std::string& name, const std::string& overload,
              const std::string& schema) {
    RecordBuffer& record = thread.definition;
    record.start(records::OpDefinition{
        .op = info.id, .flags = info.flags, .name = name, .overload = overload, .schema = schema});
    commit(thread, record);
}

/// "aten::foo" beside "aten::foo_", with as many arguments.
bool has_functional(const c10::OperatorHandle& op) {
    c10::OperatorName name = op.operator_name();
    if (name.name.back() != '_') return false;
    name.name.pop_back();
    const auto functional = c10::Dispatcher::singleton().findSchema(name);
    return functional && functional->schema().arguments().size() == op.schema().arguments().size() &&
           functional->schema().returns().size() == 1;
}

const OpInfo& define_op(Thread& thread, const at::RecordFunction& function) {
    const auto name = function.operator_name();
    const std::string key = name ? name->name + "." + name->overload_name : std::string("\n") + function.name();
    std::lock_guard lock(state.mutex);
    const auto [entry, fresh] = state.ops.try_emplace(key);
    OpInfo& info = entry->second;
    if (!fresh) return info;
    info.id = static_cast<std::uint32_t>(state.ops.size());
    std::string schema;
    bool can_cast = false;
    if (name) {
        info.flags |= kHasSchema;
        if (const auto op = c10::Dispatcher::singleton().findSchema(*name)) {
            if (op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
                calls_op_for_each(name->name))
                info.flags |= kComposite;
            const auto& returns = op->schema().returns();
            if (!op->schema().is_vararg()) info.arguments = static_cast<int>(op->schema().arguments().size());
            if (!op->schema().is_varret()) info.returns = static_cast<int>(returns.size());
            can_cast = op->hasKernelForDispatchKey(c10::DispatchKey::AutocastCPU);
            const bool any = std::any_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
                return result.type()->str().find("Tensor") != std::string::npos;
            });
            if (!any && !returns.empty()) info.flags |= kReturnsOnlyHost;
            schema = c10::toString(op->schema());
            const bool writes = schema.find('!') != std::string::npos;
            for (std::size_t i = 0; i < std::min<std::size_t>(op->schema().arguments().size(), 64); ++i) {
                const auto* const alias = op->schema().arguments()[i].alias_info();
                if (alias && alias->isWrite()) info.written |= std::uint64_t{1} << i;
            }
            // Of what shows other memory from now on, no element was written.
            info.writes = writes && capture_role(name->name) != CaptureRole::adopts;
            info.returns_nothing = returns.empty();
            if (writes && has_functional(*op)) info.flags |= kHasFunctional;
        }
        info.updates_statistics = may_update_statistics(name->name);
    }
    if (name) info.makes_memory = !info.writes && capture_role(name->name) == CaptureRole::allocates;
    write_op(thread, info, name ? name->name : function.name(), name ? name->overload_name : "", schema);
    if (can_cast) {
        OpInfo& casting = state.ops[key + "\ncasts"];
        casting = info;
        casting.id = static_cast<std::uint32_t>(state.ops.size());
        casting.flags |= kComposite | kCasts;
        write_op(thread, casting, name->name, name->overload_name, schema);
        info.casting = &casting;
    }
    return info;
}

/// An op's name lies in its schema, which stays where it is: the pointer is the key. Other names may be temporary.
const OpInfo& known_op(Thread& thread, const at::RecordFunction& function) {
    const auto found = thread.ops_by_name.find(function.name());
    if (found != thread.ops_by_name.end()) return *found->second;
    const OpInfo& info = define_op(thread, function);
    if (info.flags & kHasSchema) thread.ops_by_name.emplace(function.name(), &info);
    return info;
}

const OpInfo& info_of(Thread& thread, const at::RecordFunction& function) {
    const OpInfo& info = known_op(thread, function);
    const bool autocast = info.casting && !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutocastCPU);
    return autocast ? *info.casting : info;
}

/// TorchScript's interpreter shows an op its whole stack: the op's own arguments or results are on top.
c10::ArrayRef<const c10::IValue> on_top(c10::ArrayRef<const c10::IValue> values, int count) {
    const auto wanted = static_cast<std::size_t>(count);
    return count < 0 || values.size() <= wanted ? values : values.slice(values.size() - wanted);
}

bool is_script(const at::RecordFunction& function) { return function.scope() == at::RecordScope::TORCHSCRIPT_FUNCTION; }
bool is_op(const at::RecordFunction& function) { return function.scope() == at::RecordScope::FUNCTION; }

/// `stack`: where the program called it, 0 where LibTorch did.
void look_at_inputs(Thread& thread, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs, std::uint32_t stack) {
    bool registered = false, unnamed = false;
    const bool with_data = state.recorder.with_data();
    if (stack && !thread.frames.empty()) python::tell_numbers(thread, inputs, stack);
    for (const c10::IValue& input : inputs)
        for_each_tensor(input, [&](const at::Tensor& tensor) {
            const bool nameable = python::on() && tensor.requires_grad() && tensor.is_leaf();
            const Identity identity = identity_of(thread.identities, tensor, nameable ? std::uint32_t{kAsked} : 0u);
            registered |= (identity.flags & kRegistered) != 0;
            unnamed |= nameable && !(identity.flags & kAsked);
            if (stack && !thread.frames.empty()) python::tell_variables(thread, tensor, identity.number, stack);
            if (with_data) snapshot(thread, tensor, stack != 0);
        });
    if (registered) update_names(thread);
    if (unnamed) python::want_names();
    if (!with_data) return;
    // An op that writes and returns nothing (_foreach_add_) has its arguments here only.
    if (info.writes && info.returns_nothing)
        for (const c10::IValue& input : inputs) forget_elements(input);
    if (info.updates_statistics)
        for (std::size_t i = 3; i < std::min<std::size_t>(inputs.size(), 5); ++i)
            for_each_tensor(inputs[i], [&](const at::Tensor& tensor) {
                forget_elements(tensor);
                thread.statistics.emplace_back(thread.enclosing.size(), tensor.getIntrusivePtr());
            });
}

/// Of the op that ends, whose arguments are gone by now.
void look_at_statistics(Thread& thread) {
    for (; !thread.statistics.empty() && thread.statistics.back().first >= thread.enclosing.size();
         thread.statistics.pop_back())
        if (auto tensor = thread.statistics.back().second.lock())
            snapshot(thread, at::Tensor(std::move(tensor)), false);
}

template <class Result, class Key>
Key key_of(Result (*)(Key));

/// torch.compile and torch.export run the program on fake tensors, which have no memory, to learn what it does. What
/// runs then is theirs. Releases before 2.1 have no key for that mode.
template <class Modes>
bool runs_on_fake_tensors() {
    if constexpr (requires { Modes::any_modes_set(false), &Modes::get_mode; }) {
        using Key = decltype(key_of(&Modes::get_mode));
        return Modes::any_modes_set(false) && Modes::get_mode(Key::FAKE).has_value();
    }
    return false;
}

OpScope scope_of(const at::RecordFunction& function) {
    if (is_op(function)) return OpScope::function;
    return function.scope() == at::RecordScope::BACKWARD_FUNCTION ? OpScope::backward : OpScope::user;
}

/// `stack`: where the program called it.
void write_begin(Thread& thread, const at::RecordFunction& function, const OpInfo& info, int depth, std::uint32_t stack,
                 Stillness still, c10::ArrayRef<const c10::IValue> inputs) {
    RecordBuffer& record = thread.record;
    record.start(records::OpBegin{.op = info.id,
                                  .depth = static_cast<std::uint32_t>(depth),
                                  .stack = stack,
                                  .untouched = still.untouched,
                                  .unmoved = still.unmoved,
                                  .scope = scope_of(function),
                                  .grad_mode = at::GradMode::is_enabled(),
                                  .sequence = function.seqNr(),
                                  .forward_thread = function.forwardThreadId()});
    record.put(static_cast<std::uint16_t>(inputs.size()));
    for (const c10::IValue& input : inputs) put_value(thread, record, input);
    commit(thread, record);
}

/// In the place of an operation, its hashes are recorded.
void begin_hashed(Thread& thread, const at::RecordFunction& function, const OpInfo& info, bool called_by_program,
                  c10::ArrayRef<const c10::IValue> inputs) {
    const std::uint8_t what = thread.enclosing.back();
    if (what == kScope) {
        if (scope_of(function) == OpScope::backward) thread.hashing.under = info.id;
        return;
    }
    if (called_by_program) thread.hashing.stack = stack_id(thread);
    if (what == kKernel) hash_begin(thread, info, inputs);
}

/// Of all operations with a kernel, the one that is asked for is recorded, as if nothing had called it but the program.
void begin_only(Thread& thread, const at::RecordFunction& function, const OpInfo& info,
                c10::ArrayRef<const c10::IValue> inputs) {
    if (thread.enclosing.back() != kKernel || ++state.operations != state.only) return;
    Stillness still{.untouched = Stillness::kAll};
    const std::uint32_t stack = stack_id(thread, &still);
    look_at_inputs(thread, info, inputs, stack);
    write_begin(thread, function, info, 0, stack, still, inputs);
    thread.enclosing.back() = kOnly;
}

void record_begin(Thread& thread, const at::RecordFunction& function) {
    if (is_op(function) && runs_on_fake_tensors<c10::impl::TorchDispatchModeTLS>()) {
        state.recorder.trace();
        thread.enclosing.push_back(kTraced);
        thread.starts.push_back(0);
        return;
    }
    if ((++thread.ops & 63) == 0) state.recorder.check_time();
    const OpInfo& info = info_of(thread, function);
    const bool is_scope = !is_op(function) || !(info.flags & kHasSchema);
    const bool called_by_program = thread.enclosing.empty() || thread.enclosing.back() == kScope;
    thread.enclosing.push_back(is_scope ? kScope : info.flags & kComposite ? kCompositeOp : kKernel);
    thread.starts.push_back(0);
    const auto inputs = on_top(function.inputs(), info.arguments);
    if (state.recorder.with_hashes()) return begin_hashed(thread, function, info, called_by_program, inputs);
    if (state.only) return begin_only(thread, function, info, inputs);
    Stillness still{.untouched = Stillness::kAll};  // what LibTorch calls itself is no news of who called it
    const std::uint32_t stack = called_by_program ? stack_id(thread, &still) : 0;
    if (!is_scope) look_at_inputs(thread, info, inputs, stack);
    write_begin(thread, function, info, thread.depth - thread.inherited, stack, still,
                is_scope ? c10::ArrayRef<const c10::IValue>() : inputs);
}

void end_hashed(Thread& thread, const OpInfo& info, std::uint8_t what, c10::ArrayRef<const c10::IValue> outputs) {
    if (what == kScope) thread.hashing.under = 0;
    if (what == kKernel) hash_end(thread, info, outputs);
}

/// Not by exit(): the program's own handlers would run, and take as long as it does.
[[noreturn]] void end_program() {
    state.recorder.finish();
    std::fflush(nullptr);
    ::syscall(SYS_exit_group, 0);
    std::abort();
}

/// `now`: when it ended, 0 where nobody wants to know.
void record_end(Thread& thread, const at::RecordFunction& function, std::uint64_t now) {
    const std::uint8_t what = thread.enclosing.back();
    if (what == kTraced) {
        thread.enclosing.pop_back();
        thread.starts.pop_back();
        return;
    }
    const OpInfo& info = info_of(thread, function);
    look_at_statistics(thread);
    const std::uint64_t start = thread.starts.back();
    thread.enclosing.pop_back();
    thread.starts.pop_back();
    if (thread.depth < thread.inherited) {  // it began in the process that forked this one
        thread.inherited = thread.depth;
        return;
    }
    const std::vector<c10::IValue>& all = function.outputs();
    const auto outputs = on_top(c10::ArrayRef<const c10::IValue>(all.data(), all.size()), info.returns);
    if (state.recorder.with_hashes()) return end_hashed(thread, info, what, outputs);
    if (state.only && what != kOnly) return;
    const int depth = what == kOnly ? 0 : thread.depth - thread.inherited;
    RecordBuffer& record = thread.record;
    record.start(records::OpEnd{.op = info.id, .depth = static_cast<std::uint32_t>(depth)});
    record.put(static_cast<std::uint16_t>(what == kScope ? 0 : outputs.size()));
    if (what != kScope)
        for (const c10::IValue& output : outputs) put_value(thread, record, output);
    if (state.recorder.with_times()) record.put(start ? now - start : std::uint64_t{0});
    commit(thread, record);
    const bool with_data = state.recorder.with_data(), probed = state.probed.load(std::memory_order_relaxed);
    if (what == kScope || (!with_data && !probed)) return;
    for (const c10::IValue& output : outputs)
        for_each_tensor(output, [&](const at::Tensor& tensor) {
            if (probed) watch(thread, tensor);
            if (!with_data) return;
            // Tensors that share the memory but not the version counter (data(), inference mode) changed, too.
            if (info.writes) forget_elements(output);
            if (info.makes_memory) return snapshot_of_memory(thread, tensor);
            snapshot(thread, tensor, false);
        });
    if (what == kOnly) end_program();
}

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

void on_from_blob(void* caller) {
    quietly([&](Thread& thread) {
        if (thread.depth || is_foreign(caller)) return;
        const std::uint32_t stack = stack_id(thread);
        thread.record.start(records::FromBlob{.stack = stack});
        commit(thread, thread.record);
    });
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
    *hooks = {on_module_made, on_registered,  on_typed_data_ptr, on_python_read, on_io,         on_print,
              on_from_blob,   on_end,         on_process,        on_probe_enter, on_probe_name, on_probe_leave,
              on_probe_value, on_probe_branch};
    if (state.recorder.with_hashes() || only) {  // no record of theirs is wanted
        hooks->module_made = nullptr;
        hooks->registered = nullptr;
        hooks->io = nullptr;
        hooks->from_blob = nullptr;
        hooks->probe_enter = nullptr;
        hooks->probe_name = nullptr;
        hooks->probe_leave = nullptr;
        hooks->probe_value = nullptr;
        hooks->probe_branch = nullptr;
    }
    at_exit.started = true;
    return 0;
}
