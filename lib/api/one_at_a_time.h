// OneAtATime: a mutex that says so where its thread would wait for itself: when what a backend runs calls, in turn, the
// function that it is run for.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "base/error.h"

namespace whittle::api {

class OneAtATime {
  public:
    /// Throws Error when this thread holds it.
    void lock() {
        if (owner_.load() == std::this_thread::get_id())
            throw Error(
                "found a call of a compiled function while this thread compiles or runs the graph of this function",
                "in the code that the backend returns, call the original function, not the compiled function");
        mutex_.lock();
        owner_ = std::this_thread::get_id();
    }
    void unlock() {
        owner_ = std::thread::id();
        mutex_.unlock();
    }

  private:
    std::mutex mutex_;
    std::atomic<std::thread::id> owner_ = std::thread::id();
};

}  // namespace whittle::api
