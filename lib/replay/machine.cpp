#include "replay/profile.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/thread_work.h"

namespace whittle {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kRounds = 1 << 20;              // of arithmetic
constexpr std::size_t kBytes = std::size_t(96) << 20;  // of all threads: beyond their caches

/// The compiler may not know what it is.
template <class T>
void forget(T& value) {
    asm volatile("" : "+m"(value));
}

/// Eight sums beside each other hide the latency of each. By name: arrays may stay in memory.
template <class Lanes>
[[gnu::always_inline]] inline double multiply_and_add() {
    Lanes factor = {}, term = {};
    for (std::size_t i = 0; i < sizeof(Lanes) / sizeof(float); ++i) factor[i] = 0.5F, term[i] = 1;
    forget(factor), forget(term);
    Lanes a = term, b = term, c = term, d = term, e = term, f = term, g = term, h = term;
    for (std::int64_t round = 0; round < kRounds; ++round) {
        a = a * factor + term, b = b * factor + term, c = c * factor + term, d = d * factor + term;
        e = e * factor + term, f = f * factor + term, g = g * factor + term, h = h * factor + term;
    }
    Lanes sum = a + b + c + d + e + f + g + h;
    forget(sum);
    return 2.0 * 8 * kRounds * static_cast<double>(sizeof(Lanes) / sizeof(float));
}

using Lanes4 = float __attribute__((vector_size(16)));
using Lanes8 = float __attribute__((vector_size(32)));
using Lanes16 = float __attribute__((vector_size(64)));

double plain() { return multiply_and_add<Lanes4>(); }
#ifdef __x86_64__
__attribute__((target("avx2,fma"))) double with_avx2() { return multiply_and_add<Lanes8>(); }
__attribute__((target("avx512f"))) double with_avx512() { return multiply_and_add<Lanes16>(); }
#endif

/// The widest that the processor has.
double (*arithmetic())() {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return with_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return with_avx2;
#endif
    return plain;
}

/// How much `work` on all threads got done in a second: what each returns, all together; the best of five times.
double rate(std::int64_t threads, const std::function<double(std::int64_t thread)>& work) {
    double best = 0;
    for (int time = 0; time < 5; ++time) {
        std::vector<double> done(static_cast<std::size_t>(threads));
        const auto begin = Clock::now();
        std::vector<std::thread> all;
        for (std::int64_t t = 0; t < threads; ++t)
            all.emplace_back([&, t] { done[static_cast<std::size_t>(t)] = work(t); });
        for (std::thread& one : all) one.join();
        const std::chrono::duration<double> seconds = Clock::now() - begin;
        double sum = 0;
        for (const double amount : done) sum += amount;
        best = std::max(best, sum / seconds.count());
    }
    return best;
}

MachineSpeed measured_speed() {
    MachineSpeed speed{.threads = kernel_threads()};
    double (*const compute)() = arithmetic();
    speed.flops_per_second = rate(speed.threads, [&](std::int64_t) { return compute(); });
    const std::size_t part = kBytes / static_cast<std::size_t>(speed.threads) / 2;
    std::vector<char> from(part * static_cast<std::size_t>(speed.threads), 1), to(from.size());
    speed.bytes_per_second = rate(speed.threads, [&](std::int64_t thread) {
        const std::size_t at = part * static_cast<std::size_t>(thread);
        std::memcpy(to.data() + at, from.data() + at, part);
        return 2 * static_cast<double>(part);
    });
    return speed;
}

}  // namespace

const MachineSpeed& machine_speed() {
    static const MachineSpeed speed = measured_speed();
    return speed;
}

double least_seconds(const MachineSpeed& machine, std::int64_t flops, std::int64_t bytes) {
    return std::max(static_cast<double>(flops) / machine.flops_per_second,
                    static_cast<double>(bytes) / machine.bytes_per_second);
}

}  // namespace whittle
