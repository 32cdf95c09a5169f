// repro.cpp - written by `repro m.json --issue ISSUE.md`; verified: 3 of 3 runs fail, the control passes
//
//   failure    mismatch (value) at run: output 0 [0, 0, 0, 1]: got 1, expected 2; 2 of 4 values differ, largest error 1 at [0, 0, 0, 1]
//   graph      2 ops
//     graph columns {
//       %x = placeholder["x"] : f32[1, 1, 1, 2]
//       %weight = get_attr["weight"] : f32[2, 1, 1, 1]
//       %column = get_attr["column"] : f32[1, 2]
//       %y = aten.conv2d.default(%x, %weight, none, [1, 1], [0, 0], [1, 1], 1) : f32[1, 2, 1, 2]
//       %z = aten.add.Tensor(%y, %column) : f32[1, 2, 1, 2]
//       return (%z)
//     }
//   suspect    LibTorch 1.13, op by op, traced and run as TorchScript
//   build      g++ -std=c++17 -O1 repro.cpp -o repro -DNDEBUG -ltorch_cpu -lc10 && ./repro
//   exit       1 the bug shows, 0 it is gone, 2 something else went wrong
//   control    ./repro control: the loops alone must pass (exit 0)
//   data       random values, made up by the program; it does not fail with zeros, ones
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

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

template <class T>
static const T* filled(size_t count, T value) {
    T* values = static_cast<T*>(std::malloc(count * sizeof(T)));
    std::fill(values, values + count, value);
    return values;
}

// splitmix64: multiples of 1/64 below 2, which every floating-point type holds; 0 and 1 for integers.
template <class T>
static const T* random_values(size_t count, uint64_t state) {
    T* values = static_cast<T*>(std::malloc(count * sizeof(T)));
    for (size_t i = 0; i < count; i++) {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        const int draw = int((z ^ (z >> 31)) >> 56);
        values[i] = std::is_integral<T>::value ? T(draw >= 128) : T(float(draw - 128) / 64);
    }
    return values;
}

// ---- inputs ---------------------------------------------------------------------------------------------------------
static const float* const in_x = random_values<float>(2, 0);  // f32[1, 1, 1, 2]
static const float in_weight[] = {0.359375f, 0.984375f};  // f32[2, 1, 1, 1]
static const float in_column[] = {0.265625f, 0.96875f};  // f32[1, 2]

// ---- outputs: recorded from the reference backend ---------------------------------------------------------------------
struct Outputs {
    float out_z[4];  // f32[1, 2, 1, 2]
};
static const float expected_out_z[] = {0.81591797f, 0.8676758f, 1.7729492f, 0.69189453f};  // f32[1, 2, 1, 2]

// ---- the same computation as plain loops --------------------------------------------------------------------------------
static void loops(const float* x, const float* weight, const float* column, float* z) {
    // %y = aten.convolution.default(%x, %weight, none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1) : f32[1, 2, 1, 2]
    std::vector<float> y(4);
    for (int i = 0; i < 1; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 1; k++)
                for (int l = 0; l < 2; l++)
                    y[j * 2 + l] = 0.0f;
    for (int i = 0; i < 1; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 1; k++)
                for (int l = 0; l < 2; l++)
                    for (int r0 = 0; r0 < 1; r0++)
                        for (int r1 = 0; r1 < 1; r1++)
                            for (int r2 = 0; r2 < 1; r2++)
                                y[j * 2 + l] += x[l + r2] * weight[j];
    // %z = aten.add.Tensor(%y, %column) : f32[1, 2, 1, 2]
    for (int i = 0; i < 1; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 1; k++)
                for (int l = 0; l < 2; l++)
                    z[j * 2 + l] = y[j * 2 + l] + column[l];
}

static void run_loops(Outputs& out) {
    loops(in_x, in_weight, in_column, out.out_z);
}

// ---- the compiler under suspicion -------------------------------------------------------------------------------------
static const float attribute_weight[] = {0.359375f, 0.984375f};  // f32[2, 1, 1, 1]
static const float attribute_column[] = {0.265625f, 0.96875f};  // f32[1, 2]

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
    const at::Tensor v_y = call("aten::conv2d", "", {in[0], in[1], c10::IValue(), std::vector<int64_t>{1, 1}, std::vector<int64_t>{0, 0}, std::vector<int64_t>{1, 1}, int64_t(1)})[0];
    const at::Tensor v_z = call("aten::add", "Tensor", {v_y, in[2], int64_t(1)})[0];
    return {v_z};
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
    torch::jit::Module module("Graph");
    module.register_attribute("training", c10::BoolType::get(), false);
    const std::shared_ptr<torch::jit::Graph>& graph = traced.first->graph;
    graph->insertInput(0, "self")->setType(module._ivalue()->type());
    for (size_t i = in.size(); i > 1; i--) {  // they are the module's own, and frozen
        const std::string name = "p" + std::to_string(i);
        module.register_attribute(name, c10::TensorType::get(), in[i - 1]);
        torch::jit::WithInsertPoint first(*graph->nodes().begin());
        graph->inputs()[i]->replaceAllUsesWith(graph->insertGetAttr(graph->inputs()[0], name));
        graph->eraseInput(i);
    }
    torch::jit::Node* tuple = graph->insertNode(graph->createTuple(graph->outputs()));
    while (!graph->outputs().empty()) graph->eraseOutput(0);
    graph->registerOutput(tuple->output());
    module.type()->addMethod(module._ivalue()->compilation_unit()->create_function(
        c10::QualifiedName(*module.type()->name(), "forward"), graph));
    module = torch::jit::optimize_for_inference(module);
    Stack stack;
    for (int run = 0; run < 2; run++) {
        stack = fresh();
        stack.resize(1);
        const c10::IValue tuple = module.forward(stack);
        stack.assign(tuple.toTupleRef().elements().begin(), tuple.toTupleRef().elements().end());
    }
    std::vector<at::Tensor> values;
    for (const c10::IValue& value : stack) values.push_back(value.toTensor());
    return values;
}

static std::vector<at::Tensor> results() {
    const std::vector<at::Tensor> in = {
        tensor(in_x, at::ScalarType(6), {1, 1, 1, 2}, {2, 2, 2, 1}),
        tensor(attribute_weight, at::ScalarType(6), {2, 1, 1, 1}, {1, 1, 1, 1}),
        tensor(attribute_column, at::ScalarType(6), {1, 2}, {2, 1}),
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
    copy("out_z", got.at(0), at::ScalarType(6), out.out_z);
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
    wrong += differing(who, "z", got.out_z, expected_out_z, 4, 0.0001, 1e-05);
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
    std::printf("%ld of 4 values differ in TorchScript, %ld in loops: %s\n", wrong, wrong_loops,
                !wrong ? "ok" : wrong_loops ? "BUG in a kernel of the reference (the loops are wrong too)" : "BUG in TorchScript, or in a kernel of LibTorch");
    return wrong ? 1 : 0;
}
