// What capture costs an operation of the own API: the same loop eagerly and compiled, side by side.
//   capture_bench [--json]
// "added" is what compile() adds to an operation at a later call, kernels apart: the graph is interpreted by the same
// kernels that run eagerly. "record" is the part of it that happens where the operation is issued.
// "hit" is a call of a function without effects (.pure) of ten tensors whose graph is there, without the one kernel in
// it.
#include <whittle/whittle.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

namespace {

using whittle::Tensor;
using Clock = std::chrono::steady_clock;

constexpr int kOps = 1000, kRepeats = 50;

double nanoseconds(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

struct Figures {
    double eager = 1e30, compiled = 1e30, record = 1e30;  ///< ns per operation, the least of all repeats
    double hit = 1e30;                                    ///< ns per call
};

/// The least time of a call, of all repeats.
double per_call(const std::function<Tensor()>& call) {
    double least = 1e30;
    for (int i = 0; i < kRepeats; ++i) {
        const auto begin = Clock::now();
        for (int k = 0; k < kOps; ++k) call();
        least = std::min(least, nanoseconds(begin) / kOps);
    }
    return least;
}

double measure_hit() {
    int runs = 0;
    const auto body = [&](const Tensor& a, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                          const Tensor&, const Tensor&, const Tensor&, const Tensor& b) {
        ++runs;
        return a + b;
    };
    std::vector<Tensor> x;
    for (int i = 0; i < 10; ++i) x.push_back(whittle::ones({4}));
    const auto compiled = whittle::compile(body, {.pure = true});
    const auto call = [&] { return compiled(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]); };
    call();
    const int before = runs;
    const double least = per_call(call);
    if (runs != before) std::abort();  // a hit runs none of the function's code
    return least - per_call([&] { return x[0] + x[9]; });
}

Figures measure() {
    Figures f;
    double issuing = 0;
    const auto body = [&](Tensor t) {
        const auto begin = Clock::now();
        for (int i = 0; i < kOps; ++i) t = t + 1;
        issuing = nanoseconds(begin) / kOps;
        return t;
    };
    const Tensor x = whittle::ones({4});
    const auto compiled = whittle::compile(body);
    for (int i = 0; i < kRepeats; ++i) {
        body(x);
        f.eager = std::min(f.eager, issuing);
        const auto begin = Clock::now();
        compiled(x);
        f.compiled = std::min(f.compiled, nanoseconds(begin) / kOps);
        f.record = std::min(f.record, issuing);
    }
    f.hit = measure_hit();
    return f;
}

}  // namespace

int main(int argc, char** argv) {
    const Figures f = measure();
    const double added = f.compiled - f.eager;
    if (argc > 1 && std::string_view(argv[1]) == "--json")
        std::printf(
            "{\"ops\": %d, \"eager_ns\": %.0f, \"compiled_ns\": %.0f, \"added_ns\": %.0f, \"record_ns\": %.0f, "
            "\"hit_ns\": %.0f}\n",
            kOps, f.eager, f.compiled, added, f.record, f.hit);
    else
        std::printf(
            "per operation    eager  compiled  added  record    hit of ten tensors\n"
            "ns            %8.0f  %8.0f  %5.0f  %6.0f  %8.0f (target: 2000)\n",
            f.eager, f.compiled, added, f.record, f.hit);
}
