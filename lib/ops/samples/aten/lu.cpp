// Samples of lib/ops/aten/lu.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

using Kwargs = std::vector<std::pair<std::string, Arg>>;

Samples lu_samples(DType dtype) {
    const auto call = [](const char* label, const Tensor& x) { return call_of(label, {x}); };
    return {call("matrix", random(dtype, {3, 3})), call("tall", random(dtype, {4, 2})),
            call("wide", random(dtype, {2, 4})), call("batch", random(dtype, {2, 3, 3})),
            call("transposed", transposed(random(dtype, {3, 3}, 2)))};
}

Tensor lu_pivots(const std::vector<double>& rows, const Sizes& sizes) { return values(DType::i32, rows, sizes); }

Samples lu_unpack_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& sizes, const Tensor& exchanged, const ArgList& rest) {
        return Sample{label, {random(dtype, sizes), exchanged}, joined({t(0), t(1)}, rest)};
    };
    return {call("square", {3, 3}, lu_pivots({3, 3, 3}, {3}), {}), call("tall", {4, 2}, lu_pivots({2, 4}, {2}), {}),
            call("wide batch", {2, 2, 4}, lu_pivots({2, 2, 1, 2}, {2, 2}), {}),
            call("rows alone", {3, 3}, lu_pivots({2, 2, 3}, {3}), {false}),
            call("factors alone", {3, 3}, lu_pivots({2, 2, 3}, {3}), {true, false})};
}

/// L and U in one, and pivots.
std::vector<Tensor> lu_factors(DType dtype) {
    return {values(dtype, {4, 1, 0.5, 0.25, 3, -1, -0.5, 0.5, 2}, {3, 3}), lu_pivots({2, 3, 3}, {3})};
}
std::vector<Tensor> batch_of_lu_factors(DType dtype) {
    return {values(dtype, {2, 1, 0.5, 3, 4, -1, 0.25, 2}, {2, 2, 2}), lu_pivots({2, 2, 1, 2}, {2, 2})};
}
Samples lu_solve_samples(DType dtype) {
    const auto call = [&](const char* label, std::vector<Tensor> tensors, const Sizes& b, const Kwargs& kwargs) {
        tensors.push_back(random(dtype, b));
        return Sample{label, std::move(tensors), {t(0), t(1), t(2)}, kwargs};
    };
    const Kwargs right = {{"left", Arg(false)}}, adjoint = {{"adjoint", Arg(true)}};
    return {call("matrix", lu_factors(dtype), {3, 2}, {}), call("batch", batch_of_lu_factors(dtype), {2, 2, 3}, {}),
            call("adjoint", lu_factors(dtype), {3, 2}, adjoint),
            call("from the right", lu_factors(dtype), {2, 3}, right),
            call("adjoint from the right", lu_factors(dtype), {2, 3}, {right[0], adjoint[0]})};
}
Samples earlier_lu_solve_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& b, const std::vector<Tensor>& factors) {
        return call_of(label, {random(dtype, b), factors[0], factors[1]});
    };
    return {call("matrix", {3, 2}, lu_factors(dtype)), call("batch", {2, 2, 3}, batch_of_lu_factors(dtype))};
}

}  // namespace

Table lu_table() {
    return {{{"aten.linalg_lu_factor_ex.default", "aten.linalg_lu.default"}, lu_samples},
            {{"aten.lu_unpack.default"}, lu_unpack_samples},
            {{"aten.linalg_lu_solve.default"}, lu_solve_samples},
            {{"aten.lu_solve.default"}, earlier_lu_solve_samples}};
}

}  // namespace whittle::samples
