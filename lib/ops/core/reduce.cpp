#include "ops/core/reduce.h"

#include <algorithm>
#include <utility>

#include "tensor/limits.h"

namespace whittle {

// --- Dimensions ---

Sizes Reduction::result() const {
    Sizes result;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (!reduced[d])
            result.push_back(sizes[d]);
        else if (keepdim)
            result.push_back(1);
    }
    return result;
}

Sizes Reduction::domain() const {
    Sizes domain;
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (reduced[d]) domain.push_back(sizes[d]);
    return domain;
}

std::int64_t Reduction::count() const { return element_count(domain()); }

expr::Index Reduction::operand_index(const expr::Index& result, const expr::Index& domain) const {
    expr::Index index;
    std::size_t next_result = 0, next_domain = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        index.push_back(reduced[d] ? domain[next_domain++] : result[next_result]);
        if (!reduced[d] || keepdim) ++next_result;
    }
    return index;
}

expr::Index Reduction::result_index(const expr::Index& operand) const {
    expr::Index index;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (!reduced[d])
            index.push_back(operand[d]);
        else if (keepdim)
            index.push_back(expr::index(0));
    }
    return index;
}

Reduction reduction(const Sizes& sizes, const std::vector<std::int64_t>& dims, bool keepdim) {
    Reduction result{sizes, std::vector<bool>(sizes.size(), dims.empty()), keepdim};
    std::vector<bool> given(std::max<std::size_t>(sizes.size(), 1));  // a 0-d tensor has a dimension to name
    for (const std::int64_t dim : dims) {
        const auto d = static_cast<std::size_t>(wrap_dim(dim, sizes));
        if (given[d]) throw Error("found dimension " + std::to_string(d) + " twice, expected distinct dimensions");
        given[d] = true;
        if (!sizes.empty()) result.reduced[d] = true;
    }
    return result;
}

void require_elements(const Schema& schema, const Reduction& reduction) {
    if (reduction.count() != 0 || element_count(reduction.result()) == 0) return;
    throw Error("aten." + schema.name + ": found sizes " + to_string(reduction.sizes) +
                ", expected at least one element to reduce");
}

// --- Kernels ---

template <class T>
Rows<T> rows(const Tensor& tensor, const Reduction& reduction, DType common) {
    Sizes sizes;
    Strides strides;
    for (const bool reduced : {false, true})
        for (std::size_t d = 0; d < reduction.sizes.size(); ++d)
            if (reduction.reduced[d] == reduced) {
                sizes.push_back(tensor.sizes()[d]);
                strides.push_back(tensor.strides()[d]);
            }
    const Tensor permuted = tensor.as_strided(std::move(sizes), std::move(strides), tensor.offset());
    return {permuted.to(common).values<T>(), element_count(reduction.result()), reduction.count()};
}
template Rows<double> rows(const Tensor&, const Reduction&, DType);
template Rows<float> rows(const Tensor&, const Reduction&, DType);
template Rows<std::int64_t> rows(const Tensor&, const Reduction&, DType);
template Rows<std::uint64_t> rows(const Tensor&, const Reduction&, DType);
template Rows<bool> rows(const Tensor&, const Reduction&, DType);
template Rows<Complex64> rows(const Tensor&, const Reduction&, DType);
template Rows<Complex128> rows(const Tensor&, const Reduction&, DType);

// --- Expressions ---

expr::Value fold(expr::GroupBuilder& builder, const Reduction& reduction, const Expr& init,
                 const std::function<Expr(const Expr& sofar, const FoldStep& step)>& combine, const std::string& hint) {
    const Sizes domain = reduction.domain();
    return builder.reduce(
        init->dtype, reduction.result(), domain, [&](const expr::Index&) { return init; },
        [&](const expr::Index& i, const expr::Index& r, const Expr& sofar) {
            Expr position = expr::constant(DType::i64, Scalar(0));
            for (std::size_t d = 0; d < domain.size(); ++d)
                position = position * expr::constant(DType::i64, Scalar(domain[d])) + expr::cast(DType::i64, r[d]);
            return combine(sofar, {reduction.operand_index(i, r), i, position});
        },
        hint);
}

expr::Value fold_sum(expr::GroupBuilder& builder, const expr::Value& operand, const Reduction& reduction) {
    // One after the other, n terms in f32 may lose n / 2 steps: beyond this many, more than results are compared to.
    constexpr std::int64_t kMostInF32 = 1024;
    if (operand.dtype() == DType::f32 && reduction.count() > kMostInF32)
        return convert(DType::f32, fold_sum(builder, convert(DType::f64, operand), reduction));
    const DType dtype = operand.dtype();
    const auto plus = [&](const Expr& sofar, const FoldStep& step) {
        const Expr element = operand(step.operand);
        return dtype == DType::boolean ? sofar || element : sofar + element;
    };
    return fold(builder, reduction, expr::constant(dtype, Scalar(0)), plus, "sum");
}

namespace {

/// What every other element replaces.
Expr neutral(DType dtype, bool largest) { return expr::constant(dtype, largest ? lowest(dtype) : greatest(dtype)); }

}  // namespace

expr::Value fold_extremum(expr::GroupBuilder& builder, const expr::Value& operand, const Reduction& reduction,
                          bool largest) {
    const DType dtype = operand.dtype();
    const auto more_extreme = [&](const Expr& sofar, const FoldStep& step) {
        const Expr element = operand(step.operand);
        if (dtype == DType::boolean) return largest ? sofar || element : sofar && element;
        if (!is_floating(dtype)) return largest ? expr::max(sofar, element) : expr::min(sofar, element);
        const Expr keeps = largest ? element <= sofar : sofar <= element;
        return expr::select(is_nan(sofar) || keeps, sofar, element);
    };
    return fold(builder, reduction, neutral(dtype, largest), more_extreme, largest ? "max" : "min");
}

Variance lower_variance(expr::GroupBuilder& builder, const expr::Value& operand, const Reduction& reduction,
                        double divisor) {
    const DType dtype = operand.dtype();
    const auto over = [&](const expr::Value& sum, double n, const std::string& hint) {
        const auto quotient = [n](const std::vector<Expr>& x) { return x[0] / constant(x[0], n); };
        return builder.materialize(pointwise({sum}, sum.sizes(), dtype, quotient), hint);
    };
    const auto count = static_cast<double>(reduction.count());
    const expr::Value mean = over(fold_sum(builder, operand, reduction), count, "mean");
    const expr::Value squares(dtype, operand.sizes(), [=](const expr::Index& index) {
        const Expr deviation = operand(index) - mean(reduction.result_index(index));
        return deviation * deviation;
    });
    return {over(fold_sum(builder, squares, reduction), divisor, "variance"), mean};
}

}  // namespace whittle
