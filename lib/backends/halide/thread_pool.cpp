#include "backends/halide/thread_pool.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/thread_work.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace whittle::halide {
namespace {

/// How long a thread looks for the next loop before it sleeps: kernels that one thread runs lie between two loops.
constexpr std::chrono::microseconds kPatience{200};
constexpr int kLooks = 64;  // between two glances at the clock

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

struct Loop {
    void* context;
    LoopTask task;
    std::uint8_t* closure;
    std::atomic<int> error{0};

    void step(int step) {
        if (const int failed = error.load(std::memory_order_relaxed) ? 0 : task(context, step, closure))
            error.store(failed, std::memory_order_relaxed);
    }
};

/// The steps that one thread begins with.
struct alignas(64) Share {
    std::atomic<int> next{0};
    int end = 0;
};

thread_local bool in_loop = false;

class Pool {
  public:
    explicit Pool(std::size_t threads) : shares_(threads) {
        try {
            for (std::size_t i = 1; i < threads; i++) std::thread([this, i] { serve(i); }).detach();
        } catch (const std::system_error&) {  // there are no more threads to be had: the others do their steps
        }
    }

    /// False: another thread's loop runs.
    bool run(Loop& loop, int first, int count) {
        const std::unique_lock busy(busy_, std::try_to_lock);
        if (!busy) return false;
        const auto threads = static_cast<std::int64_t>(shares_.size());
        for (std::int64_t i = 0; i < threads; i++) {
            Share& share = shares_[static_cast<std::size_t>(i)];
            share.next = first + static_cast<int>(count * i / threads);
            share.end = first + static_cast<int>(count * (i + 1) / threads);
        }
        current_ = &loop;
        generation_++;
        if (sleeping_ > 0) {
            const std::lock_guard lock(mutex_);
            wake_.notify_all();
        }
        in_loop = true;
        work(loop, 0);
        in_loop = false;
        current_ = nullptr;  // who is not inside yet finds none
        for (int looks = 0; inside_ > 0; looks++) looks < 16 * kLooks ? pause() : std::this_thread::yield();
        return true;
    }

  private:
    /// Each thread has the same part of every loop first, neighbours together: what it wrote in one loop it often reads
    /// in the next, and two threads write to few cache lines at once. Then it helps the others.
    void work(Loop& loop, std::size_t thread) {
        for (std::size_t i = 0; i < shares_.size(); i++) {
            Share& share = shares_[(thread + i) % shares_.size()];
            for (int step; (step = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) loop.step(step);
        }
    }

    void serve(std::size_t thread) {
        in_loop = true;
        for (unsigned seen = 0;;) {
            seen = next_generation(seen);
            inside_++;
            if (Loop* const loop = current_) work(*loop, thread);
            inside_--;
        }
    }

    /// Waits for another one than `seen`.
    unsigned next_generation(unsigned seen) {
        const auto until = std::chrono::steady_clock::now() + kPatience;
        do {
            for (int i = 0; i < kLooks; i++, pause())
                if (const unsigned now = generation_; now != seen) return now;
        } while (std::chrono::steady_clock::now() < until);
        std::unique_lock lock(mutex_);
        sleeping_++;
        wake_.wait(lock, [&] { return generation_ != seen; });
        sleeping_--;
        return generation_;
    }

    std::vector<Share> shares_;  ///< of the loop that runs; the first is the caller's
    std::mutex busy_;
    std::atomic<Loop*> current_{nullptr};
    std::atomic<int> inside_{0};  ///< threads that may hold current_: it lives as long as there is one
    std::atomic<unsigned> generation_{0};
    std::atomic<int> sleeping_{0};
    std::mutex mutex_;
    std::condition_variable wake_;
};

/// Of this process; its threads wait in it for as long as that lives.
std::atomic<Pool*> the_pool{nullptr};

Pool& pool(int threads) {
    static std::mutex making;
    static const int forgets = pthread_atfork([] { making.lock(); }, [] { making.unlock(); },
                                              [] { making.unlock(), the_pool = nullptr, in_loop = false; });
    static_cast<void>(forgets);
    if (Pool* const made = the_pool) return *made;
    const std::lock_guard lock(making);
    if (!the_pool) the_pool = new Pool(static_cast<std::size_t>(threads));
    return *the_pool;
}

}  // namespace

int run_loop(void* context, LoopTask task, int first, int count, std::uint8_t* closure) {
    static const int threads = kernel_threads();
    Loop loop{context, task, closure};
    if (count < 2 || threads < 2 || in_loop || !pool(threads).run(loop, first, count))
        for (int i = 0; i < count; i++) loop.step(first + i);
    return loop.error;
}

}  // namespace whittle::halide
