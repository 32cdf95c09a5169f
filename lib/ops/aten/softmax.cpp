// Softmax and its logarithm along one dimension, shifted by the largest element.
// Definitions: https://pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html
#include <cmath>
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/reduce.h"

namespace whittle {
namespace {

using namespace aten;

using expr::Op;

/// f16 becomes f32 with half_to_float, which is for f16 alone.
DType result_dtype(const AnyArguments auto& arguments) {
    const DType self = operand_info(arguments.tensor("self")).dtype;
    if (!arguments.boolean("half_to_float")) return self;
    if (self != DType::f16)
        throw Error("aten." + arguments.schema().name + ": found dtype " + std::string(name(self)) +
                    " with half_to_float=true, expected f16");
    return DType::f32;
}

std::vector<ValueMeta> infer_softmax(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    reduction(self.sizes, {arguments.integer("dim")}, true);  // the dimension exists
    return {ValueMeta::contiguous(result_dtype(arguments), self.sizes)};
}

/// One row of exponentials becomes its shares, or their logarithms.
template <bool kLog>
void normalize_row(std::vector<double>& row) {
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const double x : row) largest = std::isnan(x) || x > largest ? x : largest;
    for (const double x : row) sum += std::exp(x - largest);
    for (double& x : row) x = kLog ? x - largest - std::log(sum) : std::exp(x - largest) / sum;
}

template <bool kLog>
std::vector<Tensor> eval_softmax(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self");
    const std::int64_t rank = self.rank();
    const auto dim = static_cast<std::size_t>(wrap_dim(arguments.integer("dim"), rank));
    const std::vector<double> in = self.values<double>();
    const std::int64_t length = rank == 0 ? 1 : self.sizes()[dim];
    const std::int64_t step = rank == 0 ? 1 : contiguous_strides(self.sizes())[dim];
    std::vector<double> out(in.size()), row(static_cast<std::size_t>(length));
    for (std::int64_t start = 0; start < self.numel(); ++start) {
        if (start / step % length != 0) continue;  // not the first element of a row
        for (std::int64_t j = 0; j < length; ++j)
            row[static_cast<std::size_t>(j)] = in[static_cast<std::size_t>(start + j * step)];
        normalize_row<kLog>(row);
        for (std::int64_t j = 0; j < length; ++j)
            out[static_cast<std::size_t>(start + j * step)] = row[static_cast<std::size_t>(j)];
    }
    return {store(out, result_dtype(arguments), self.sizes())};
}

template <bool kLog>
std::vector<expr::Value> lower_softmax(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const expr::Value self = arguments.tensor("self"), x = read(self, self.sizes(), self.dtype());
    const Reduction rows = reduction(self.sizes(), {arguments.integer("dim")}, true);
    const expr::Value largest = fold_extremum(builder, x, rows, true);
    const expr::Value shifted(x.dtype(), x.sizes(),
                              [=](const expr::Index& index) { return x(index) - largest(rows.result_index(index)); });
    const auto exponential = [](const std::vector<Expr>& e) { return expr::unary(Op::exp, e[0]); };
    const expr::Value exps = pointwise({shifted}, x.sizes(), x.dtype(), exponential);
    // The exponentials are stored: computing them again costs more than reading them.
    const expr::Value terms = kLog ? exps : builder.materialize(exps, "exps");
    const expr::Value sum = fold_sum(builder, terms, rows);
    const expr::Value result(x.dtype(), x.sizes(), [=](const expr::Index& index) {
        const Expr total = sum(rows.result_index(index));
        return kLog ? shifted(index) - expr::unary(Op::log, total) : terms(index) / total;
    });
    return {convert(result_dtype(arguments), result)};
}

template <bool kLog>
CallResults softmax_parts(const Call& c) {
    const V x = c.builder().convert(c.tensor("self"), result_dtype(c));
    if (x.numel() == 0) return x;
    const Ints dims = {c.integer("dim")};
    const V shifted = x - amax(x, dims, true), exps = exp(shifted), total = sum(exps, dims, true);
    return kLog ? shifted - log(total) : exps / total;
}

/// softmax.int, log_softmax.int: an optional dtype first.
template <bool kLog>
CallResults decompose_softmax(const Call& c) {
    V self = c.tensor("self");
    const DType dtype = c.dtype("dtype").value_or(self.dtype());
    if (dtype != self.dtype()) self = to(self, dtype);
    const std::int64_t dim = c.integer("dim");
    return kLog ? _log_softmax(self, dim, false) : _softmax(self, dim, false);
}

V softmax_grad(const OfSelf& r) { return _softmax_backward_data(r.g, r.y, r.call.integer("dim"), r.x.dtype()); }
V log_softmax_grad(const OfSelf& r) { return _log_softmax_backward_data(r.g, r.y, r.call.integer("dim"), r.x.dtype()); }

constexpr OpDef kSoftmax[] = {
    primitive("_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", "exp(x) / sum(exp(x)) along a dimension",
              kFloating, {infer_softmax, eval_softmax<false>, lower_softmax<false>}, softmax_grad,
              {.parts = softmax_parts<false>}),
    primitive("_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
              "x - log(sum(exp(x))) along a dimension", kFloating,
              {infer_softmax, eval_softmax<true>, lower_softmax<true>}, log_softmax_grad,
              {.parts = softmax_parts<true>}),
    composite("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "_softmax after an optional cast",
              kAnyDType, decompose_softmax<false>),
    composite("log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
              "_log_softmax after an optional cast", kAnyDType, decompose_softmax<true>),
};

}  // namespace

std::span<const OpDef> softmax_ops() { return kSoftmax; }

}  // namespace whittle
