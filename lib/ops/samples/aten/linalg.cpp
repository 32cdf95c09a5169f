// Samples of lib/ops/aten/linalg.cpp, and of the composites of its ops.
#include "ops/samples/families.h"
#include "tensor/compute.h"

namespace whittle::samples {
namespace {

/// Of matrices of `n` rows and columns, one after the other.
bool on_diagonal(std::size_t element, std::int64_t n) {
    const auto i = static_cast<std::int64_t>(element);
    return i / n % n == i % n;
}
/// Far from singular: random, with its size added to the diagonal.
Tensor regular(DType dtype, const Sizes& sizes, std::uint64_t seed = 1) {
    const std::int64_t n = sizes.back();
    const auto more = [&]<class T>(std::vector<T> elements) {
        for (std::size_t i = 0; i < elements.size(); ++i)
            if (on_diagonal(i, n)) elements[i] += static_cast<double>(n);
        return store(elements, dtype, sizes);
    };
    const Tensor random = samples::random(dtype, sizes, seed);
    return is_complex(dtype) ? more(random.values<Complex128>()) : more(random.values<double>());
}
Samples square_samples(DType dtype) {
    return {call_of("matrix", {regular(dtype, {3, 3})}),
            call_of("exchanged rows", {values(dtype, {0, 2, 1, 1, 0, 0, 0, 1, 3}, {3, 3})}),
            call_of("batch", {regular(dtype, {2, 2, 4, 4})}),
            call_of("transposed", {transposed(regular(dtype, {3, 3}))}), call_of("one", {regular(dtype, {1, 1})})};
}
Sample equations(const std::string& label, const Tensor& a, const Tensor& b,
                 std::vector<std::pair<std::string, Arg>> kwargs = {}) {
    return call_of(label, {a, b}, std::move(kwargs));
}
Samples solve_samples(DType dtype) {
    const Tensor a = regular(dtype, {3, 3});
    return {equations("matrix", a, random(dtype, {3, 2})),
            equations("vector", a, random(dtype, {3})),
            equations("batch", regular(dtype, {2, 3, 3}), random(dtype, {2, 3, 4})),
            equations("one matrix for all", a, random(dtype, {2, 3, 2})),
            equations("vectors", regular(dtype, {2, 3, 3}), random(dtype, {2, 3})),
            equations("from the right", a, random(dtype, {2, 3}), {{"left", Arg(false)}}),
            equations("transposed", transposed(a), transposed(random(dtype, {3, 2})))};
}
Samples triangular_samples(DType dtype) {
    const Tensor a = regular(dtype, {3, 3});
    const auto with = [](bool upper, bool left, bool unit) {
        return std::vector<std::pair<std::string, Arg>>{
            {"upper", Arg(upper)}, {"left", Arg(left)}, {"unitriangular", Arg(unit)}};
    };
    return {equations("lower", a, random(dtype, {3, 2}), with(false, true, false)),
            equations("upper", a, random(dtype, {3, 2}), with(true, true, false)),
            equations("ones on the diagonal", a, random(dtype, {3, 2}), with(false, true, true)),
            equations("from the right", a, random(dtype, {2, 3}), with(true, false, false)),
            equations("lower from the right", a, random(dtype, {2, 3}), with(false, false, false)),
            equations("batch", regular(dtype, {2, 3, 3}), random(dtype, {1, 3, 2}), with(true, true, false))};
}
Samples power_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& sizes, std::int64_t n) {
        return call_of(label, {regular(dtype, sizes), n});
    };
    return {call("third", {3, 3}, 3), call("sixth of a batch", {2, 2, 2}, 6), call("inverse", {3, 3}, -1),
            call("itself", {3, 3}, 1), call("zeroth", {2, 3, 3}, 0)};
}
Samples tensor_inverses(DType dtype) {
    const Tensor a = regular(dtype, {6, 6});
    const auto call = [&](const char* label, const Sizes& sizes, std::int64_t ind) {
        return call_of(label, {a.as_strided(sizes, contiguous_strides(sizes), 0), ind});
    };
    return {call("two rows", {2, 3, 6}, 2), call("one row", {6, 3, 2}, 1), call("matrix", {6, 6}, 1)};
}
Samples tensor_equations(DType dtype) {
    const auto call = [&](const char* label, const Sizes& a, const Sizes& b, const ArgList& rest) {
        return Sample{label,
                      {regular(dtype, {6, 6}).as_strided(a, contiguous_strides(a), 0), random(dtype, b)},
                      joined({t(0), t(1)}, rest)};
    };
    return {call("matrix", {2, 3, 6}, {2, 3}, {}), call("vector", {6, 3, 2}, {6}, {}),
            call("moved", {6, 2, 3}, {2, 3}, {Arg::ints({0})})};
}
/// Another triangle, whose other half is not read; transposed.
Samples earlier_triangular_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& b, const Sizes& a, bool upper, bool transpose, bool unit) {
        return call_of(label, {random(dtype, b), regular(dtype, a), upper, transpose, unit});
    };
    return {call("upper", {3, 2}, {3, 3}, true, false, false), call("lower", {3, 2}, {3, 3}, false, false, false),
            call("transposed", {3, 2}, {3, 3}, true, true, false),
            call("ones on the diagonal", {3, 2}, {3, 3}, false, true, true),
            call("one side for all", {1, 3, 2}, {2, 3, 3}, true, false, false)};
}
/// Factors have a real diagonal: LAPACK does not read its imaginary part.
Samples cholesky_inverse_samples(DType dtype) {
    const auto factor = [&](const Sizes& sizes) {
        if (!is_complex(dtype)) return regular(dtype, sizes);
        std::vector<Complex128> elements = regular(dtype, sizes).values<Complex128>();
        for (std::size_t i = 0; i < elements.size(); ++i)
            if (on_diagonal(i, sizes.back())) elements[i] = elements[i].real();
        return store(elements, dtype, sizes);
    };
    return {call_of("lower", {factor({3, 3})}), call_of("upper", {factor({2, 3, 3}), true})};
}
Samples cholesky_solve_samples(DType dtype) {
    const auto call = [&](const char* label, bool upper) {
        return call_of(label, {random(dtype, {3, 2}), regular(dtype, {3, 3}), upper});
    };
    return {call("lower", false), call("upper", true)};
}

}  // namespace

Table linalg_table() {
    return {{{"aten._linalg_det.default", "aten._linalg_slogdet.default", "aten.linalg_inv_ex.default",
              "aten.logdet.default"},
             square_samples},
            {{"aten.matrix_power.default", "aten.linalg_matrix_power.default"}, power_samples},
            {{"aten._linalg_solve_ex.default", "aten.linalg_solve_ex.default"}, solve_samples},
            {{"aten.linalg_solve_triangular.default"}, triangular_samples},
            {{"aten.triangular_solve.default"}, earlier_triangular_samples},
            {{"aten.linalg_tensorinv.default"}, tensor_inverses},
            {{"aten.linalg_tensorsolve.default"}, tensor_equations},
            {{"aten.cholesky_inverse.default"}, cholesky_inverse_samples},
            {{"aten.cholesky_solve.default", "aten._cholesky_solve_helper.default"}, cholesky_solve_samples}};
}

}  // namespace whittle::samples
