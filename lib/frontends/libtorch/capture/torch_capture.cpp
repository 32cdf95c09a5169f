// libwhittle_capture_torch.so: watches LibTorch from inside the program. A RecordFunction callback sees every op of
// every thread with its arguments and results; the stub's hooks add what passes the dispatcher by. Two levels are
// recorded: ops that the program calls, and below composite ones the first that have a kernel; what those call is left
// out. Built with NDEBUG as LibTorch is: RecordFunction::inputs() asserts otherwise.
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/uio.h>
#include <torch/nn/module.h>
#include <unistd.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "frontends/libtorch/capture/recorder.h"

namespace whittle::libtorch {
namespace {

constexpr int kDeepestStack = 128;

struct StackSlot {
    const std::uintptr_t* place;  ///< on the stack
    std::uintptr_t pc;            ///< what is there: a return address
};
struct KnownStack {
    std::uint32_t id;
    std::vector<StackSlot> slots;
};
constexpr std::size_t kKnownPerPointer = 32;
constexpr std::size_t kSweepAt = 256;

/// What is known of a thread. Leaked parts end with the process.
struct Thread {
    ThreadChunk chunk;
    RecordBuffer record, definition;
    int depth = 0;          ///< ops and scopes that are running
    int core = -1;          ///< depth of the op with a kernel that is running: ops below are left out
    int printing = 0;       ///< inside at::print
    bool busy = false;      ///< inside a callback of ours
    std::uint64_t ops = 0;  ///< recorded so far
    std::uint64_t ops_at_io = ~0ull;
    std::pair<const void*, const void*> last_data_ptr;
    std::uint64_t ops_at_data_ptr = 0;
    std::vector<std::uint8_t> enclosing;  ///< per running op: what it is to those below
    std::unordered_map<std::uint64_t, std::uint32_t> stacks;
    std::unordered_map<std::uintptr_t, std::vector<KnownStack>> known_stacks;  ///< by stack pointer
    std::unordered_map<const char*, const struct OpInfo*> ops_by_name;

    ~Thread();
};
enum Enclosing : std::uint8_t { kCompositeOp, kScope, kKernel };

struct OpInfo {
    std::uint32_t id = 0;
    std::uint8_t flags = 0;
    bool writes = false;              ///< to an argument, by its schema
    bool updates_statistics = false;  ///< writes running statistics without telling the version counter
};

thread_local bool thread_gone = false;
thread_local Thread this_thread;
Thread::~Thread() {
    thread_gone = true;
    chunk.unmap();
}

/// Everything shared by threads; leaked on purpose, LibTorch's own statics may still run ops at exit.
struct State {
    Recorder recorder;
    std::mutex mutex;
    std::atomic<std::uint32_t> next_stack{1};

    // Weak references keep the addresses of dead tensors and storages taken, so that numbers are never used twice, and
    // do not change use_count(), which autograd looks at.
    struct TensorEntry {
        c10::weak_intrusive_ptr<c10::TensorImpl> reference;
        std::uint64_t id;
        bool registered = false, walked = false;
    };
    struct StorageEntry {
        c10::weak_intrusive_ptr<c10::StorageImpl> reference;
        std::uint64_t id;
        std::unordered_set<std::uint64_t> known;  ///< hashes of version and geometry whose elements were written
    };
    std::unordered_map<c10::TensorImpl*, TensorEntry> tensors;
    std::unordered_map<c10::StorageImpl*, StorageEntry> storages;
    std::size_t tensor_limit = kSweepAt, storage_limit = kSweepAt;  ///< sizes at which dead entries are looked for
    std::uint64_t last_tensor = 0, last_storage = 0;
    std::unordered_map<std::string, OpInfo> ops;

