// Runs of one program, two at a time: whether it shows a failure is asked several times, of processes that know nothing
// of each other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/subprocess.h"
#include "base/turn.h"

namespace whittle::repro {

class Runs {
  public:
    using Run = std::function<ProcessResult()>;

    /// Begins with them, in this order.
    explicit Runs(std::vector<Run> runs);
    /// Ends what was begun and is not wanted any more.
    ~Runs();

    /// What the next one came to, in their order. Throws what that threw.
    ProcessResult next();

  private:
    struct Ended {
        std::optional<ProcessResult> result = {};
        std::exception_ptr error = {};
    };

    /// Runs what nobody has begun, one after the other.
    void work();
    std::optional<std::size_t> taken();
    void run(std::size_t number);

    const std::vector<Run> runs_;
    std::vector<Ended> ended_;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::size_t begun_ = 0, asked_ = 0;
    std::atomic<bool> unwanted_ = false;
    std::latch at_work_, over_{1};  ///< a thread that begins or ends holds locks, which no fork may copy
    std::vector<std::jthread> threads_;
    std::optional<Turn> turn_;  ///< of the thread that asks
};

}  // namespace whittle::repro
