// The loops of kernels on several threads.
#include "backends/halide/thread_pool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/sanitizer.h"
#include "base/thread_work.h"

using namespace whittle::halide;

namespace {

constexpr int kSteps = 100;

struct Steps {
    std::array<std::atomic<int>, kSteps> runs = {};
    int fails_at = -1;
    bool nested = false;
    const std::thread::id caller = std::this_thread::get_id();

    static int step(void* context, int step, std::uint8_t* closure) {
        Steps& steps = *reinterpret_cast<Steps*>(closure);
        if (context != &steps) return 99;
        // The caller is done before the others are, and has to wait for them.
        if (std::this_thread::get_id() != steps.caller) std::this_thread::sleep_for(std::chrono::microseconds(50));
        steps.runs.at(static_cast<std::size_t>(step - 7))++;
        if (steps.nested) {
            Steps inner;
            if (const int error = inner.run()) return error;
            if (!inner.each_once()) return 98;
        }
        return step == steps.fails_at ? 5 : 0;
    }
    int run() { return run_loop(this, step, 7, kSteps, reinterpret_cast<std::uint8_t*>(this)); }
    bool each_once() const {
        return std::all_of(runs.begin(), runs.end(), [](const std::atomic<int>& count) { return count == 1; });
    }
};

}  // namespace

TEST_CASE("each step of a loop runs once, loop after loop", "[thread_pool]") {
    for (int i = 0; i < 500; i++) {
        Steps steps;
        REQUIRE(steps.run() == 0);
        REQUIRE(steps.each_once());
        if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the pool falls asleep
    }
}

TEST_CASE("threads begin with parts of a loop that lie apart", "[thread_pool]") {
    if (whittle::kThreadSanitizer || whittle::kernel_threads() < 2) return;
    struct Others {
        std::atomic<int> first{-1};
        const std::thread::id caller = std::this_thread::get_id();
        static int step(void*, int step, std::uint8_t* closure) {
            Others& others = *reinterpret_cast<Others*>(closure);
            int none = -1;
            if (std::this_thread::get_id() != others.caller) others.first.compare_exchange_strong(none, step);
            while (others.first < 0) std::this_thread::yield();  // the caller does not do it alone
            return 0;
        }
    };
    for (int i = 0; i < 100; i++) {
        Others others;
        REQUIRE(run_loop(nullptr, Others::step, 7, kSteps, reinterpret_cast<std::uint8_t*>(&others)) == 0);
        CHECK(others.first >= 7 + kSteps / whittle::kernel_threads());
    }
}

TEST_CASE("a loop gives a step's error", "[thread_pool]") {
    Steps steps;
    steps.fails_at = 7 + kSteps / 2;
    CHECK(steps.run() == 5);
    Steps after;
    CHECK(after.run() == 0);
}

TEST_CASE("loops in steps of a loop, and of other threads, are run by who asks", "[thread_pool]") {
    const auto repeat = [](std::atomic<int>& wrong) {
        for (int i = 0; i < 50; i++) {
            Steps steps;
            steps.nested = true;
            if (steps.run() != 0 || !steps.each_once()) wrong++;
        }
    };
    std::atomic<int> wrong = 0;
    std::thread other([&] { repeat(wrong); });
    repeat(wrong);
    other.join();
    CHECK(wrong == 0);
}

TEST_CASE("a copy of the process runs loops with threads of its own", "[thread_pool]") {
    if (whittle::kThreadSanitizer) return;  // it starts no threads there
    Steps before;
    REQUIRE(before.run() == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(30);
        Steps steps;
        const bool right = steps.run() == 0 && steps.each_once();
        _exit(right ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    Steps after;
    CHECK(after.run() == 0);
}
