// Questions whose answers take a process each, several at a time: runs that know nothing of each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/turn.h"

namespace whittle {

template <class Answer>
class ParallelRuns {
  public:
    using Run = std::function<Answer()>;

    /// Begins with them, in this order, `at_once` of them at a time.
    ParallelRuns(std::vector<Run> runs, std::size_t at_once)
        : runs_(std::move(runs)),
          ended_(runs_.size()),
          at_once_(std::min(at_once, runs_.size())),
          at_work_(static_cast<std::ptrdiff_t>(at_once_)) {
        try {
            for (std::size_t i = 0; i < at_once_; i++) threads_.emplace_back([this] { work(); });
        } catch (...) {  // there are no more threads to be had
            unwanted_ = true, begun_ = runs_.size();
            at_work_.count_down(static_cast<std::ptrdiff_t>(at_once_ - threads_.size()));
            over_.count_down();
            throw;
        }
        at_work_.wait();
        turn_.emplace();
    }

    /// Ends what was begun and is not wanted any more.
    ~ParallelRuns() {
        unwanted_ = true;
        {
            const std::lock_guard lock(mutex_);
            begun_ = runs_.size();
        }
        turn_.reset();
        over_.count_down();
    }

    /// What the next one came to, in their order. Throws what that threw.
    Answer next() {
        const std::size_t wanted = asked_++;
        const TurnPause others;
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [&] { return ended_[wanted].answer || ended_[wanted].error; });
        if (ended_[wanted].error) std::rethrow_exception(ended_[wanted].error);
        return std::move(*ended_[wanted].answer);
    }

  private:
    struct Ended {
        std::optional<Answer> answer = {};
        std::exception_ptr error = {};
    };

    /// Runs what nobody has begun, one after the other. A thread that begins or ends holds locks, which no fork may
    /// copy: none works before all are there, and none ends before the last one is done.
    void work() {
        at_work_.arrive_and_wait();
        {
            const WantedScope scope(unwanted_);
            for (std::optional<std::size_t> number; (number = taken());) {
                const Turn turn;
                run(*number);
            }
        }
        over_.wait();
    }

    std::optional<std::size_t> taken() {
        const std::lock_guard lock(mutex_);
        return begun_ < runs_.size() ? std::optional(begun_++) : std::nullopt;
    }

    void run(std::size_t number) {
        Ended ended;
        try {
            ended.answer = runs_[number]();
        } catch (...) {
            ended.error = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        ended_[number] = std::move(ended);
        ready_.notify_all();
    }

    const std::vector<Run> runs_;
    std::vector<Ended> ended_;
    const std::size_t at_once_;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::size_t begun_ = 0, asked_ = 0;
    std::atomic<bool> unwanted_ = false;
    std::latch at_work_, over_{1};
    std::vector<std::jthread> threads_;
    std::optional<Turn> turn_;  ///< of the thread that asks
};

}  // namespace whittle
