// Equations that have no solution or several: X with the least |A X - B|, and of those the least X, by singular values.
// Definition: https://pytorch.org/docs/stable/generated/torch.linalg.lstsq.html
#include <Eigen/SVD>
#include <algorithm>
#include <limits>

#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/matrices.h"
#include "tensor/shape.h"

namespace whittle::matrices {
namespace {

using namespace aten;

/// What the call computes, by the LAPACK driver that it names: gelsy tells the rank, gelsd and gelss that and singular
/// values, gels neither. Residuals come of all but gelsy.
struct LeastSquares {
    bool vector = false, rank = true, values = false, residuals = false;
    Sizes batch;  ///< to which both broadcast
    std::int64_t rows = 0, columns = 0, sides = 0;
    double tolerance = 0;  ///< of the largest singular value: at most so much is 0

    template <class T>
    LeastSquares(const Arguments<T>& a, const ValueMeta& matrix, const ValueMeta& b);

    std::int64_t least() const { return std::min(rows, columns); }
    Sizes right() const { return joined(batch, {rows, sides}); }
    Sizes solution() const { return joined(batch, {columns, sides}); }
};

template <class T>
LeastSquares::LeastSquares(const Arguments<T>& a, const ValueMeta& matrix, const ValueMeta& b) {
    const Schema& schema = a.schema();
    require_matrix(schema, matrix);
    rows = rows_of(matrix.sizes), columns = matrix.sizes.back();
    Sizes given = b.sizes;
    vector = given.size() + 1 == matrix.sizes.size();
    if (vector) given.push_back(1);
    if (given.size() < 2 || rows_of(given) != rows || b.dtype != matrix.dtype)
        throw Error(schema.name + ": found matrices of " + std::string(name(matrix.dtype)) + to_string(matrix.sizes) +
                    " and right-hand sides of " + std::string(name(b.dtype)) + to_string(b.sizes) +
                    ", expected equal numbers of rows and equal dtypes");
    sides = given.back();
    batch = broadcast_sizes(batch_of(matrix.sizes), batch_of(given));
    const std::string driver = a.has("driver") ? a.text("driver") : "gelsy";
    if (driver != "gelsy" && driver != "gels" && driver != "gelsd" && driver != "gelss")
        throw Error(schema.name + ": found driver='" + driver + "', expected 'gels', 'gelsy', 'gelsd' or 'gelss'");
    rank = driver != "gels";
    values = driver == "gelsd" || driver == "gelss";
    residuals = driver != "gelsy" && rows > columns;
    const double epsilon = real_of(matrix.dtype) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                               : std::numeric_limits<float>::epsilon();
    tolerance = a.optional_number("rcond").value_or(epsilon * static_cast<double>(std::max(rows, columns)));
    if (!rank) tolerance = 0;
}

Metas infer_lstsq(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("self");
    const LeastSquares plan(a, matrix, a.tensor("b"));
    Sizes solution = plan.solution(), none = {0};
    if (plan.vector) solution.pop_back();
    return {
        ValueMeta::contiguous(matrix.dtype, solution),
        ValueMeta::contiguous(real_of(matrix.dtype), plan.residuals ? joined(plan.batch, {plan.sides}) : none),
        ValueMeta::contiguous(DType::i64, plan.rank ? batch_of(matrix.sizes) : none),
        ValueMeta::contiguous(real_of(matrix.dtype),
                              plan.values ? joined(batch_of(matrix.sizes), {plan.least()}) : none),
    };
}

Tensors eval_lstsq(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("self"), b = a.tensor("b");
    const LeastSquares plan(a, ValueMeta::of(matrix), ValueMeta::of(b));
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const DType real = real_of(matrix.dtype());
        const Sizes none = {0}, batch = batch_of(matrix.sizes());
        Results<T> x(matrix.dtype(), plan.solution());
        Results<Real<T>> residuals(real, plan.residuals ? joined(plan.batch, {plan.sides}) : none),
            values(real, plan.values ? joined(batch, {plan.least()}) : none);
        Results<std::int64_t> rank(DType::i64, plan.rank ? batch : none);
        using Svd = Eigen::JacobiSVD<Matrix<T>>;
        const auto decomposed = [&](const Matrix<T>& one, unsigned parts) {
            if (!one.allFinite())
                throw Error("linalg_lstsq: found infinities or NaN, expected a matrix of finite numbers");
            Svd svd(one, parts);
            svd.setThreshold(plan.tolerance);
            return svd;
        };
        each_matrix<T>(matrix, [&](std::int64_t i, const Matrix<T>& one) {
            if (one.size() == 0) return;
            const Svd svd = decomposed(one, 0U);
            if (plan.values) values.put(i, svd.singularValues());
            if (plan.rank) rank.put(i, svd.rank());
            if (plan.values && plan.residuals && svd.rank() < plan.columns)
                throw Error("linalg_lstsq: found a matrix of rank " + std::to_string(svd.rank()) + ", expected rank " +
                                std::to_string(plan.columns) + ": without full rank, there are no residuals",
                            "call linalg_lstsq() without the argument 'driver'");
        });
        Sizes given = b.sizes();
        if (plan.vector) given.push_back(1);
        std::vector<Matrix<T>> right;
        each_matrix<T>(under(b, given, plan.right()),
                       [&](std::int64_t, Matrix<T> one) { right.push_back(std::move(one)); });
        each_matrix<T>(under(matrix, matrix.sizes(), joined(plan.batch, {plan.rows, plan.columns})),
                       [&](std::int64_t i, const Matrix<T>& one) {
                           if (one.size() == 0) return;
                           const Matrix<T>& side = right[static_cast<std::size_t>(i)];
                           const Matrix<T> found =
                               decomposed(one, Eigen::ComputeThinU | Eigen::ComputeThinV).solve(side);
                           x.put(i, found);
                           if (plan.residuals)
                               residuals.put(i, (one * found - side).colwise().squaredNorm().transpose());
                       });
        Tensor solution = x.tensor();
        if (plan.vector) {
            Sizes sizes = plan.solution();
            sizes.pop_back();
            solution = solution.as_strided(sizes, contiguous_strides(sizes), solution.offset());
        }
        return {solution, residuals.tensor(), rank.tensor(), values.tensor()};
    });
}

