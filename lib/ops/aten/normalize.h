// What normalizations share: rows of elements are shifted by their mean and divided by their standard deviation, then
// scaled and shifted by parameters.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ops/aten/formulas.h"
#include "ops/core/reduce.h"

namespace whittle {

/// How a contiguous input divides into rows, and which parameter belongs to an element, by row-major positions.
struct NormLayout {
    std::int64_t rows = 0;
    std::function<std::int64_t(std::int64_t)> row_of = {}, parameter_of = {};
};

/// One mean and one 1 / sqrt(variance + eps) per row, in double precision.
struct RowStatistics {
    std::vector<double> mean, rstd;
};
/// Of the input itself, with the biased variance.
RowStatistics row_statistics(const std::vector<double>& input, const NormLayout& layout, double eps);

/// (input - mean) * rstd * weight + bias with a row's statistics and an element's parameters, in the input's dtype.
Tensor normalize(const Arguments<Tensor>& arguments, const NormLayout& layout, const RowStatistics& statistics);

/// The same on expressions. `row` and `parameter` give the indices of statistics and parameters for an element's index.
struct NormIndices {
    std::function<expr::Index(const expr::Index&)> row, parameter;
};
/// `mean` and `rstd` are stored in the compute dtype of the input's.
expr::Value normalize(const Arguments<expr::Value>& arguments, const expr::Value& mean, const expr::Value& rstd,
                      const NormIndices& indices);
/// 1 / sqrt(variance + eps), stored.
expr::Value lower_rstd(expr::GroupBuilder& builder, const expr::Value& variance, double eps);

// --- By the input's own statistics, which are results, too: one of each per row ---

std::vector<ValueMeta> infer_own(const Arguments<ValueMeta>& arguments, const Sizes& rows);
std::vector<Tensor> eval_own(const Arguments<Tensor>& arguments, const NormLayout& layout, const Sizes& rows);
/// `input`: the operand, of other sizes where rows are no dimensions of its own, in its compute dtype.
std::vector<expr::Value> lower_own(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments,
                                   const expr::Value& input, const Reduction& rows, const NormIndices& indices);

// --- In simpler ops, for bounds of what rounds ---

/// Mean and 1 / sqrt(variance + eps) over `dims`, which stay with size 1.
struct StatisticParts {
    V mean, rstd;
};
V rstd_parts(const V& variance, double eps);
StatisticParts statistic_parts(const V& input, const Ints& dims, double eps);
/// x * scale + (bias - mean * scale), scale = rstd * weight, as fused kernels compute it: it rounds by more than the
/// form above. All that is given broadcasts with the input, whose dtype the result has.
V normalize_parts(const V& input, const StatisticParts& statistics, const OptionalV& weight, const OptionalV& bias);
/// A parameter of channels as [1, C, 1 …], to broadcast with a tensor of this rank.
OptionalV per_channel(const OptionalV& parameter, std::int64_t rank);

/// Throws Error unless the parameter is missing or has these sizes.
void check_parameter(const Schema& schema, const char* name, const std::optional<OperandInfo>& parameter,
                     const Sizes& sizes);
/// check_parameter for "weight" and "bias" as far as the schema has them.
void check_parameters(const AnyArguments auto& arguments, const Sizes& sizes) {
    for (const char* name : {"weight", "bias"}) {
        if (!arguments.schema().param(name) || !arguments.has(name)) continue;
        check_parameter(arguments.schema(), name, operand_info(arguments.tensor(name)), sizes);
    }
}

}  // namespace whittle