    std::vector<torch::nn::Module*> made;  ///< modules under construction
    std::vector<std::weak_ptr<torch::nn::Module>> modules;
    std::set<std::pair<std::uint64_t, std::string>> named;
    std::atomic<bool> names_stale{false};

    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> torch_code;  ///< LibTorch's, libstdc++'s and our own
};
State& state = *new State;

std::uint64_t hash(std::uint64_t seed, std::uint64_t value) {
    seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 12) + (seed >> 4);
    return seed * 0xff51afd7ed558ccdull;
}

/// Callbacks of ours do not see each other, and nothing they throw reaches the program.
template <class F>
void quietly(F&& body) {
    if (thread_gone || !state.recorder.on()) return;
    Thread& thread = this_thread;
    if (thread.busy) return;
    thread.busy = true;
    try {
        body(thread);
    } catch (...) {
        state.recorder.cut(kCutError);
    }
    thread.busy = false;
}

bool commit(Thread& thread, RecordBuffer& record) {
    if (!thread.chunk.numbered) {
        RecordBuffer first;
        first.start(RecordKind::thread);
        first.put(static_cast<std::uint64_t>(at::RecordFunction::currentThreadId()));
        first.put(static_cast<std::uint8_t>(::gettid() == ::getpid()));
        if (!state.recorder.commit(thread.chunk, first)) return false;
    }
    return state.recorder.commit(thread.chunk, record);
}

/// Writes a stack of return addresses once; its number.
std::uint32_t define_stack(Thread& thread, const std::vector<StackSlot>& slots) {
    std::uint64_t key = slots.size();
    for (const StackSlot& slot : slots) key = hash(key, slot.pc);
    const auto [entry, fresh] = thread.stacks.try_emplace(key, 0);
    if (!fresh) return entry->second;
    entry->second = state.next_stack.fetch_add(1);
    RecordBuffer& record = thread.definition;
    record.start(RecordKind::stack_def);
    record.put(entry->second);
    record.put(static_cast<std::uint32_t>(slots.size()));
    for (const StackSlot& slot : slots) record.put(static_cast<std::uint64_t>(slot.pc));
    commit(thread, record);
    return entry->second;
}

/// Unwinds the frames beyond `from`, with the place of each return address on the stack. False when a place is not
/// known.
bool unwind(std::uintptr_t from, std::vector<StackSlot>& slots) {
    unw_context_t context;
    unw_cursor_t cursor;
    if (::unw_getcontext(&context) != 0 || ::unw_init_local(&cursor, &context) != 0) return false;
    bool all = true;
    while (slots.size() < kDeepestStack && ::unw_step(&cursor) > 0) {
        unw_word_t pc = 0, sp = 0;
        ::unw_get_reg(&cursor, UNW_REG_IP, &pc);
        ::unw_get_reg(&cursor, UNW_REG_SP, &sp);
        if (pc == 0) break;
        const auto* place = reinterpret_cast<const std::uintptr_t*>(sp) - 1;  // x86-64: the call pushed it there
        all = all && ::unw_is_signal_frame(&cursor) <= 0 && *place == pc;
        if (reinterpret_cast<std::uintptr_t>(place) > from) slots.push_back({place, pc});
    }
    return all && !slots.empty();
}

/// The number of the stack above us. Unwinding takes microseconds, so it is remembered with the places of its return
/// addresses: from one stack pointer, equal addresses from the innermost outwards mean the same frames, since an
/// address decides the size of its function's frame (functions with alloca excepted).
__attribute__((noinline)) std::uint32_t stack_id(Thread& thread) {
    const auto sp = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::vector<KnownStack>& known = thread.known_stacks[sp];
    for (const KnownStack& stack : known)
        if (std::all_of(stack.slots.begin(), stack.slots.end(), [](const StackSlot& s) { return *s.place == s.pc; }))
            return stack.id;
    std::vector<StackSlot> slots;
    const bool reusable = unwind(sp, slots);
    const std::uint32_t id = define_stack(thread, slots);
    if (known.size() >= kKnownPerPointer) known.clear();
    if (reusable) known.push_back({id, std::move(slots)});
    return id;
}

/// Entries of what is dead go now and then: their addresses are free from then on, and a new tensor there gets a new
/// number.
template <class Map>
void sweep(Map& map, std::size_t& limit) {
    if (map.size() < limit) return;
    for (auto entry = map.begin(); entry != map.end();)
        entry = entry->second.reference.expired() ? map.erase(entry) : std::next(entry);
    limit = std::max(kSweepAt, 2 * map.size());
}

State::TensorEntry& entry_of(const at::Tensor& tensor) {
    c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    const auto found = state.tensors.find(impl);
    if (found != state.tensors.end()) return found->second;
    sweep(state.tensors, state.tensor_limit);
    State::TensorEntry entry{c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), ++state.last_tensor};
    return state.tensors.emplace(impl, std::move(entry)).first->second;
}
State::StorageEntry& entry_of(c10::StorageImpl* impl) {
    const auto found = state.storages.find(impl);
    if (found != state.storages.end()) return found->second;
    sweep(state.storages, state.storage_limit);
    auto strong = c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(impl);
    State::StorageEntry entry{c10::weak_intrusive_ptr<c10::StorageImpl>(strong), ++state.last_storage, {}};
    return state.storages.emplace(impl, std::move(entry)).first->second;
}

