// Kernels under schedules, compiled and run by both readers that use Halide, and compared with the interpreter.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "backends/halide/halide_text.h"
#include "backends/kernel_runs.h"
#include "expr/batch.h"
#include "expr/interpret.h"

namespace whittle::halide {

inline std::string text_of(const expr::Schedule& schedule) {
    std::string out;
    for (const expr::Directive& d : schedule) {
        out += (d.enabled ? "" : "off: ") + print(d);
        for (const int r : d.requires_) out += " needs " + std::to_string(r);
        out += "\n";
    }
    return out;
}

struct KernelCase {
    expr::Group group;
    expr::Schedule schedule;
    std::vector<Tensor> inputs;
};

inline void check_same(const KernelCase& c, const std::vector<Tensor>& got, const std::string& error,
                       const std::string& reader) {
    INFO(reader << "\n" << print(c.group) << text_of(c.schedule));
    CHECK(error == "");
    if (!error.empty()) return;
    const std::vector<Tensor> expected = interpret(c.group, c.inputs);
    for (std::size_t k = 0; k < expected.size(); ++k) {
        INFO("output " << c.group.outputs[k]);
        CHECK(expr::difference(got[k], expected[k]) == "");
    }
}

inline void check_pipelines(const std::vector<KernelCase>& cases) {
    for (const KernelCase& c : cases) {
        std::string error;
        std::vector<Tensor> got;
        if (const auto kernel = compile(c.group, c.schedule, error)) got = run(*kernel, c.group, c.inputs, error);
        check_same(c, got, error, "pipeline");
    }
}

inline void check_texts(const std::vector<KernelCase>& cases) {
    expr::Batch batch;
    std::vector<ScheduledGroup> scheduled;
    for (const KernelCase& c : cases) scheduled.push_back({&c.group, &c.schedule});
    batch.add_text("#include <Halide.h>\n");
    for (const DType half : {DType::f16, DType::bf16}) batch.add_text(std::string(expr::half_support_cpp(half)));
    batch.add_text(halide_support_cpp(scheduled));
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::string name = "f" + std::to_string(i);
        batch.add(cases[i].group, name, to_halide_cpp(cases[i].group, cases[i].schedule, name));
    }
    batch.compile({"-O0", "-isystem", WHITTLE_HALIDE_INCLUDE, WHITTLE_HALIDE_LIBRARY});
    for (std::size_t i = 0; i < cases.size(); ++i) {
        std::string error;
        const std::vector<Tensor> got = batch.run("f" + std::to_string(i), cases[i].group, cases[i].inputs, error);
        check_same(cases[i], got, error, "text");
    }
}

}  // namespace whittle::halide
