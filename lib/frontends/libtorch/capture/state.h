// What the parts of the capture library share: the state of threads and of the process, and what they write records
// with. Functions that say "the mutex is held" mean state.mutex.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontends/libtorch/capture/callers.h"
#include "frontends/libtorch/capture/hashes.h"
#include "frontends/libtorch/capture/identity.h"
#include "frontends/libtorch/capture/lane_hash.h"
#include "frontends/libtorch/capture/python.h"
#include "frontends/libtorch/capture/recorder.h"
#include "frontends/libtorch/capture/row_file.h"
#include "frontends/libtorch/capture/torchscript.h"

namespace torch::nn {
class Module;
}

namespace whittle::libtorch {

struct StackSlot {
    const std::uintptr_t* place;  ///< on the stack
    std::uintptr_t pc;            ///< what is there: a return address
};
struct KnownStack {
    std::uint32_t id;
    std::vector<StackSlot> slots;
    std::vector<NativeFrame> outermost;  ///< those that CallerStates looks at, outermost first
};

struct OpInfo {
    std::uint32_t id = 0;
    std::uint8_t flags = 0;
    int arguments = -1, returns = -1;  ///< how many it has; -1: as many as there are
    const OpInfo* casting = nullptr;   ///< the same op where autocast casts for it; null where it never does
    bool writes = false;               ///< to an argument, by its schema
    bool returns_nothing = false;
    bool updates_statistics = false;  ///< writes running statistics without telling the version counter
    bool makes_memory = false;        ///< whose contents are no result: empty() and the like
    bool shows_memory = false;        ///< of an argument, without writing there: view() and the like
    std::uint64_t written = 0;        ///< a bit for each of the first 64 arguments that it writes to
};

/// An exception of the program's that is on its way to who catches it.
struct ThrownException {
    std::uint64_t ops = 0;    ///< Thread::ops when it was thrown
    std::uint32_t stack = 0;  ///< where; 0: none is on its way
    std::string name = {};    ///< its type's
};

/// What is known of a thread. Leaked parts end with the process.
struct Thread {
    ThreadChunk chunk;
    RecordBuffer record, definition;
    IdentityCaches identities;
    Hashing hashing;
    int depth = 0;          ///< ops and scopes that are running
    int core = -1;          ///< depth of the op with a kernel that is running: ops below are left out
    int printing = 0;       ///< inside at::print
    bool busy = false;      ///< inside a callback of ours
    std::uint64_t ops = 0;  ///< recorded so far
    std::uint64_t ops_at_io = ~0ull;
    ThrownException exception;
    std::pair<const void*, const void*> last_data_ptr;
    std::uint64_t ops_at_data_ptr = 0;
    std::vector<std::uint8_t> enclosing;  ///< per running op: what it is to those below …
    std::vector<std::uint64_t> starts;    ///< … and when it began, where times are wanted
    /// Running statistics of the normalizations that run, each with how many ops enclosed it: they are looked at when
    /// it ends.
    std::vector<std::pair<std::size_t, c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>>> statistics;
    std::unordered_map<std::uint64_t, std::uint32_t> stacks;
    /// By stack pointer; in Python, whose frames need none of their own, by what those are, too.
    std::unordered_map<std::uint64_t, std::vector<KnownStack>> known_stacks;
    std::unordered_map<const char*, const OpInfo*> ops_by_name;
    std::vector<python::Frame> frames;                        ///< of Python, of the stack that was read last
    CallerStates callers;                                     ///< as the last op saw them
    StackMemory stack_memory;                                 ///< once a tensor was released
    std::unique_ptr<python::StartedCalls> calls;              ///< of Python, that began
    std::uint64_t told_calls = 0;                             ///< by what the file has last, 0: none
    std::array<std::uint64_t, 512> told_variables = {};       ///< by tensor and stack, of those that came last
    std::unordered_map<std::uint64_t, std::uint64_t> places;  ///< of Python that the file has, by what they are
    std::unordered_set<std::uint64_t> unsafe_scripts;         ///< TorchScript's calls that are Call::unsafe, likewise
    std::vector<torchscript::Call> script_calls;              ///< that are running, outermost first
    int generation = 0;  ///< State::generation when it was new: what it knows is of that process
    int inherited = 0;   ///< of `depth`: what began in the process that forked this one

    ~Thread();
};
/// A tensor that a module has by that name.
struct Registration {
    std::uint64_t tensor;
    NameKind kind;
    std::string module, name;
};
/// Everything shared by threads; leaked on purpose, LibTorch's own statics may still run ops at exit.
struct State {
    Recorder recorder;
    std::mutex mutex;  ///< of names and definitions, which are rare; no op takes it
    std::atomic<std::uint32_t> next_stack{1};
    std::atomic<std::uint64_t> next_place{1};
    std::atomic<std::uint64_t> last_call{0};  ///< of Python, that began
    RowFile rows;                             ///< where hashes are recorded
    std::atomic<std::uint32_t> next_form{1};
    std::uint64_t only = 0;                    ///< the one operation that is recorded, 0: all are
    std::atomic<std::uint64_t> operations{0};  ///< that began so far, where one is

    std::unordered_map<std::string, OpInfo> ops;