bool is_plain(const at::Tensor& tensor) {
    return tensor.layout() == at::kStrided && tensor.device().is_cpu() && !tensor.is_quantized() && !tensor.is_conj() &&
           !tensor.is_neg() && tensor.has_storage();
}
std::uint32_t version_of(const at::Tensor& tensor) {
    return tensor.is_inference() ? 0 : static_cast<std::uint32_t>(tensor._version());
}

/// The mutex is held.
void put_tensor(RecordBuffer& record, const at::Tensor& tensor) {
    TensorRecord written{};
    written.id = entry_of(tensor).id;
    const bool strided = tensor.layout() == at::kStrided;
    if (tensor.has_storage()) {
        written.storage = entry_of(tensor.storage().unsafeGetStorageImpl()).id;
        written.offset = tensor.storage_offset();
        written.flags |= kHasStorage;
    }
    written.version = version_of(tensor);
    written.dtype = static_cast<std::int8_t>(tensor.scalar_type());
    const bool wrapped = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    if (tensor.requires_grad()) written.flags |= kRequiresGrad;
    if (tensor.is_leaf()) written.flags |= kLeaf;
    if (wrapped) written.flags |= kWrappedNumber;
    if (is_plain(tensor)) written.flags |= kPlain;
    const at::IntArrayRef sizes = tensor.sizes();
    written.rank = static_cast<std::uint8_t>(sizes.size());
    record.put(ValueTag::tensor);
    record.put(written);
    record.put_bytes(sizes.data(), sizes.size() * sizeof(std::int64_t));
    for (std::size_t i = 0; i < sizes.size(); ++i) record.put(strided ? tensor.strides()[i] : std::int64_t{0});
    if (wrapped) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, tensor.unsafeGetTensorImpl()->data(),
                    std::min<std::size_t>(sizeof bits, tensor.element_size()));
        record.put(bits);
    }
}

/// The mutex is held.
void put_value(RecordBuffer& record, const c10::IValue& value) {
    if (value.isTensor()) {
        const at::Tensor& tensor = value.toTensor();
        if (tensor.defined())
            put_tensor(record, tensor);
        else
            record.put(ValueTag::undefined);
    } else if (value.isNone()) {
        record.put(ValueTag::none);
    } else if (value.isInt()) {
        record.put(ValueTag::integer);
        record.put(static_cast<std::int64_t>(value.toInt()));
    } else if (value.isDouble()) {
        record.put(ValueTag::real);
        record.put(value.toDouble());
    } else if (value.isBool()) {
        record.put(ValueTag::boolean);
        record.put(static_cast<std::uint8_t>(value.toBool()));
    } else if (value.isString()) {
        record.put(ValueTag::text);
        record.put_text(value.toStringRef());
    } else if (value.isList()) {
        const auto elements = value.toListRef();
        record.put(ValueTag::list);
        record.put(static_cast<std::uint32_t>(elements.size()));
        for (const c10::IValue& element : elements) put_value(record, element);
    } else if (value.isTuple()) {
        const auto& elements = value.toTupleRef().elements();
        record.put(ValueTag::list);
        record.put(static_cast<std::uint32_t>(elements.size()));
        for (const c10::IValue& element : elements) put_value(record, element);
    } else {
        record.put(ValueTag::other);
        record.put_text(value.isDevice() ? value.toDevice().str() : value.tagKind());
    }
}

// ---- Elements

void copy_row_major(char* to, const char* from, at::IntArrayRef sizes, at::IntArrayRef strides, std::size_t width) {
    if (sizes.empty()) {
        std::memcpy(to, from, width);
        return;
    }
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < sizes.size(); ++i) inner *= sizes[i];
    const std::size_t row = static_cast<std::size_t>(inner) * width;
    for (std::int64_t i = 0; i < sizes[0]; ++i)
        copy_row_major(to + static_cast<std::size_t>(i) * row, from + i * strides[0] * static_cast<std::int64_t>(width),
                       sizes.slice(1), strides.slice(1), width);
}