/// X is the pseudoinverse times B; of the residuals |A X - B|^2, A X - B is orthogonal to what X does.
void lstsq_grad(Gradients& c) {
    const auto used = [&](std::size_t i) { return c.grad_if_any(i) && element_count(c.result(i).sizes()) > 0; };
    if (used(3))
        throw Error("linalg_lstsq has no gradient rule for the singular values",
                    "use only the solution, or call detach() on the singular values");
    V b = c.tensor("b"), x = c.result(), g = c.grad();  // which refuses complex numbers, by name
    const V a = c.tensor("self"), inverse = linalg_pinv(a, std::optional<double>(), c.optional_number("rcond"));
    if (b.rank() + 1 == a.rank()) b = column(b), x = column(x), g = column(g);
    V of_matrix = of_pseudo_inverse(a, inverse, matmul(g, turned(b))), of_right = matmul(turned(inverse), g);
    if (used(1)) {
        const V rest = (matmul(a, x) - b) * unsqueeze(c.grad(1) * 2, -2);
        of_matrix = of_matrix + matmul(rest, turned(x));
        of_right = of_right - rest;
    }
    c.set("self", of_matrix);
    c.set("b", c.tensor("b").rank() == b.rank() ? of_right : squeeze(of_right, -1));
}

constexpr OpDef kLeastSquares[] = {
    primitive("linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
              "Tensor residuals, Tensor rank, Tensor singular_values)",
              "X with the least |self X - b|: https://pytorch.org/docs/stable/generated/torch.linalg.lstsq.html",
              kDTypes, {infer_lstsq, eval_lstsq}, lstsq_grad),
};

}  // namespace
}  // namespace whittle::matrices

namespace whittle {

std::span<const OpDef> least_squares_ops() { return matrices::kLeastSquares; }

}  // namespace whittle
