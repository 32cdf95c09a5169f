#include "ops/aten/normalize.h"

#include <cmath>

namespace whittle {

RowStatistics row_statistics(const std::vector<double>& input, const NormLayout& layout, double eps) {
    const auto rows = static_cast<std::size_t>(layout.rows);
    std::vector<double> mean(rows), squares(rows);
    std::vector<std::int64_t> count(rows);
    const auto row_of = [&](std::size_t i) {
        return static_cast<std::size_t>(layout.row_of(static_cast<std::int64_t>(i)));
    };
    for (std::size_t i = 0; i < input.size(); ++i) {
        mean[row_of(i)] += input[i];
        ++count[row_of(i)];
    }
    for (std::size_t r = 0; r < rows; ++r) mean[r] /= static_cast<double>(count[r]);
    for (std::size_t i = 0; i < input.size(); ++i) {
        const double deviation = input[i] - mean[row_of(i)];
        squares[row_of(i)] += deviation * deviation;
    }
    RowStatistics result{std::move(mean), {}};
    for (std::size_t r = 0; r < rows; ++r)
        result.rstd.push_back(1 / std::sqrt(squares[r] / static_cast<double>(count[r]) + eps));
    return result;
}

Tensor normalize(const Tensor& input, const NormLayout& layout, const RowStatistics& statistics,
                 const std::optional<Tensor>& weight, const std::optional<Tensor>& bias) {
    std::vector<double> values = input.values<double>();
    const std::vector<double> scale = weight ? weight->values<double>() : std::vector<double>();
    const std::vector<double> shift = bias ? bias->values<double>() : std::vector<double>();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto row = static_cast<std::size_t>(layout.row_of(static_cast<std::int64_t>(i)));
        const auto parameter = static_cast<std::size_t>(layout.parameter_of(static_cast<std::int64_t>(i)));
        values[i] = (values[i] - statistics.mean[row]) * statistics.rstd[row];
        if (weight) values[i] *= scale[parameter];
        if (bias) values[i] += shift[parameter];
    }
    return store(values, input.dtype(), input.sizes());
}

expr::Value normalize(const expr::Value& input, const expr::Value& mean, const expr::Value& rstd,
                      const NormIndices& indices, const std::optional<expr::Value>& weight,
                      const std::optional<expr::Value>& bias) {
    const DType dtype = input.dtype(), compute = compute_dtype(dtype);
    return expr::Value(dtype, input.sizes(), [=](const expr::Index& index) {
        const expr::Index row = indices.row(index), parameter = indices.parameter(index);
        Expr normal = (convert(compute, input(index)) - mean(row)) * rstd(row);
        if (weight) normal = normal * convert(compute, (*weight)(parameter));
        if (bias) normal = normal + convert(compute, (*bias)(parameter));
        return convert(dtype, normal);
    });
}

expr::Value lower_rstd(expr::GroupBuilder& builder, const expr::Value& variance, double eps) {
    const auto inverse_root = [eps](const std::vector<Expr>& x) {
        return constant(x[0], 1) / expr::unary(expr::Op::sqrt, x[0] + constant(x[0], eps));
    };
    return builder.materialize(pointwise({variance}, variance.sizes(), variance.dtype(), inverse_root), "rstd");
}

NodeValue rstd_parts(GraphBuilder& builder, const NodeValue& variance, double eps) {
    return builder.call("aten.rsqrt.default", {builder.call("aten.add.Scalar", {variance.ref, Arg(eps)}).ref});
}

StatisticParts statistic_parts(GraphBuilder& builder, const NodeValue& input, const std::vector<std::int64_t>& dims,
                               double eps) {
    const NodeValue mean = builder.call("aten.mean.dim", {input.ref, Arg::ints(dims), Arg(true)});
    const NodeValue off = builder.call("aten.sub.Tensor", {input.ref, mean.ref});
    const NodeValue squares = builder.call("aten.mul.Tensor", {off.ref, off.ref});
    const NodeValue variance = builder.call("aten.mean.dim", {squares.ref, Arg::ints(dims), Arg(true)});
    return {mean, rstd_parts(builder, variance, eps)};
}

NodeValue normalize_parts(GraphBuilder& builder, const NodeValue& input, const StatisticParts& statistics,
                          const std::optional<NodeValue>& weight, const std::optional<NodeValue>& bias) {
    const auto call = [&](std::string_view target, const NodeValue& a, const NodeValue& b) {
        return builder.call(target, {a.ref, b.ref});
    };
    const NodeValue scale = weight ? call("aten.mul.Tensor", statistics.rstd, *weight) : statistics.rstd;
    const NodeValue shift = call("aten.mul.Tensor", statistics.mean, scale);
    NodeValue result = call("aten.sub.Tensor", call("aten.mul.Tensor", input, scale), shift);
    if (bias) result = call("aten.add.Tensor", result, *bias);
    return builder.convert(result, input.meta.dtype);
}

std::optional<NodeValue> per_channel(GraphBuilder& builder, const std::optional<NodeValue>& parameter,
                                     std::int64_t rank) {
    if (!parameter) return std::nullopt;
    Sizes sizes(static_cast<std::size_t>(rank), 1);
    sizes[1] = parameter->meta.numel();
    return builder.call("aten.reshape.default", {parameter->ref, Arg::ints(sizes)});
}

void check_parameter(const Schema& schema, const char* name, const std::optional<OperandInfo>& parameter,
                     const Sizes& sizes) {
    if (!parameter || parameter->sizes == sizes) return;
    throw Error("aten." + schema.name + ": " + name + " has sizes " + to_string(parameter->sizes) + ", expected " +
                to_string(sizes));
}

}  // namespace whittle