/// Writes the tensor's elements unless they are in the file already. The mutex is held.
void snapshot(Thread& thread, const at::Tensor& tensor) {
    if (!is_plain(tensor) || tensor.unsafeGetTensorImpl()->is_wrapped_number()) return;
    State::StorageEntry& storage = entry_of(tensor.storage().unsafeGetStorageImpl());
    std::uint64_t key = hash(version_of(tensor), static_cast<std::uint64_t>(tensor.storage_offset()));
    key = hash(key, static_cast<std::uint64_t>(tensor.scalar_type()));
    for (const std::int64_t size : tensor.sizes()) key = hash(key, static_cast<std::uint64_t>(size));
    for (const std::int64_t stride : tensor.strides()) key = hash(key, static_cast<std::uint64_t>(stride) ^ 0x5555u);
    key = hash(key, entry_of(tensor).id);
    if (!storage.known.insert(key).second) return;
    const std::size_t width = tensor.element_size(), bytes = static_cast<std::size_t>(tensor.numel()) * width;
    if (bytes > state.recorder.bytes_left()) return state.recorder.cut(kCutSize);
    RecordBuffer& record = thread.definition;
    record.start(RecordKind::snapshot);
    put_tensor(record, tensor);
    record.put(static_cast<std::uint64_t>(bytes));
    char* space = record.put_space(bytes);
    const char* data = static_cast<const char*>(tensor.unsafeGetTensorImpl()->data());
    if (bytes && tensor.is_contiguous())
        std::memcpy(space, data, bytes);
    else if (bytes)
        copy_row_major(space, data, tensor.sizes(), tensor.strides(), width);
    commit(thread, record);
}

template <class F>
void for_each_tensor(const c10::IValue& value, F&& body) {
    if (value.isTensor()) {
        if (value.toTensor().defined()) body(value.toTensor());
    } else if (value.isList()) {
        for (const c10::IValue& element : value.toListRef()) for_each_tensor(element, body);
    } else if (value.isTuple()) {
        for (const c10::IValue& element : value.toTupleRef().elements()) for_each_tensor(element, body);
    }
}

/// Their elements may change although no version counter says so.
void forget_elements(const c10::IValue& value) {
    for_each_tensor(value, [](const at::Tensor& tensor) {
        if (tensor.has_storage()) entry_of(tensor.storage().unsafeGetStorageImpl()).known.clear();
    });
}

// ---- Names

/// Two words of memory that may be gone.
bool read_words(const void* from, std::uintptr_t (&words)[2]) {
    iovec local{words, sizeof words}, remote{const_cast<void*>(from), sizeof words};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(sizeof words);
}

/// A module is known safely once a shared_ptr owns it: then its enable_shared_from_this part points to itself. Until
/// then, or if nothing ever shares it, it may be under construction or gone, so it is not touched.
void adopt_modules() {
    using Shared = std::enable_shared_from_this<torch::nn::Module>;
    std::vector<torch::nn::Module*> waiting;
    for (torch::nn::Module* module : state.made) {
        std::uintptr_t words[2] = {};
        if (!read_words(static_cast<Shared*>(module), words)) continue;
        if (words[0] == reinterpret_cast<std::uintptr_t>(module) && words[1])
            state.modules.push_back(module->weak_from_this());
        else
            waiting.push_back(module);
    }
    if (waiting.size() > 10000) waiting.clear();
    state.made = std::move(waiting);
}

void write_name(Thread& thread, const at::Tensor& tensor, NameKind kind, const void* root, const std::string& type,
                const std::string& path) {
    if (!tensor.defined()) return;
    const std::uint64_t id = entry_of(tensor).id;
    if (!state.named.emplace(id, type + '/' + path).second) return;
    RecordBuffer& record = thread.definition;
    record.start(RecordKind::name);
    record.put(id);
    record.put(kind);
    record.put(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(root)));
    record.put_text(type);
    record.put_text(path);
    commit(thread, record);
}

/// Qualified names of the parameters and buffers of all modules that no other module holds. The mutex is held.
void write_names(Thread& thread) {
    adopt_modules();
    std::vector<std::shared_ptr<torch::nn::Module>> alive;
    for (const auto& weak : state.modules)
        if (auto module = weak.lock()) alive.push_back(std::move(module));
    std::set<const torch::nn::Module*> held;
    for (const auto& module : alive)
        for (const auto& child : module->children()) held.insert(child.get());
    for (const auto& module : alive) {
        if (held.count(module.get())) continue;
        for (const auto& item : module->named_parameters())
            write_name(thread, item.value(), NameKind::parameter, module.get(), module->name(), item.key());
        for (const auto& item : module->named_buffers())
            write_name(thread, item.value(), NameKind::buffer, module.get(), module->name(), item.key());
    }
}

