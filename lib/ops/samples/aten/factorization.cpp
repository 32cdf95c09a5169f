// Samples of lib/ops/aten/factorization.cpp, and of the composites of its ops.
#include "ops/aten/matrices.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// A A^H, and its size on the diagonal.
Tensor positive_definite(DType dtype, const Sizes& sizes, std::uint64_t seed = 1) {
    const Tensor random = samples::random(dtype, sizes, seed);
    const auto made = [&]<class T>(T) {
        matrices::Results<T> result(dtype, sizes);
        using Matrix = matrices::Matrix<T>;
        matrices::each_matrix<T>(random, [&](std::int64_t i, const Matrix& one) {
            result.put(
                i, one * one.adjoint() + Matrix::Identity(one.rows(), one.rows()) * T(static_cast<double>(one.rows())));
        });
        return result.tensor();
    };
    return is_complex(dtype) ? made(Complex128{}) : made(double{});
}
Samples cholesky_samples(DType dtype) {
    Sample upper = call_of("upper", {positive_definite(dtype, {3, 3})}, {{"upper", Arg(true)}});
    return {call_of("matrix", {positive_definite(dtype, {3, 3})}),
            call_of("batch", {positive_definite(dtype, {2, 4, 4})}),
            call_of("transposed", {transposed(positive_definite(dtype, {3, 3}))}), upper};
}
Samples qr_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& sizes, const char* mode) {
        return call_of(label, {random(dtype, sizes), mode});
    };
    return {call("tall", {4, 3}, "reduced"), call("wide", {2, 4}, "reduced"), call("complete", {4, 2}, "complete"),
            call("r only", {3, 3}, "r"), call("batch", {2, 3, 3}, "reduced")};
}

/// Of values only: vectors have a sign that each library chooses. test/ops/aten/factorization_test.cpp checks those.
Samples eigh_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& sizes, const char* triangle) {
        return call_of(label, {positive_definite(dtype, sizes), triangle, false});
    };
    return {call("lower", {3, 3}, "L"), call("upper", {3, 3}, "U"), call("batch", {2, 4, 4}, "L")};
}
Samples svd_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& sizes) {
        return call_of(label, {random(dtype, sizes), false, false});
    };
    return {call("square", {3, 3}), call("tall", {4, 2}), call("wide batch", {2, 2, 3})};
}

/// Of triangular matrices, whose values lie on the diagonal in this order; the largest element of vectors is on the
/// diagonal, too.
Samples eig_samples(DType dtype) {
    return {call_of("triangular", {values(dtype, {1, 0.25, 0.5, 0, 2, 0.5, 0, 0, 4}, {3, 3})}),
            call_of("batch", {values(dtype, {1, 0.5, 0, 3, -2, 1, 0, 2}, {2, 2, 2})}),
            call_of("one", {values(dtype, {2}, {1, 1})})};
}

}  // namespace

Table factorization_table() {
    return {{{"aten.linalg_cholesky_ex.default"}, cholesky_samples},
            {{"aten.linalg_qr.default"}, qr_samples},
            {{"aten.qr.default"},
             [](DType dtype) {
                 return Samples{call_of("tall", {random(dtype, {4, 3})}),
                                call_of("complete", {random(dtype, {4, 2}), false})};
             }},
            {{"aten._linalg_eigh.default"}, eigh_samples},
            {{"aten.linalg_eigvalsh.default"},
             [](DType dtype) {
                 return Samples{call_of("lower", {positive_definite(dtype, {3, 3})}),
                                call_of("upper", {positive_definite(dtype, {2, 3, 3}), "U"})};
             }},
            {{"aten.linalg_eig.default"}, eig_samples},
            {{"aten._linalg_svd.default"}, svd_samples},
            {{"aten.svd.default"},
             [](DType dtype) {
                 Samples samples = {call_of("values alone", {random(dtype, {4, 2}), true, false}),
                                    call_of("batch of values", {random(dtype, {2, 2, 3}), false, false})};
                 if (!is_complex(dtype)) samples.push_back(call_of("one", {values(dtype, {2}, {1, 1})}));
                 return samples;
             }},
            {{"aten.linalg_svdvals.default"},
             [](DType dtype) {
                 return Samples{call_of("tall", {random(dtype, {4, 2})}), call_of("batch", {random(dtype, {2, 2, 3})})};
             }},
            // Of one number: its vectors have one sign.
            {{"aten.linalg_eigh.default", "aten.linalg_svd.default"}, [](DType dtype) {
                 return Samples{call_of("one", {values(dtype, {2}, {1, 1})})};
             }}};
}

}  // namespace whittle::samples
