// repro.cpp - written by `repro m.json --anonymize`; verified: 3 of 3 runs fail, the control passes
//
//   failure    mismatch (value) at run: output 0 [0]: got 0.5, expected 1; 1 of 1 values differ, largest error 0.5 at [0]
//   graph      3 ops
//     graph graph {
//       %x = placeholder["x"] : bool[1]
//       %mul = aten.mul.Scalar(%x, 1) : i64[1]
//       %add = aten.add.Tensor(%mul, %mul) : i64[1]
//       %div = aten.div.Scalar(%add, 2) : f32[1]
//       return (%div)
//     }
//   suspect    LibTorch 1.13, op by op, traced and run as TorchScript
//   build      g++ -std=c++17 -O1 repro.cpp -o repro -DNDEBUG -ltorch_cpu -lc10 && ./repro
//   exit       1 the bug shows, 0 it is gone, 2 something else went wrong
//   control    ./repro control: the loops alone must pass (exit 0)
//   data       ones; it does not fail with zeros
//   on         Debian GNU/Linux 12 (bookworm); Linux 6.18.44-fc-v669 x86_64; AMD EPYC; Whittle 0.1.0 (Debug)
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ScalarOps.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/tensorexpr/kernel.h>

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

// ---- inputs ---------------------------------------------------------------------------------------------------------
static const bool in_x[] = {true};  // bool[1]

// ---- outputs: recorded from the reference backend ---------------------------------------------------------------------
struct Outputs {
    float out_div[1];  // f32[1]
};
static const float expected_out_div[] = {1.f};  // f32[1]

// ---- the same computation as plain loops --------------------------------------------------------------------------------
static void loops(const bool* x, float* div) {
    // %div = aten.div.Scalar(%add, 2) : f32[1]
    for (int i = 0; i < 1; i++)
        div[0] = float(int64_t(x[0]) + int64_t(x[0])) / 2.0f;
}

static void run_loops(Outputs& out) {
    loops(in_x, out.out_div);
}

// ---- the compiler under suspicion -------------------------------------------------------------------------------------

// One of ATen's operators by its name, through LibTorch's dispatcher.
static std::vector<at::Tensor> call(const char* name, const char* overload, torch::jit::Stack stack) {
    c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).callBoxed(stack);
    std::vector<at::Tensor> results;
    for (const c10::IValue& value : stack) {
        if (!value.isTensorList()) {
            results.push_back(value.toTensor());
            continue;
        }
        for (const at::Tensor& tensor : value.toTensorVector()) results.push_back(tensor);
    }
    return results;
}

static at::Tensor tensor(const void* data, at::ScalarType type, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    return at::from_blob(const_cast<void*>(data), sizes, strides, type);
}

template <class T, size_t N>
static void copy(const char* name, const at::Tensor& from, at::ScalarType type, T (&to)[N]) {
    const at::Tensor dense = from.detach().contiguous();
    if (dense.scalar_type() != type || dense.nbytes() != sizeof to)
        throw std::runtime_error(std::string("mismatch: ") + name + " is of another type or size");
    std::memcpy(to, dense.data_ptr(), sizeof to);
}

static std::vector<at::Tensor> compute(const std::vector<at::Tensor>& in) {
    const at::Tensor v_mul = call("aten::mul", "Scalar", {in[0], int64_t(1)})[0];
    const at::Tensor v_add = call("aten::add", "Tensor", {v_mul, v_mul, int64_t(1)})[0];
    const at::Tensor v_div = call("aten::div", "Scalar", {v_add, int64_t(2)})[0];
    return {v_div};
}

namespace torch::jit {
void overrideCanFuseOnCPU(bool value);  // exported, and in no header that is installed
}

