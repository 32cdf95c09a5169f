// What capture costs an operation of the own API: the same loop eagerly and compiled, side by side.
//   capture_bench [--json]
// "added" is what compile() adds to an operation at a later call, kernels apart: the graph is interpreted by the same
// kernels that run eagerly. "record" is the part of it that happens where the operation is issued.
#include <whittle/whittle.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

namespace {

using whittle::Tensor;
using Clock = std::chrono::steady_clock;

constexpr int kOps = 1000, kRepeats = 50;

double nanoseconds(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

struct Figures {
    double eager = 1e30, compiled = 1e30, record = 1e30;  ///< ns per operation, the least of all repeats
};

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
    return f;
}

}  // namespace

int main(int argc, char** argv) {
    const Figures f = measure();
    const double added = f.compiled - f.eager;
    if (argc > 1 && std::string_view(argv[1]) == "--json")
        std::printf(
            "{\"ops\": %d, \"eager_ns\": %.0f, \"compiled_ns\": %.0f, \"added_ns\": %.0f, \"record_ns\": %.0f}\n", kOps,
            f.eager, f.compiled, added, f.record);
    else
        std::printf("per operation    eager  compiled  added  record\nns            %8.0f  %8.0f  %5.0f  %6.0f\n",
                    f.eager, f.compiled, added, f.record);
}