    std::vector<torch::nn::Module*> made;  ///< modules under construction
    /// Never locked: that would make us an owner, perhaps the last one, and run the program's destructor.
    std::vector<std::pair<torch::nn::Module*, std::weak_ptr<torch::nn::Module>>> modules;
    /// Modules of TorchScript whose names are told.
    std::unordered_map<const void*, c10::weak_intrusive_ptr<c10::ivalue::Object>> scripted;
    std::set<std::pair<std::uint64_t, std::string>> named;
    std::set<std::pair<std::uint64_t, std::string>> named_modules;
    std::atomic<bool> names_stale{false};
    std::atomic<bool> modules_made{false};  ///< `made` is not empty
    std::vector<Registration> registrations;
    std::atomic<int> generation{0};  ///< how often this process became another one by fork()

    /// Ops with parameters between looks at `made`, and since the last.
    std::atomic<std::uint64_t> poll_after{1}, polled_before{0};

    std::mutex mapping_mutex;
    std::set<std::uintptr_t> mapped;                  ///< low ends of the segments that the file tells of
    unsigned long long mapped_at = 0, seen_adds = 0;  ///< libraries loaded so far: when that was, and now
    bool started = false;                             ///< torch_code is complete and read without a lock
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> torch_code;  ///< LibTorch's, libstdc++'s and our own
};
extern State& state;

/// Writes what the buffer holds; a thread's first record before it. False once nothing is recorded any more.
bool commit(Thread& thread, RecordBuffer& record);

/// Code of LibTorch, of the C and C++ libraries, or of ours.
bool in_torch_code(std::uintptr_t address);

/// The number of the stack above the caller, of something that is recorded next. With `still`, the stack of an op: what
/// went on there since the last one.
std::uint32_t stack_id(Thread& thread, Stillness* still = nullptr);
/// Writes a stack once; its number.
std::uint32_t define_stack(Thread& thread, const std::vector<std::uint64_t>& pcs);
/// Held while a stack is unwound: a child that is forked meanwhile could not unwind any more.
extern std::mutex unwinding;
void start_unwinding();
/// Writes the caller's stack without asking for memory, innermost first. Returns its depth.
std::size_t unwind_plainly(std::span<std::uint64_t> pcs);

/// Where hashes are recorded: begins the file of this process's rows.
void start_rows();

/// Forked children come to the capture, with the first that they do. Called once.
void watch_forks();
/// In a child that has no file yet; false where it gets none.
bool start_child(Thread& thread);
/// What the thread knew was of the process that forked this one.
void renew(Thread& thread);

/// Python writes text out, or gives the program a tensor's elements: by methods that are watched.
void python_writes();
void python_reads(const at::Tensor& tensor, const char* how);

/// Null where the thread is about to be gone.
Thread* thread_here();

/// Hooks of the stub, see there.
void on_end(const char* function);
void on_process(ProcessEvent event, const char* program);
/// The number of the thread's chunks and the depth of its ops, for on_end.
struct ThreadPlace {
    std::uint32_t thread, depth;
};
ThreadPlace place_of_thread();

/// Which of the functions that the thread's last op had around it still wait.
Waiting who_waits(Thread& thread);
/// The program throws an exception, or catches one.
void begin_exception(Thread& thread, const std::string& name);
void end_exception(Thread& thread);
/// Nobody holds the tensor any more: so who reads the records knows what was alive when a function returned.
void tell_release(Thread& thread, const c10::TensorImpl* tensor);
void put_value(Thread& thread, RecordBuffer& record, const c10::IValue& value);
/// Its elements can be read: on the CPU, strided, neither conjugate nor negated by a flag nor quantized.
bool is_plain(const at::Tensor& tensor);
/// Autograd's count of writes to its memory.
std::uint32_t version_of(const at::Tensor& tensor);
/// Writes the tensor's elements unless they are in the file already, or there is no room for them. With `check` those
/// that are, are compared: what changed although no op and no version counter says so was written through a pointer.
void snapshot(Thread& thread, const at::Tensor& tensor, bool check);
/// Of memory that nothing was written to yet: whatever it holds at the next look is no change.
void snapshot_of_memory(Thread& thread, const at::Tensor& tensor);
/// Their elements may change although no version counter says so.
void forget_elements(const c10::IValue& value);

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

void record_probe_enter(Thread& thread, const char* function);
void record_probe_leave(Thread& thread);
void record_probe_name(Thread& thread, const void* impl, const char* name, long long element, bool is_parameter);
void record_probe_value(Thread& thread, const whittle_probe_value& value);
void record_probe_branch(Thread& thread, const whittle_probe_file& file, unsigned site, long long outcome);

/// Nothing that `body` throws reaches the program, and callbacks inside it see nothing.
void quietly_here(const std::function<void(Thread&)>& body);

/// The mutex is held.
void write_module(Thread& thread, const void* root, const void* module, const std::string& type,
                  const std::string& path);
void write_name(Thread& thread, std::uint64_t tensor, NameKind kind, const void* root, const std::string& type,
                const std::string& path);
/// Qualified names of all modules that no other module holds, of their children, parameters and buffers, when there may
/// be new ones.
void update_names(Thread& thread);
/// Segments of code that were loaded since the last time.
void write_mappings(Thread& thread);

}  // namespace whittle::libtorch
