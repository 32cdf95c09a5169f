#include "base/turn.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace whittle;

TEST_CASE("one thread works at a time, and others while it waits", "[turn]") {
    std::atomic<int> working = 0;
    std::atomic<bool> together = false;
    const auto work = [&] {
        if (++working != 1) together = true;
        std::this_thread::yield();
        --working;
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int k = 0; k < 100; ++k) {
                const Turn turn;
                work();
                {
                    const TurnPause others;
                    std::this_thread::yield();
                }
                work();
            }
        });
    threads.clear();
    CHECK_FALSE(together);
}

TEST_CASE("a turn that is given away can be taken", "[turn]") {
    const Turn turn;
    const TurnPause others;
    std::jthread([] { const Turn theirs; });  // would wait for ever
    const TurnPause again;                    // without a turn it is nothing
}
