#include "base/thread_work.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/number_text.h"

namespace whittle {

ThreadWork& thread_work() {
    static thread_local ThreadWork work;
    return work;
}

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

int kernel_threads() {
    constexpr int kMost = 256;  // as Halide's own thread pool
    const char* const value = std::getenv("HL_NUM_THREADS");
    if (!value || !*value) return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int wanted = number_of<int>(value).value_or(0);
    if (wanted < 1)
        throw Error({"environment", "HL_NUM_THREADS"},
                    "found '" + std::string(value) + "', expected a number of threads, 1 or more");
    return std::min(wanted, kMost);
}

}  // namespace whittle
