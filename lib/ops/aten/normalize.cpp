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

Tensor normalize(const Arguments<Tensor>& arguments, const NormLayout& layout, const RowStatistics& statistics) {
    const Tensor input = arguments.tensor("input");
    const auto weight = arguments.optional_tensor("weight"), bias = arguments.optional_tensor("bias");
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

expr::Value normalize(const Arguments<expr::Value>& arguments, const expr::Value& mean, const expr::Value& rstd,
                      const NormIndices& indices) {
    const expr::Value input = arguments.tensor("input");
    const auto weight = arguments.optional_tensor("weight"), bias = arguments.optional_tensor("bias");
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

std::vector<ValueMeta> infer_own(const Arguments<ValueMeta>& arguments, const Sizes& rows) {
    const ValueMeta input = arguments.tensor("input"), statistic = ValueMeta::contiguous(input.dtype, rows);
    return {ValueMeta::contiguous(input.dtype, input.sizes), statistic, statistic};
}

std::vector<Tensor> eval_own(const Arguments<Tensor>& arguments, const NormLayout& layout, const Sizes& rows) {
    const Tensor input = arguments.tensor("input");
    const RowStatistics statistics = row_statistics(input.values<double>(), layout, arguments.number("eps"));
    return {normalize(arguments, layout, statistics), store(statistics.mean, input.dtype(), rows),
            store(statistics.rstd, input.dtype(), rows)};
}

std::vector<expr::Value> lower_own(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments,
                                   const expr::Value& input, const Reduction& rows, const NormIndices& indices) {
    const DType dtype = arguments.tensor("input").dtype();
    const Variance variance = lower_variance(builder, input, rows, static_cast<double>(rows.count()));
    const expr::Value rstd = lower_rstd(builder, variance.variance, arguments.number("eps"));
    return {normalize(arguments, variance.mean, rstd, indices), convert(dtype, variance.mean), convert(dtype, rstd)};
}

V rstd_parts(const V& variance, double eps) { return aten::rsqrt(variance + eps); }

StatisticParts statistic_parts(const V& input, const Ints& dims, double eps) {
    const V mean = aten::mean(input, dims, true), off = input - mean;
    return {mean, rstd_parts(aten::mean(off * off, dims, true), eps)};
}

V normalize_parts(const V& input, const StatisticParts& statistics, const OptionalV& weight, const OptionalV& bias) {
    const V scale = weight ? statistics.rstd * *weight : statistics.rstd, shift = statistics.mean * scale;
    V result = input * scale - shift;
    if (bias) result = result + *bias;
    return input.builder->convert(result, input.dtype());
}

OptionalV per_channel(const OptionalV& parameter, std::int64_t rank) {
    if (!parameter) return std::nullopt;
    Sizes sizes(static_cast<std::size_t>(rank), 1);
    sizes[1] = parameter->numel();
    return aten::reshape(*parameter, sizes);
}

void check_parameter(const Schema& schema, const char* name, const std::optional<OperandInfo>& parameter,
                     const Sizes& sizes) {
    if (!parameter || parameter->sizes == sizes) return;
    throw Error("aten." + schema.name + ": " + name + " has sizes " + to_string(parameter->sizes) + ", expected " +
                to_string(sizes));
}

}  // namespace whittle
