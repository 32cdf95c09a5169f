// repro.cpp - written by `repro m.json --data real --issue ISSUE.md --checked 'newer source (3de78edb), read, not run: layer_norm_backward_cpu of layer_norm.cpp still hands mean and rstd to the kernel as they are'`; not verified
//
//   failure    mismatch (value) at run: output 0 [1, 0]: got 43, expected 0; 2 of 4 values differ, largest error 43 at [1, 0]
//   graph      2 ops
//     graph norm {
//       %grad = placeholder["grad"] : f32[2, 2]
//       %x = placeholder["x"] : f32[2, 2]
//       %weight = placeholder["weight"] : f32[2]
//       %mean = placeholder["mean"] : f32[2, 1] strides[2, 1]
//       %rstd = placeholder["rstd"] : f32[2, 1] strides[2, 1]
//       %back = aten.native_layer_norm_backward.default(%grad, %x, [2], %mean, %rstd, %weight, %weight, [true, true, true]) : (f32[2, 2], f32[2], f32[2])
//       %dx = getitem(%back, 0) : f32[2, 2]
//       return (%dx)
//     }
//   suspect    LibTorch 1.13, op by op
//   build      g++ -std=c++17 -O1 repro.cpp -o repro -DNDEBUG -ltorch_cpu -lc10 && ./repro
//   exit       1 the bug shows, 0 it is gone, 2 something else went wrong
//   control    ./repro control: the recorded outputs alone must pass (exit 0)
//   data       the recorded values
//   on         Debian GNU/Linux 12 (bookworm); Linux 6.18.44-fc-v782 x86_64; AMD EPYC; Whittle 0.1.0 (Debug)
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ScalarOps.h>

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// ---- inputs ---------------------------------------------------------------------------------------------------------
static const float in_grad[] = {-3.f, 3.f, 3.f, -1.f};  // f32[2, 2]
static const float in_x[] = {1.f, 3.f, -3.f, 1.f};  // f32[2, 2]
static const float in_weight[] = {2.f, 4.f};  // f32[2]
static const float in_mean[] = {2.f, 0.f, -1.f};  // f32[2, 1] strides [2, 1]
static const float in_rstd[] = {1.f, 0.f, 0.5f};  // f32[2, 1] strides [2, 1]

// ---- outputs: recorded from the reference backend ---------------------------------------------------------------------
struct Outputs {
    float out_dx[4];  // f32[2, 2]
};
static const float expected_out_dx[] = {0.f, 0.f, 0.f, 0.f};  // f32[2, 2]

// ---- the same computation as plain loops --------------------------------------------------------------------------------
static void loops_0(const float* x, const float* mean, const float* rstd, const float* grad, const float* weight, float* back_5, float* back_9) {
    // %back_7 = aten.sum.dim_IntList(%back_6, [1], true) : f32[2, 1]
    std::vector<float> sum(2);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 1; j++)
            sum[i] = 0.0f;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 1; j++)
            for (int r0 = 0; r0 < 2; r0++)
                sum[i] += grad[i * 2 + r0] * weight[r0] * ((x[i * 2 + r0] - mean[i * 2]) * rstd[i * 2]);
    // %back_5 = aten.mul.Tensor(%grad, %weight) : f32[2, 2]
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            back_5[i * 2 + j] = grad[i * 2 + j] * weight[j];
    // %back_9 = aten.mul.Tensor(%back_1, %back_8) : f32[2, 2]
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            back_9[i * 2 + j] = (x[i * 2 + j] - mean[i * 2]) * rstd[i * 2] * (sum[i] / 2.0f);
}

static void loops_1(const float* back_5, const float* back_9, const float* rstd, float* back_14) {
    // %back_10 = aten.sum.dim_IntList(%back_5, [1], true) : f32[2, 1]
    std::vector<float> sum(2);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 1; j++)
            sum[i] = 0.0f;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 1; j++)
            for (int r0 = 0; r0 < 2; r0++)
                sum[i] += back_5[i * 2 + r0];
    // %back_14 = aten.mul.Tensor(%back_13, %rstd) : f32[2, 2]
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const float t0 = back_5[i * 2 + j] - sum[i] / 2.0f - back_9[i * 2 + j];
            back_14[i * 2 + j] = t0 * rstd[i * 2];
        }
}

static void run_loops(Outputs& out) {
    std::unique_ptr<float[]> mid_back_5(new float[4]);
    std::unique_ptr<float[]> mid_back_9(new float[4]);
    loops_0(in_x, in_mean, in_rstd, in_grad, in_weight, mid_back_5.get(), mid_back_9.get());
    loops_1(mid_back_5.get(), mid_back_9.get(), in_rstd, out.out_dx);
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
    const std::vector<at::Tensor> v_back = call("aten::native_layer_norm_backward", "", {in[0], in[1], std::vector<int64_t>{2}, in[3], in[4], in[2], in[2], c10::List<bool>({true, true, true})});
    return {v_back[0]};
}

static std::vector<at::Tensor> results() {
    const std::vector<at::Tensor> in = {
        tensor(in_grad, at::ScalarType(6), {2, 2}, {2, 1}),
        tensor(in_x, at::ScalarType(6), {2, 2}, {2, 1}),
        tensor(in_weight, at::ScalarType(6), {2}, {1}),
        tensor(in_mean, at::ScalarType(6), {2, 1}, {2, 1}),
        tensor(in_rstd, at::ScalarType(6), {2, 1}, {2, 1}),
    };
    const at::NoGradGuard no_grad;
    return compute(in);
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
    copy("out_dx", got.at(0), at::ScalarType(6), out.out_dx);
}

// What must pass (./repro control): the recorded outputs alone.
static void run_control(Outputs& out) {
    std::memcpy(out.out_dx, expected_out_dx, sizeof out.out_dx);
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
    wrong += differing(who, "dx", got.out_dx, expected_out_dx, 4, 0.0001, 1e-05);
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
        std::printf("LibTorch: %s\n", error.what());
        std::printf(control ? "control (the recorded outputs alone): it fails too\n" : "another failure than the recorded one (mismatch (value) at run)\n");
        return control ? 1 : 2;
    }
    if (control) {
        const bool same = differing("control", got) == 0;
        std::printf("control (the recorded outputs alone): %s\n", same ? "ok" : "it fails too");
        return same ? 0 : 1;
    }
    const long wrong = differing("LibTorch", got);
    static Outputs loops;
    run_loops(loops);
    const long wrong_loops = differing("loops", loops);
    std::printf("%ld of 4 values differ in LibTorch, %ld in loops: %s\n", wrong, wrong_loops,
                !wrong ? "ok" : wrong_loops ? "BUG in a kernel of the reference (the loops are wrong too)" : "BUG in LibTorch, or the reference's kernel and its lowering, which agree");
    return wrong ? 1 : 0;
}
