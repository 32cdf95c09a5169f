#include "base/thread_work.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace whittle {

ThreadWork& thread_work() {
    static thread_local ThreadWork work;
    return work;
}

WorksFor::WorksFor(ThreadWork other) : before_(std::exchange(thread_work(), std::move(other))) {}
WorksFor::~WorksFor() { thread_work() = std::move(before_); }

void for_each_on_threads(std::size_t count, const std::function<void(std::size_t)>& f) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr thrown;  // as std::bad_alloc: the caller's to judge
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++) f(i);
        } catch (...) {
            next = count;
            const std::lock_guard lock(mutex);
            if (!thrown) thrown = std::current_exception();
        }
    };
    const std::size_t threads = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), count);
    std::vector<std::thread> helpers;
    helpers.reserve(threads);
    try {
        for (std::size_t i = 1; i < threads; i++)
            helpers.emplace_back([&, mine = thread_work()] {
                const WorksFor me(mine);
                work();
            });
    } catch (const std::system_error&) {  // there are no more threads to be had: these do it all
    }
    work();
    for (std::thread& helper : helpers) helper.join();
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace whittle
