// SoFar: what a program that still runs has done, written now and then, so that who kills it and us finds that.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace whittle {

/// What is to be written, and when.
struct SoFarWork {
    double every = 10;  ///< seconds; longer where writing takes long: it has a fifth of the time
    /// Whether there is something new: asked here, before each time.
    std::function<bool()> wanted;
    /// Makes the trace, in a copy of this process at the lowest priority, which may fail.
    std::function<void()> write;
    /// Takes what the copy made. Here: it is never interrupted, and should be quick.
    std::function<void()> take;
};

/// Works while it lives, beside the thread that made it.
class SoFar {
  public:
    explicit SoFar(SoFarWork work);
    /// Ends what is being written.
    ~SoFar();
    SoFar(const SoFar&) = delete;
    SoFar& operator=(const SoFar&) = delete;

  private:
    void run();
    bool pause(double seconds);
    bool write();

    const SoFarWork work_;
    std::mutex mutex_;
    std::condition_variable ended_;
    std::atomic<bool> unwanted_{false};
    std::thread thread_;
};

}  // namespace whittle
