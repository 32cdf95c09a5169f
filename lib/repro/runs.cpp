#include "repro/runs.h"

#include <algorithm>
#include <utility>

#include "base/interrupt.h"

namespace whittle::repro {
namespace {

constexpr std::size_t kAtOnce = 2;

}  // namespace

Runs::Runs(std::vector<Run> runs)
    : runs_(std::move(runs)),
      ended_(runs_.size()),
      at_work_(static_cast<std::ptrdiff_t>(std::min(kAtOnce, runs_.size()))) {
    for (std::size_t i = 0; i < std::min(kAtOnce, runs_.size()); i++) threads_.emplace_back([this] { work(); });
    at_work_.wait();
    turn_.emplace();
}

Runs::~Runs() {
    unwanted_ = true;
    {
        const std::lock_guard lock(mutex_);
        begun_ = runs_.size();
    }
    turn_.reset();
    over_.count_down();
}

ProcessResult Runs::next() {
    const std::size_t wanted = asked_++;
    const TurnPause others;
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return ended_[wanted].result || ended_[wanted].error; });
    if (ended_[wanted].error) std::rethrow_exception(ended_[wanted].error);
    return std::move(*ended_[wanted].result);
}

void Runs::work() {
    at_work_.count_down();
    {
        const WantedScope scope(unwanted_);
        for (std::optional<std::size_t> number; (number = taken());) {
            const Turn turn;
            run(*number);
        }
    }
    over_.wait();
}

std::optional<std::size_t> Runs::taken() {
    const std::lock_guard lock(mutex_);
    return begun_ < runs_.size() ? std::optional(begun_++) : std::nullopt;
}

void Runs::run(std::size_t number) {
    Ended ended;
    try {
        ended.result = runs_[number]();
    } catch (...) {
        ended.error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_[number] = std::move(ended);
    ready_.notify_all();
}

}  // namespace whittle::repro