// The same through TorchScript: traced, and optimized by what a first run shows.
static std::vector<at::Tensor> scripted(const std::vector<at::Tensor>& in) {
    using torch::jit::Stack;
    torch::jit::getProfilingMode() = true;
    torch::jit::getExecutorMode() = true;
    torch::jit::setTensorExprFuserEnabled(false);
    torch::jit::overrideCanFuseOnCPU(false);
    torch::jit::tensorexpr::getTEMustUseLLVMOnCPU() = false;
    const auto fresh = [&] {
        Stack stack;
        for (const at::Tensor& tensor : in) stack.emplace_back(tensor);
        return stack;
    };
    const auto traced = torch::jit::tracer::trace(
        fresh(),
        [](Stack stack) {
            std::vector<at::Tensor> values;
            for (const c10::IValue& value : stack) values.push_back(value.toTensor());
            Stack results;
            for (const at::Tensor& value : compute(values)) results.emplace_back(value);
            return results;
        },
        [](const at::Tensor&) { return std::string(); });
    torch::jit::GraphExecutor executor(traced.first->graph, "graph");
    Stack stack;
    for (int run = 0; run < 2; run++) {
        stack = fresh();
        executor.run(stack);
    }
    std::vector<at::Tensor> values;
    for (const c10::IValue& value : stack) values.push_back(value.toTensor());
    return values;
}

static std::vector<at::Tensor> results() {
    const std::vector<at::Tensor> in = {
        tensor(in_x, at::ScalarType(11), {1}, {1}),
    };
    const at::NoGradGuard no_grad;
    return scripted(in);
}

static void under_test(Outputs& out) {
    std::vector<at::Tensor> got;
    try {
        got = results();
    } catch (const c10::Error& error) {
        throw std::runtime_error("LibTorch: " + std::string(error.what_without_backtrace()));
    } catch (const std::exception& error) {
        throw std::runtime_error("LibTorch: " + std::string(error.what()));
    }
    copy("out_div", got.at(0), at::ScalarType(6), out.out_div);
}

// What must pass (./repro control): the loops alone.
static void run_control(Outputs& out) {
    run_loops(out);
}

// ---- comparison -------------------------------------------------------------------------------------------------------
// An infinite or NaN value is close only to itself: a tolerance relative to infinity would accept anything.
static bool close(double got, double expected, double rtol, double atol) {
    if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
    if (std::isinf(expected) || std::isinf(got)) return got == expected;
    return std::fabs(got - expected) <= atol + rtol * std::fabs(expected);
}

// Prints the first of the elements that differ and returns how many do.
template <class T>
static long differing(const char* who, const char* output, const T* got, const T* expected, long count, double rtol, double atol) {
    long wrong = 0;
    for (long i = 0; i < count; i++)
        if (!close(double(got[i]), double(expected[i]), rtol, atol) && wrong++ == 0)
            std::printf("%s: %s[%ld]: got %.9g, expected %.9g\n", who, output, i, double(got[i]), double(expected[i]));
    return wrong;
}

static long differing(const char* who, const Outputs& got) {
    long wrong = 0;
    wrong += differing(who, "div", got.out_div, expected_out_div, 1, 0.0001, 1e-05);
    return wrong;
}

int main(int argc, char** argv) {
    const bool control = argc == 2 && std::strcmp(argv[1], "control") == 0;
    if (argc > 1 && !control) {
        std::fprintf(stderr, "usage: %s [control]; found '%s'\n", argv[0], argv[argc - 1]);
        return 2;
    }
    alarm(60);  // should it hang, this ends it
    static Outputs got;
    try {
        control ? run_control(got) : under_test(got);
    } catch (const std::exception& error) {
        std::printf("TorchScript: %s\n", error.what());
        std::printf(control ? "control (the loops alone): it fails too\n" : "another failure than the recorded one (mismatch (value) at run)\n");
        return control ? 1 : 2;
    }
    if (control) {
        const bool same = differing("control", got) == 0;
        std::printf("control (the loops alone): %s\n", same ? "ok" : "it fails too");
        return same ? 0 : 1;
    }
    const long wrong = differing("TorchScript", got);
    static Outputs loops;
    run_loops(loops);
    const long wrong_loops = differing("loops", loops);
    std::printf("%ld of 1 values differ in TorchScript, %ld in loops: %s\n", wrong, wrong_loops,
                !wrong ? "ok" : wrong_loops ? "BUG in a kernel of the reference (the loops are wrong too)" : "BUG in TorchScript, or in a kernel of LibTorch");
    return wrong ? 1 : 0;
}
