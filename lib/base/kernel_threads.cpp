#include "base/kernel_threads.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/error.h"

namespace whittle {

int kernel_threads() {
    constexpr int kMost = 256;  // as Halide's own thread pool
    const char* const value = std::getenv("HL_NUM_THREADS");
    if (!value || !*value) return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const std::string_view text = value;
    int wanted = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted);
    if (error != std::errc() || end != text.data() + text.size() || wanted < 1)
        throw Error({"environment", "HL_NUM_THREADS"},
                    "found '" + std::string(text) + "', expected a number of threads from 1");
    return std::min(wanted, kMost);
}

}  // namespace whittle
