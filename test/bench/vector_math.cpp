// Floats through the functions that halide computes by polynomials of its own, beside the C library's in double
// precision.
//   vector_math [--step N] [exp|tanh|erf]…
// run through scripts/check-vector-math
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "backends/registry.h"
#include "base/error.h"
#include "compile/compile.h"
#include "graph/text.h"

namespace {

using namespace whittle;

constexpr std::int64_t kBatch = std::int64_t{1} << 22;

struct Function {
    std::string name;
    double (*reference)(double);
    double bound;  ///< in units of the last place, as lib/backends/halide/kernel_helpers.h has it
};

const std::vector<Function>& functions() {
    static const std::vector<Function> all = {
        {"exp", [](double x) { return std::exp(x); }, 1},
        {"tanh", [](double x) { return std::tanh(x); }, 7},
        {"erf", [](double x) { return std::erf(x); }, 8},
    };
    return all;
}

/// The distance in units of the expected float's last place, subnormal ones included; infinite where one is NaN or
/// infinite and the other is something else.
double ulps(float got, double reference) {
    const auto expected = static_cast<float>(reference);
    if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected) ? 0 : INFINITY;
    if (std::isinf(got) || std::isinf(expected)) return got == expected ? 0 : INFINITY;
    const int exponent = expected == 0 ? -126 : std::max(std::ilogb(expected), -126);
    return std::fabs(static_cast<double>(got) - reference) / std::ldexp(1.0, exponent - 23);
}

struct Worst {
    double ulps = 0;
    float at = 0, got = 0;
};

Worst worst_of(const Function& function, const float* x, const float* y, std::int64_t count) {
    Worst worst;
    for (std::int64_t i = 0; i < count; i++) {
        const double off = ulps(y[i], function.reference(x[i]));
        if (off > worst.ulps) worst = {off, x[i], y[i]};
    }
    return worst;
}

Worst check(const Function& function, std::uint64_t step) {
    const auto backend = find_backend(BackendSpec("halide"));
    const std::string type = " : f32[" + std::to_string(kBatch) + "]\n";
    const Graph graph = parse("graph g {\n  %x = placeholder[\"x\"]" + type + "  %y = aten." + function.name +
                              ".default(%x)" + type + "  return (%y)\n}\n");
    auto compiled = program::compile(*backend, graph, {});
    auto* const executable = std::get_if<std::unique_ptr<Executable>>(&compiled);
    if (!executable) throw Error("halide does not compile " + function.name);
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    Worst worst;
    Tensor x(DType::f32, {kBatch});
    for (std::uint64_t next = 0; next < std::uint64_t{1} << 32;) {
        auto* const values = x.mutable_data<float>();
        for (std::int64_t i = 0; i < kBatch; i++, next += step)
            values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(next));  // behind the last the first again
        const RunResult result = (*executable)->run({&x, 1});
        const Values* const outputs = std::get_if<Values>(&result);
        if (!outputs) throw Error("halide does not run " + function.name);
        const auto* const y = static_cast<const float*>(outputs->at(0).raw());
        std::vector<Worst> parts(threads);
        std::vector<std::thread> workers;
        for (unsigned t = 0; t < threads; t++)
            workers.emplace_back([&, t] {
                const std::int64_t first = kBatch * t / threads, last = kBatch * (t + 1) / threads;
                parts[t] = worst_of(function, values + first, y + first, last - first);
            });
        for (std::thread& worker : workers) worker.join();
        for (const Worst& part : parts)
            if (part.ulps > worst.ulps) worst = part;
    }
    return worst;
}

}  // namespace

int main(int argc, char** argv) try {
    std::uint64_t step = 1;
    std::vector<std::string> wanted;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        if (word == "--step" && i + 1 < argc)
            step = std::stoull(argv[++i]);
        else
            wanted.push_back(word);
    }
    int status = 0;
    for (const Function& function : functions()) {
        if (!wanted.empty() && std::ranges::find(wanted, function.name) == wanted.end()) continue;
        const Worst worst = check(function, step);
        const bool right = worst.ulps <= function.bound;
        std::printf("%-5s %s: at most %.2f ulp, at %.9g (%.9g); bound %g\n", function.name.c_str(),
                    right ? "right" : "WRONG", worst.ulps, static_cast<double>(worst.at),
                    static_cast<double>(worst.got), function.bound);
        if (!right) status = 1;
    }
    return status;
} catch (const std::exception& error) {
    std::cerr << "vector_math: error: " << error.what() << "\n";
    return 2;
}
