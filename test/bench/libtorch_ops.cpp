// What one operation of a LibTorch program costs. Prints nanoseconds an operation, the least of all repeats; run
// plainly and under explain by scripts/bench-capture.
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOps = 1000, kRepeats = 50;

at::Tensor body(at::Tensor t, const at::Tensor& other) {
    for (int i = 0; i < kOps / 2; ++i) t = (t + other).relu();
    return t;
}

}  // namespace

int main() {
    const at::Tensor x = at::ones({4}), y = at::ones({4});
    double least = 1e30;
    for (int i = 0; i < kRepeats; ++i) {
        const auto begin = Clock::now();
        body(x, y);
        least = std::min(least, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kOps);
    }
    std::printf("%.0f\n", least);
}
