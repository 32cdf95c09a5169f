// What it costs a run that times, runs and compilations could be watched, while nobody watches.
//   report_bench        One line of JSON: nanoseconds, and their share of a small call and of a compilation's passes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "base/timeline.h"
#include "compile/program.h"
#include "graph/run_observer.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"

namespace {

using namespace whittle;
using Clock = std::chrono::steady_clock;

constexpr int kCalls = 2000, kRepeats = 20, kChecks = 1 << 20;

/// Nanoseconds of each of `count` things that `work` does, the least of all repeats.
template <class Work>
double least(int count, Work work) {
    double best = 1e30;
    for (int i = 0; i < kRepeats; ++i) {
        const auto begin = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / count);
    }
    return best;
}

Graph chain(int calls) {
    std::string text = "graph chain {\n  %v0 = placeholder[\"x\"] : f32[4]\n";
    for (int i = 1; i <= calls; ++i)
        text += "  %v" + std::to_string(i) + " = aten.relu.default(%v" + std::to_string(i - 1) + ") : f32[4]\n";
    return parse(text + "  return (%v" + std::to_string(calls) + ")\n}\n");
}

}  // namespace

int main() {
    const double span = least(kChecks, [] {
        for (int i = 0; i < kChecks; ++i) const TimedSpan timed(SpanKind::pass, "nobody looks");
    });
    // A run asks once whether somebody observes it, and looks at the answer before and after each of its calls.
    RunObserver* volatile observer = nullptr;
    int observed = 0;
    const double check = least(kChecks, [&] {
        for (int i = 0; i < kChecks; ++i)
            if (observer) ++observed;
    });
    const double run = least(kChecks, [] {
        for (int i = 0; i < kChecks; ++i) const ObservingRuns nobody(nullptr);
    });
    const Graph graph = chain(kCalls);
    const PreparedGraph prepared(graph);
    const Tensor x(DType::f32, {4});
    const double call = least(kCalls, [&] { Interpreter().run(prepared, {&x, 1}); });
    const double passes = least(1, [&] { program::CompiledProgram(graph).graph(program::Stage::core); });
    constexpr int kPasses = 4;  // to the core graph
    constexpr int kFew = 10;    // calls of a small graph
    const double run_share = (2 * kFew * check + run) / (kFew * call);
    std::printf(
        "{\"span_ns\": %.2f, \"check_ns\": %.2f, \"run_ns\": %.2f, \"call_ns\": %.1f, \"run_share\": %.5f, "
        "\"compile_share\": %.8f}\n",
        span, check, run, call, run_share, kPasses * span / passes);
    return observed;
}
