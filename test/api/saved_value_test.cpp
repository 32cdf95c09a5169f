// Writes to memory that is saved for backward, from another thread than the one that saves it.
#define WHITTLE_API_IMPLEMENTATION
#include "api/saved_value.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace whittle;

TEST_CASE("a write is counted while the last value that is saved of its memory dies") {
    constexpr int kTimes = 20000;
    const Tensor memory = Tensor::of({1.F});
    std::thread saver([&] {
        for (int i = 0; i < kTimes; ++i) api::SavedValue saved(memory);
    });
    for (int i = 0; i < kTimes; ++i) api::note_write(memory);
    saver.join();
    const api::SavedValue saved(memory);
    api::note_write(memory);
    CHECK_THROWS(saved.get("op"));
}
