#include "base/thread_work.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <new>

using namespace whittle;

TEST_CASE("what is done on several threads is done once each, in the name of the thread that asks", "[thread_work]") {
    const WorksFor named({.graph = "g"});
    std::array<std::atomic<int>, 50> done = {};
    for_each_on_threads(done.size(), [&](std::size_t i) { done.at(i) += thread_work().graph == "g" ? 1 : 100; });
    for (const std::atomic<int>& times : done) CHECK(times == 1);
    for_each_on_threads(0, [](std::size_t) { FAIL("there is nothing to do"); });
}

TEST_CASE("what any of the threads throws reaches the one that asks, and ends the process nowhere", "[thread_work]") {
    std::atomic<int> begun = 0;
    CHECK_THROWS_AS(for_each_on_threads(1000,
                                        [&](std::size_t) {
                                            ++begun;
                                            throw std::bad_alloc();
                                        }),
                    std::bad_alloc);
    CHECK(begun < 1000);  // the others were left out
}
