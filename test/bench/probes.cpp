// What probes cost where nobody listens: a function of four statements, compiled plain and by trace cc and run side by
// side by scripts/bench cc. Prints nanoseconds per call.
#include <chrono>
#include <cstdio>

#include "tensor.h"

__attribute__((noinline)) Tensor frame(Tensor t, float n) {
    Tensor u = t + n;
    u = u * 2;
    u = u + t;
    return u;
}

int main() {
    constexpr int kCalls = 20'000'000;
    const Tensor t(1);
    float sum = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) sum += frame(t, static_cast<float>(i & 7)).item();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    std::printf("%.2f\n", time.count() / kCalls);
    return sum == 0;
}
