// Quantization whose scales and zero points follow from the data, and that of rows and of groups within rows: dynamic
// quantization, as PT2E and torchao write it into exported programs. All are composites.
// https://github.com/pytorch/pytorch/blob/main/torch/ao/quantization/fx/_decomposed.py
#include <limits>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"

namespace whittle::quantized_rows {
namespace {

using namespace aten;

constexpr double kLeast = std::numeric_limits<float>::epsilon();

/// The least element, at most 0, and the greatest, at least 0.
std::pair<V, V> range_of(const V& x, bool by_row) {
    const Ints last = {-1};
    return {clamp_max(by_row ? amin(x, last, true) : amin(x), 0), clamp_min(by_row ? amax(x, last, true) : amax(x), 0)};
}

V at_least(const Call& c, const V& scale) {
    return maximum(scale, full(c.builder(), Ints{1}, c.number("eps"), DType::f32));
}

double steps_of(const Call& c) {
    return static_cast<double>(c.integer("quant_max")) - static_cast<double>(c.integer("quant_min"));
}

/// 0 is a level of its own.
CallResults choose(const Call& c) {
    const auto [least, greatest] = range_of(c.tensor("input"), false);
    const std::int64_t low = c.integer("quant_min"), high = c.integer("quant_max");
    const V scale = at_least(c, (greatest - least) / steps_of(c));
    const V zero = rsub(as(round(least / scale), DType::i32), low);
    return {as(scale, DType::f64), as(clamp(zero, low, high), DType::i64)};
}
CallResults choose_symmetric(const Call& c) {
    const auto [least, greatest] = range_of(c.tensor("input"), false);
    const V scale = at_least(c, maximum(neg(least), greatest) / (steps_of(c) / 2));
    const std::int64_t zero = c.dtype("dtype") == DType::u8 ? 128 : 0;
    return {as(scale, DType::f64), full(c.builder(), Ints{1}, zero, DType::i64)};
}
CallResults choose_by_row(const Call& c) {
    V most = amax(abs(c.tensor("input")), Ints{-1}, true);
    if (most.dtype() == DType::f16) most = as(most, DType::f32);
    if (c.dtype("dtype") != DType::i8) throw Error(c.schema().name + ": expected dtype i8");
    const V scales = clamp_min(most, 1e-5) / 127;
    return {scales, zeros_like(scales)};
}
/// The zero point rounds whichever end of the range it moves less.
CallResults choose_by_row_asymmetric(const Call& c) {
    constexpr double kLow = -128, kHigh = 127;
    const auto [least, greatest] = range_of(c.tensor("input"), true);
    const V scale = clamp_min((greatest - least) / (kHigh - kLow), kLeast);
    const V low = least / scale, high = greatest / scale;
    const V zero = where(gt((low + kLow) + (high + kHigh), 0), rsub(low, kLow), rsub(high, kHigh));
    return {as(scale, DType::f64), as(round(clamp(zero, kLow, kHigh)), DType::i64)};
}

V levels_of(const Call& c, const V& x, const V& scales, const V& zeros) {
    const V level = round(x * reciprocal(scales) + zeros);
    return as(clamp(level, c.integer("quant_min"), c.integer("quant_max")), *c.dtype("dtype"));
}
CallResults quantize_rows(const Call& c) {
    return levels_of(c, c.tensor("input"), c.tensor("scales"), c.tensor("zero_points"));
}
CallResults dequantize_rows(const Call& c) {
    return as((c.tensor("input") - c.tensor("zero_points")) * c.tensor("scales"), *c.dtype("output_dtype"));
}

/// Groups of elements of a row as rows; a single column of scales takes whole rows.
V in_groups(const Call& c, const V& x, const V& scales) {
    const std::int64_t given = c.integer("group_size"), columns = x.rank() == 2 ? x.size(1) : 0;
    const std::int64_t size = given > columns && scales.rank() > 0 && scales.size(-1) == 1 ? columns : given;
    if (given <= 1 || columns == 0 || columns % size != 0)
        throw Error(c.schema().name + ": found sizes " + to_string(x.sizes()) +
                    " and group_size=" + std::to_string(given) +
                    ", expected a group_size of more than 1, and a matrix whose number of columns is a positive "
                    "multiple of group_size");
    return reshape(x, Ints{-1, size});
}
V as_column(const V& x) { return reshape(x, Ints{-1, 1}); }
CallResults quantize_groups(const Call& c) {
    const V x = c.tensor("input"), scales = c.tensor("scales");
    return reshaped(levels_of(c, in_groups(c, x, scales), as_column(scales), as_column(c.tensor("zero_points"))),
                    x.sizes());
}
CallResults dequantize_groups(const Call& c) {
    const V x = c.tensor("w_int8"), scales = c.tensor("scales");
    V groups = in_groups(c, x, scales);
    if (const OptionalV zeros = c.optional_tensor("zero_points")) groups = groups - as_column(*zeros);
    return as(reshaped(groups * as_column(scales), x.sizes()), *c.dtype("output_dtype"));
}

// --- Records ---

constexpr DTypeSet kReal = set_of(DType::f32) | set_of(DType::f16) | set_of(DType::bf16);
constexpr DTypeSet kLevels = set_of(DType::u8) | set_of(DType::i8) | set_of(DType::i16) | set_of(DType::i32);

constexpr OpDef form(std::string_view schema, std::string_view doc, DecomposeFn decompose,
                     DTypeSet dtypes = kFloating) {
    return {.doc = doc, .schema = schema, .dtypes = dtypes, .decompose = decompose, .grad = no_gradient};
}

#define WHITTLE_PT2E ": https://docs.pytorch.org/ao/stable/pt2e_quantization/index.html"
constexpr OpDef kRows[] = {
    form("choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, "
         "Tensor)",
         "the scale and zero point for the range of a tensor" WHITTLE_PT2E, choose, kReal),
    form("choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> "
         "(Tensor, Tensor)",
         "the scale for the magnitudes of a tensor, and a fixed zero point" WHITTLE_PT2E, choose_symmetric, kReal),
    form("choose_qparams_per_token.default(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
         "the scale for the magnitudes of each row" WHITTLE_PT2E, choose_by_row),
    form("_choose_qparams_per_token_asymmetric_impl.default(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
         "the scale and zero point for the range of each row" WHITTLE_PT2E, choose_by_row_asymmetric),
    form("choose_qparams_per_token_asymmetric.default(Tensor input, ScalarType dtype) -> (Tensor, Tensor)",
         "the scale and zero point for the range of each row" WHITTLE_PT2E, choose_by_row_asymmetric),
    form("quantize_per_token.default(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, "
         "ScalarType dtype) -> Tensor",
         "numbers as integers, by a scale and zero point for each row" WHITTLE_PT2E, quantize_rows),
    form("dequantize_per_token.default(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int quant_max, "
         "ScalarType dtype, ScalarType output_dtype) -> Tensor",
         "numbers of integers, by a scale and zero point for each row" WHITTLE_PT2E, dequantize_rows, kLevels),
    form("quantize_per_channel_group.default(Tensor input, Tensor scales, Tensor zero_points, int quant_min, int "
         "quant_max, ScalarType dtype, int group_size=128) -> Tensor",
         "numbers as integers, by a scale and zero point for each group of a row" WHITTLE_PT2E, quantize_groups),
    form("dequantize_per_channel_group.default(Tensor w_int8, Tensor scales, Tensor? zero_points, int quant_min, int "
         "quant_max, ScalarType dtype, int group_size=128, ScalarType output_dtype=float) -> Tensor",
         "numbers of integers, by a scale and zero point for each group of a row" WHITTLE_PT2E, dequantize_groups,
         kLevels),
};
#undef WHITTLE_PT2E

}  // namespace
}  // namespace whittle::quantized_rows

namespace whittle {

std::span<const OpDef> quantized_row_ops() { return quantized_rows::kRows; }

}  // namespace whittle
