// Forked children. What they do goes to a file of their own, which begins with the first that LibTorch does there: most
// children only execute another program. All that the parent's file has is written again where the child meets it, so
// that each file is whole.
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <new>

#include "frontends/libtorch/capture/state.h"

namespace whittle::libtorch {

namespace {

constexpr std::size_t kDeepest = 512;

/// The stack of the thread that forks, taken without asking for memory: a signal handler may fork.
struct Forking {
    std::uint64_t pcs[kDeepest];
    std::size_t count = 0;
    std::uint64_t at = 0;  ///< by now_ns(): the parent's, for children of one parent begin to run in any order
    std::vector<python::Frame> frames;
    bool ready = false;  ///< in a child: nobody else held a lock of ours, all is as it should be
};
Forking& forking = *new Forking;  ///< of the thread that is `forker`
/// The thread that is between before_fork() and release(): another one's fork() may run its handlers meanwhile. 0:
/// none.
std::atomic<pthread_t> forker{0};
Forking& forked = *new Forking;  ///< in a child: how it came to be
std::atomic_flag starting = ATOMIC_FLAG_INIT;

std::mutex* lock_at(int i) {
    std::mutex* const locks[] = {&state.mutex, &state.mapping_mutex, &unwinding};
    return locks[i];
}
constexpr int kLockCount = 3;

/// Not for long: the program waits.
bool lock_soon(std::mutex& mutex) {
    for (int i = 0; i < 100; ++i) {
        if (mutex.try_lock()) return true;
        const timespec pause{0, 100000};
        ::nanosleep(&pause, nullptr);
    }
    return false;
}

/// Not for long: the program waits.
bool become_forker() {
    for (int i = 0; i < 100; ++i) {
        pthread_t nobody = 0;
        if (forker.compare_exchange_strong(nobody, ::pthread_self())) return true;
        const timespec pause{0, 100000};
        ::nanosleep(&pause, nullptr);
    }
    return false;
}

void before_fork() {
    if (!state.recorder.on() && !state.recorder.may_start()) return;
    if (!become_forker()) return;
    int held = 0;
    while (held < kLockCount && lock_soon(*lock_at(held))) ++held;
    if (held < kLockCount) {
        while (held > 0) lock_at(--held)->unlock();
        forker = 0;
        return;
    }
    forking.at = now_ns();
    forking.count = unwind_plainly(forking.pcs);
    std::uint64_t key = 0;
    python::frames(forking.frames, key);
}

/// Whether this thread has the locks: it had become the forker.
bool release_locks() {
    if (forker.load() != ::pthread_self()) return false;
    for (int i = 0; i < kLockCount; ++i) lock_at(i)->unlock();
    forker = 0;
    return true;
}
void release() { release_locks(); }

void after_fork_in_child() {
    forking.ready = release_locks();
    forker = 0;
    std::swap(forked, forking);  // it may fork before it has a file
    starting.clear();
    state.recorder.forget(forked.ready);
}

/// How many entries the two have in common at their ends.
template <class A, class B, class Same>
std::size_t common_end(const A& a, const B& b, Same same) {
    std::size_t count = 0;
    while (count < std::min(a.size(), b.size()) && same(a[a.size() - count - 1], b[b.size() - count - 1])) ++count;
    return count;
}

/// Where the parent forked, and how much of that the child's stacks have in common. Of Python's frames only those that
/// still run are looked at.
void write_fork_place(Thread& thread) {
    std::vector<python::Frame> now;
    std::uint64_t key = 0;
    python::frames(now, key);
    std::vector<python::Frame>& then = forked.frames;
    const auto runs = [&](const python::Frame& frame) {
        return std::any_of(now.begin(), now.end(), [&](const python::Frame& other) {
            return frame.address == other.address && frame.code == other.code;
        });
    };
    then.erase(then.begin(), std::find_if(then.begin(), then.end(), runs));
    std::uint64_t pcs[kDeepest];
    const auto slots = [](std::span<const std::uint64_t> native) {
        std::vector<StackSlot> all;
        for (const std::uint64_t pc : native) all.push_back({nullptr, pc});
        return all;
    };
    const std::vector<StackSlot> native_now = slots({pcs, unwind_plainly(pcs)}),
                                 native_then = slots({forked.pcs, forked.count});
    const std::vector<std::uint64_t> whole = python::merge(thread, native_then, then);
    const std::vector<std::uint64_t> here = python::merge(thread, native_now, now);
    const auto common = common_end(whole, here, [](std::uint64_t a, std::uint64_t b) { return a == b; });
    const std::uint32_t stack = define_stack(thread, whole);
    RecordBuffer& record = thread.record;
    record.start(records::ForkedAt{.stack = stack, .inherited = static_cast<std::uint32_t>(common)});
    commit(thread, record);
}

/// Names that registration told: those of modules are found again.
void write_registrations(Thread& thread) {
    const std::lock_guard lock(state.mutex);
    for (const Registration& one : state.registrations)
        write_name(thread, one.tensor, one.kind, nullptr, one.module, one.name);
}

void forget_parent() {
    state.ops.clear();
    state.named.clear();
    state.named_modules.clear();
    state.scripted.clear();
    state.names_stale = true;
    state.mapped.clear();
    state.mapped_at = 0;
    forget_process();
    python::forget_names();
}

}  // namespace

void renew(Thread& thread) {
    thread.generation = state.generation;
    thread.chunk.unmap();
    thread.chunk = {};
    thread.ops = 0;
    thread.ops_at_io = ~0ull;
    thread.ops_at_data_ptr = 0;
    thread.last_data_ptr = {};
    thread.exception = {};
    thread.stacks.clear();
    thread.known_stacks.clear();
    thread.ops_by_name.clear();
    thread.places.clear();
    thread.told_variables = {};
    thread.told_calls = 0;
    thread.hashing = {};
    thread.inherited = thread.depth;
}

bool start_child(Thread& thread) {
    while (starting.test_and_set(std::memory_order_acquire)) {
    }
    const bool first = state.recorder.may_start();
    if (first) {
        forget_parent();
        ++state.generation;
        if (state.recorder.start_child(forked.at)) {
            renew(thread);
            start_rows();
            write_mappings(thread);
            python::write_library_folders(thread);
            write_fork_place(thread);
            write_registrations(thread);
        }
    }
    starting.clear(std::memory_order_release);
    return state.recorder.on();
}

void watch_forks() {
    forking.frames.reserve(1000);
    forked.frames.reserve(1000);
    ::pthread_atfork(before_fork, release, after_fork_in_child);
}

}  // namespace whittle::libtorch
