// Samples of lib/ops/aten/ldl.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

std::vector<std::pair<std::string, Arg>> if_hermitian(bool hermitian) {
    if (!hermitian) return {};
    return {{"hermitian", Arg(true)}};
}

/// Of lower triangles: the other half is not read. Zeros on the diagonal make pairs of rows.
Samples ldl_samples(DType dtype) {
    const Tensor pairs = values(dtype, {0, 0, 0, 0, 2, 0, 0, 0, 1, 3, 0, 0, -1, 0.5, 1, 0}, {4, 4});
    return {call_of("matrix", {random(dtype, {4, 4})}), call_of("pairs", {pairs}),
            call_of("batch", {random(dtype, {2, 3, 3}, 2)}), call_of("pairs, hermitian", {pairs}, if_hermitian(true))};
}
Samples ldl_solve_samples(DType dtype) {
    const Tensor factors = values(dtype, {2, 0, 0, 0.5, 1, 0, -0.25, 0.5, 4}, {3, 3}),
                 pivots = values(DType::i32, {2, 2, 3}, {3}), paired = values(DType::i32, {-3, -3, 3}, {3});
    const auto call = [&](const char* label, const Tensor& rows, const Sizes& b, bool hermitian) {
        return call_of(label, {factors, rows, random(dtype, b)}, if_hermitian(hermitian));
    };
    return {call("matrix", pivots, {3, 2}, false), call("a pair", paired, {3, 2}, false),
            call("batch", paired, {2, 3, 1}, false), call("hermitian", pivots, {3, 2}, true)};
}

}  // namespace

Table ldl_table() {
    return {{{"aten.linalg_ldl_factor_ex.default"}, ldl_samples},
            {{"aten.linalg_ldl_solve.default"}, ldl_solve_samples}};
}

}  // namespace whittle::samples