// ---- Ops

const OpInfo& define_op(Thread& thread, const at::RecordFunction& function) {
    const auto name = function.operator_name();
    const std::string key = name ? name->name + "." + name->overload_name : std::string("\n") + function.name();
    std::lock_guard lock(state.mutex);
    const auto [entry, fresh] = state.ops.try_emplace(key);
    OpInfo& info = entry->second;
    if (!fresh) return info;
    info.id = static_cast<std::uint32_t>(state.ops.size());
    std::string schema;
    if (name) {
        info.flags |= kHasSchema;
        if (const auto op = c10::Dispatcher::singleton().findSchema(*name)) {
            if (op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) info.flags |= kComposite;
            const auto& returns = op->schema().returns();
            const bool any = std::any_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
                return result.type()->str().find("Tensor") != std::string::npos;
            });
            if (!any && !returns.empty()) info.flags |= kReturnsOnlyHost;
            schema = c10::toString(op->schema());
            info.writes = schema.find('!') != std::string::npos;
        }
        info.updates_statistics =
            name->name.find("batch_norm") != std::string::npos || name->name.find("instance_norm") != std::string::npos;
    }
    RecordBuffer& record = thread.definition;
    record.start(RecordKind::op_def);
    record.put(info.id);
    record.put(info.flags);
    record.put_text(name ? name->name : function.name());
    record.put_text(name ? name->overload_name : "");
    record.put_text(schema);
    commit(thread, record);
    return info;
}

/// An op's name lies in its schema, which stays where it is: the pointer is the key. Other names may be temporary.
const OpInfo& info_of(Thread& thread, const at::RecordFunction& function) {
    const auto found = thread.ops_by_name.find(function.name());
    if (found != thread.ops_by_name.end()) return *found->second;
    const OpInfo& info = define_op(thread, function);
    if (info.flags & kHasSchema) thread.ops_by_name.emplace(function.name(), &info);
    return info;
}

bool is_op(const at::RecordFunction& function) { return function.scope() == at::RecordScope::FUNCTION; }

void record_begin(Thread& thread, const at::RecordFunction& function) {
    if ((++thread.ops & 63) == 0) state.recorder.check_time();
    const OpInfo& info = info_of(thread, function);
    const bool is_scope = !is_op(function) || !(info.flags & kHasSchema);
    const bool called_by_program = thread.enclosing.empty() || thread.enclosing.back() == kScope;
    thread.enclosing.push_back(is_scope ? kScope : info.flags & kComposite ? kCompositeOp : kKernel);
    const std::uint32_t stack = called_by_program ? stack_id(thread) : 0;
    const auto inputs = function.inputs();
    std::lock_guard lock(state.mutex);
    if (!is_scope) {
        bool registered = false;
        for (const c10::IValue& input : inputs)
            for_each_tensor(input, [&](const at::Tensor& tensor) {
                State::TensorEntry& entry = entry_of(tensor);
                registered |= entry.registered;
                if (state.recorder.with_data()) snapshot(thread, tensor);
            });
        if (registered && state.names_stale.exchange(false)) {
            write_names(thread);
            if (!state.made.empty()) state.names_stale = true;
        }
        if (info.updates_statistics && state.recorder.with_data())
            for (std::size_t i = 3; i < std::min<std::size_t>(inputs.size(), 5); ++i) forget_elements(inputs[i]);
    }
    RecordBuffer& record = thread.record;
    record.start(RecordKind::op_begin);
    record.put(info.id);
    record.put(static_cast<std::uint32_t>(thread.depth));
    record.put(stack);
    record.put(is_op(function)                                          ? OpScope::function
               : function.scope() == at::RecordScope::BACKWARD_FUNCTION ? OpScope::backward
                                                                        : OpScope::user);
    record.put(static_cast<std::uint8_t>(at::GradMode::is_enabled()));
    record.put(static_cast<std::int64_t>(function.seqNr()));
    record.put(static_cast<std::uint64_t>(function.forwardThreadId()));
    record.put(static_cast<std::uint16_t>(is_scope ? 0 : inputs.size()));
    if (!is_scope)
        for (const c10::IValue& input : inputs) put_value(record, input);
    commit(thread, record);
}

