// What reductions share: which dimensions go, rows of elements for kernels, loops for expressions.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/core/pointwise.h"

namespace whittle {

/// The dimensions a reduction removes from an operand, or leaves with size 1.
struct Reduction {
    Sizes sizes;                ///< of the operand
    std::vector<bool> reduced;  ///< per dimension of the operand
    bool keepdim = false;

    Sizes result() const;
    Sizes domain() const;        ///< sizes of the reduced dimensions
    std::int64_t count() const;  ///< elements that make one result
    /// The operand's index from that of the result and of the domain.
    expr::Index operand_index(const expr::Index& result, const expr::Index& domain) const;
    /// Where an element of the operand finds its result.
    expr::Index result_index(const expr::Index& operand) const;
};

/// `dims` wrap; none or an empty list is all dimensions. Throws Error for a dimension out of range or given twice.
Reduction reduction(const Sizes& sizes, const std::vector<std::int64_t>& dims, bool keepdim);

/// From the parameters "dim" (int, int? or a list; all dimensions where missing) and "keepdim" as far as the schema has
/// them, for the operand "self".
Reduction reduction_of(const AnyArguments auto& arguments) {
    const Sizes sizes = operand_info(arguments.tensor("self")).sizes;
    std::vector<std::int64_t> dims;
    const Param* dim = arguments.schema().param("dim");
    if (dim && arguments.has("dim"))
        dims = dim->type == ParamType::int_list ? arguments.integers("dim") : std::vector{arguments.integer("dim")};
    return reduction(sizes, dims, arguments.schema().param("keepdim") && arguments.boolean("keepdim"));
}

/// Throws Error when a reduction without a neutral element would have to make a result of nothing.
void require_elements(const Schema& schema, const Reduction& reduction);

/// The operand's elements, a row per result in the result's row-major order.
template <class T>
struct Rows {
    std::vector<T> elements;
    std::int64_t count, length;

    /// f(row, i) with row(j) = element j of row i, for every row.
    template <class R, class F>
    std::vector<R> each(F f) const {
        std::vector<R> results(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i)
            results[static_cast<std::size_t>(i)] =
                f([&](std::int64_t j) -> T { return elements[static_cast<std::size_t>(i * length + j)]; });
        return results;
    }
};
/// Converted first to `common`, as ATen does with a dtype argument.
template <class T>
Rows<T> rows(const Tensor& tensor, const Reduction& reduction, DType common);

/// One step of a fold: where the element is, where its result is, and the element's position in the domain, counted
/// row-major (i64).
struct FoldStep {
    expr::Index operand, result;
    Expr position;
};
/// A stage of the reduction's results: starts from `init`, becomes combine(sofar, step) in order of position.
expr::Value fold(expr::GroupBuilder& builder, const Reduction& reduction, const Expr& init,
                 const std::function<Expr(const Expr& sofar, const FoldStep& step)>& combine, const std::string& hint);

/// Sum of the operand's elements, whose dtype must be a compute dtype; bool: or.
expr::Value fold_sum(expr::GroupBuilder& builder, const expr::Value& operand, const Reduction& reduction);
/// Largest or smallest element; NaN when any is.
expr::Value fold_extremum(expr::GroupBuilder& builder, const expr::Value& operand, const Reduction& reduction,
                          bool largest);

/// Mean and sum of squared deviations over `divisor`, as stages in the operand's dtype, which must be a compute dtype.
struct Variance {
    expr::Value variance, mean;
};
Variance lower_variance(expr::GroupBuilder& builder, const expr::Value& operand, const Reduction& reduction,
                        double divisor);

}  // namespace whittle
