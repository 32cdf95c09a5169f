// What one operation of a LibTorch program costs. Prints nanoseconds an operation; run plainly and under explain and
// trace by scripts/bench capture.
//   libtorch_bench             the least of many short repeats
//   libtorch_bench OPS [N]     of one loop of so many operations, shared by N threads
#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOps = 1000, kRepeats = 50;

at::Tensor body(at::Tensor t, const at::Tensor& other, long ops) {
    for (long i = 0; i < ops / 2; ++i) t = (t + other).relu();
    return t;
}

double nanoseconds(Clock::time_point begin, long ops) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / static_cast<double>(ops);
}

double in_threads(long ops, long count) {
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    for (long i = 0; i < count; ++i) threads.emplace_back([=] { body(at::ones({16}), at::ones({16}), ops / count); });
    for (std::thread& thread : threads) thread.join();
    return nanoseconds(begin, ops);
}

}  // namespace

int main(int argc, char** argv) {
    const at::Tensor x = at::ones({16}), y = at::ones({16});
    double least = 1e30;
    if (argc > 1) {
        const long ops = std::atol(argv[1]), threads = argc > 2 ? std::atol(argv[2]) : 0;
        const auto begin = Clock::now();
        if (threads)
            least = in_threads(ops, threads);
        else
            body(x, y, ops), least = nanoseconds(begin, ops);
    } else {
        for (int i = 0; i < kRepeats; ++i) {
            const auto begin = Clock::now();
            body(x, y, kOps);
            least = std::min(least, nanoseconds(begin, kOps));
        }
    }
    std::printf("%.0f\n", least);
}