void record_end(Thread& thread, const at::RecordFunction& function) {
    const OpInfo& info = info_of(thread, function);
    const std::uint8_t what = thread.enclosing.back();
    thread.enclosing.pop_back();
    const auto& outputs = function.outputs();
    RecordBuffer& record = thread.record;
    std::lock_guard lock(state.mutex);
    record.start(RecordKind::op_end);
    record.put(info.id);
    record.put(static_cast<std::uint32_t>(thread.depth));
    record.put(static_cast<std::uint16_t>(what == kScope ? 0 : outputs.size()));
    if (what != kScope)
        for (const c10::IValue& output : outputs) put_value(record, output);
    commit(thread, record);
    if (what == kScope || !state.recorder.with_data()) return;
    for (const c10::IValue& output : outputs)
        for_each_tensor(output, [&](const at::Tensor& tensor) {
            // Tensors that share the memory but not the version counter (data(), inference mode) changed, too.
            if (info.writes) forget_elements(output);
            snapshot(thread, tensor);
        });
}

// Depth and core are kept even where nothing is recorded, so that begins and ends always meet.
std::unique_ptr<at::ObserverContext> op_begins(const at::RecordFunction& function) {
    if (thread_gone) return nullptr;
    Thread& thread = this_thread;
    const bool wanted = thread.core < 0 && !thread.printing && !thread.busy;
    if (wanted) quietly([&](Thread&) { record_begin(thread, function); });
    if (wanted && !thread.enclosing.empty() && thread.enclosing.back() == kKernel) thread.core = thread.depth;
    ++thread.depth;
    return nullptr;
}
void op_ends(const at::RecordFunction& function, at::ObserverContext*) {
    if (thread_gone) return;
    Thread& thread = this_thread;
    --thread.depth;
    if (thread.core == thread.depth) thread.core = -1;
    const bool wanted = thread.core < 0 && !thread.printing && !thread.busy && !thread.enclosing.empty();
    if (wanted) quietly([&](Thread&) { record_end(thread, function); });
}

// ---- Hooks of the stub

bool is_foreign(const void* caller) {
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    for (const auto& [low, high] : state.torch_code)
        if (address >= low && address < high) return true;
    return false;
}

void on_module_made(void* module) {
    quietly([&](Thread&) {
        std::lock_guard lock(state.mutex);
        state.made.push_back(static_cast<torch::nn::Module*>(module));
        state.names_stale = true;
    });
}

void on_registered(void* module, const void* pointer, const char* name, int is_buffer) {
    quietly([&](Thread& thread) {
        const at::Tensor& tensor = *static_cast<const at::Tensor*>(pointer);
        if (!tensor.defined()) return;
        std::lock_guard lock(state.mutex);
        entry_of(tensor).registered = true;
        state.names_stale = true;
        write_name(thread, tensor, is_buffer ? NameKind::buffer : NameKind::parameter, nullptr,
                   std::to_string(reinterpret_cast<std::uintptr_t>(module)), name);
    });
}

void on_data_ptr(const void* pointer, const char* type, void* caller) {
    quietly([&](Thread& thread) {
        if (thread.depth || thread.printing || is_foreign(caller)) return;
        const std::pair<const void*, const void*> what{pointer, caller};
        if (what == thread.last_data_ptr && thread.ops == thread.ops_at_data_ptr) return;
        thread.last_data_ptr = what;
        thread.ops_at_data_ptr = thread.ops;
        const at::Tensor& tensor = *static_cast<const at::Tensor*>(pointer);
        const std::uint32_t stack = stack_id(thread);
        std::lock_guard lock(state.mutex);
        thread.record.start(RecordKind::data_ptr);
        thread.record.put(stack);
        thread.record.put_text(type);
        put_value(thread.record, c10::IValue(tensor));
        commit(thread, thread.record);
    });
}

/// Streams that end in a file or a terminal; a std::ostringstream is no output.
bool writes_out(const void* pointer) {
    if (!pointer) return true;
    auto* stream = const_cast<std::ostream*>(static_cast<const std::ostream*>(pointer));
    if (stream == &std::cout || stream == &std::cerr || stream == &std::clog) return true;
    return dynamic_cast<std::filebuf*>(stream->rdbuf()) || stream->rdbuf() == std::cout.rdbuf() ||
           stream->rdbuf() == std::cerr.rdbuf();
}

void on_io(const char* function, const void* stream, void* caller) {
    quietly([&](Thread& thread) {
        // Only output between ops matters, and of a row of it the first.
        if (thread.ops == 0 || thread.ops == thread.ops_at_io || thread.depth || thread.printing) return;
        if (is_foreign(caller) || !writes_out(stream)) return;
        thread.ops_at_io = thread.ops;
        const std::uint32_t stack = stack_id(thread);
        thread.record.start(RecordKind::io);
        thread.record.put(stack);
        thread.record.put_text(function);
        commit(thread, thread.record);
    });
}

void on_print(const void* pointer, int begins) {
    quietly([&](Thread& thread) {
        if (begins ? thread.printing++ : --thread.printing) return;
        if (thread.depth) return;
        const std::uint32_t stack = begins ? stack_id(thread) : 0;
        std::lock_guard lock(state.mutex);
        thread.record.start(begins ? RecordKind::print_begin : RecordKind::print_end);
        if (begins) {
            thread.record.put(stack);
            put_value(thread.record, c10::IValue(*static_cast<const at::Tensor*>(pointer)));
        }
        commit(thread, thread.record);
    });
}

void on_from_blob(void* caller) {
    quietly([&](Thread& thread) {
        if (thread.depth || is_foreign(caller)) return;
        const std::uint32_t stack = stack_id(thread);
        thread.record.start(RecordKind::from_blob);
        thread.record.put(stack);
        commit(thread, thread.record);
    });
}

// ---- Start and end

int write_mapping(dl_phdr_info* info, size_t, void*) {
    const char* name = info->dlpi_name && info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    char resolved[4096] = {};
    if (::readlink(name, resolved, sizeof resolved - 1) > 0 && resolved[0] == '/') name = resolved;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
        const std::uint64_t low = info->dlpi_addr + segment.p_vaddr, high = low + segment.p_memsz;
        RecordBuffer& record = this_thread.record;
        record.start(RecordKind::mapping);
        record.put(low);
        record.put(high);
        record.put(static_cast<std::uint64_t>(info->dlpi_addr));
        record.put_text(name);
        commit(this_thread, record);
        const char* slash = std::strrchr(name, '/');
        const std::string_view file = slash ? slash + 1 : name;
        for (const char* ours : {"libtorch", "libc10.", "libstdc++.", "libwhittle_capture", "libc.so", "libc-"})
            if (file.substr(0, std::strlen(ours)) == ours) state.torch_code.emplace_back(low, high);
    }
    return 0;
}

/// libunwind keeps a pipe open, by which it tests addresses. Made now, while low numbers are taken, it leaves the
/// program's own descriptors the numbers they would have.
void start_unwinding() {
    constexpr int kBeyond = 100;
    std::vector<int> taken;
    for (int file = -1; file < kBeyond;) {
        file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (file < 0) break;
        taken.push_back(file);
    }
    void* pcs[8];
    ::unw_backtrace(pcs, 8);
    for (const int file : taken) ::close(file);
}

/// At the end of the program: its own exit handlers and static objects are done or run without us.
struct AtExit {
    Hooks* hooks = nullptr;
    ~AtExit() {
        if (!hooks) return;
        *hooks = Hooks{};
        state.recorder.finish();
    }
} at_exit;

}  // namespace
}  // namespace whittle::libtorch

extern "C" __attribute__((visibility("default"))) int whittle_capture_start(whittle::libtorch::Hooks* hooks,
                                                                            const char* file, std::uint64_t max_bytes,
                                                                            double max_seconds, int with_data) {
    using namespace whittle::libtorch;
    if (!state.recorder.start(file, max_bytes, max_seconds, with_data != 0)) return -1;
    start_unwinding();
    quietly([&](Thread&) { ::dl_iterate_phdr(write_mapping, nullptr); });
    ::pthread_atfork(nullptr, nullptr, [] { state.recorder.forget(); });
    at::addGlobalCallback(
        at::RecordFunctionCallback(op_begins, op_ends)
            .needsInputs(true)
            .needsOutputs(true)
            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
    *hooks = {on_module_made, on_registered, on_data_ptr, on_io, on_print, on_from_blob};
    at_exit.hooks = hooks;
    return 0;
}
