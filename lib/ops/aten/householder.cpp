// Orthogonal matrices as LAPACK keeps them: products of reflections I - tau v v^H, whose vectors v lie below the
// diagonal of a matrix, without their first element, which is 1.
// Definitions: https://pytorch.org/docs/stable/linalg.html
#include <Eigen/QR>
#include <algorithm>

#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/aten/matrices.h"

namespace whittle::matrices {
namespace {

using namespace aten;

/// The product Q of the reflections, the first one leftmost, by which matrices are multiplied without making it.
template <class T>
class Reflections {
  public:
    Reflections(Matrix<T> vectors, Matrix<T> factors) : vectors_(std::move(vectors)), factors_(std::move(factors)) {
        for (Eigen::Index i = 0; i < factors_.rows(); ++i) {
            vectors_.col(i).head(i).setZero();
            vectors_(i, i) = T(1);
        }
    }
    /// Q x, or Q^H x.
    Matrix<T> times(Matrix<T> x, bool turned) const {
        const Eigen::Index count = factors_.rows();
        for (Eigen::Index step = 0; step < count; ++step) {
            const Eigen::Index i = turned ? step : count - 1 - step;
            const T factor = turned ? Eigen::numext::conj(factors_(i, 0)) : factors_(i, 0);
            const Matrix<T> row = vectors_.col(i).adjoint() * x;
            x -= (factor * vectors_.col(i)) * row;
        }
        return x;
    }

  private:
    Matrix<T> vectors_, factors_;
};

// --- Factors ---

Metas infer_geqrf(const Arguments<ValueMeta>& a) {
    const ValueMeta matrix = a.tensor("self");
    require_matrix(a.schema(), matrix);
    const std::int64_t k = std::min(rows_of(matrix.sizes), matrix.sizes.back());
    return {ValueMeta::contiguous(matrix.dtype, matrix.sizes),
            ValueMeta::contiguous(matrix.dtype, joined(batch_of(matrix.sizes), {k}))};
}
/// R above the reflections of Q. Eigen's factors are those of the reflections of Q^H.
Tensors eval_geqrf(const Arguments<Tensor>& a) {
    const Tensor matrix = a.tensor("self");
    return in_double(matrix, [&]<class T>(T) -> Tensors {
        const std::int64_t k = std::min(rows_of(matrix.sizes()), matrix.sizes().back());
        Results<T> factors(matrix.dtype(), matrix.sizes()), tau(matrix.dtype(), joined(batch_of(matrix.sizes()), {k}));
        each_matrix<T>(matrix, [&](std::int64_t i, const Matrix<T>& one) {
            const Eigen::HouseholderQR<Matrix<T>> qr(one);
            factors.put(i, qr.matrixQR());
            tau.put(i, qr.hCoeffs().conjugate());
        });
        return {factors.tensor(), tau.tensor()};
    });
}

// --- Products ---

/// As many reflections as factors, of vectors of `rows` elements.
void require_reflections(const Schema& schema, const ValueMeta& vectors, const ValueMeta& factors, std::int64_t rows) {
    require_matrix(schema, vectors);
    Sizes batch = factors.sizes;
    const std::int64_t count = batch.empty() ? -1 : batch.back();
    if (!batch.empty()) batch.pop_back();
    if (count < 0 || count > vectors.sizes.back() || count > rows || rows_of(vectors.sizes) != rows ||
        batch != batch_of(vectors.sizes) || factors.dtype != vectors.dtype)
        throw Error(schema.name + ": found reflections of " + std::string(name(vectors.dtype)) +
                    to_string(vectors.sizes) + " and factors of " + std::string(name(factors.dtype)) +
                    to_string(factors.sizes) + ", expected equal dtypes and batch sizes, reflections with " +
                    std::to_string(rows) + " rows, and no more factors than rows or columns");
}

/// f(index, reflections) for each of the batch.
template <class T, class F>
void each_product(const Tensor& vectors, const Tensor& factors, F f) {
    const std::int64_t count = factors.sizes().back();
    const std::vector<T> elements = factors.values<T>();
    each_matrix<T>(vectors, [&](std::int64_t i, Matrix<T> one) {
        f(i, Reflections<T>(std::move(one), Eigen::Map<const Matrix<T>>(elements.data() + i * count, count, 1)));
    });
}

Metas infer_reflected(const Arguments<ValueMeta>& a) {
    const ValueMeta vectors = a.tensor("input");
    require_matrix(a.schema(), vectors);
    require_reflections(a.schema(), vectors, a.tensor("tau"), rows_of(vectors.sizes));
    if (rows_of(vectors.sizes) < vectors.sizes.back())
        throw Error(a.schema().name + ": found sizes " + to_string(vectors.sizes) +
                    ", expected at least as many rows as columns");
    return {ValueMeta::contiguous(vectors.dtype, vectors.sizes)};
}
Tensors eval_reflected(const Arguments<Tensor>& a) {
    const Tensor vectors = a.tensor("input");
    return in_double(vectors, [&]<class T>(T) -> Tensors {
        Results<T> result(vectors.dtype(), vectors.sizes());
        const Matrix<T> one = Matrix<T>::Identity(rows_of(vectors.sizes()), vectors.sizes().back());
        each_product<T>(vectors, a.tensor("tau"), [&](std::int64_t i, const Reflections<T>& reflections) {
            result.put(i, reflections.times(one, false));
        });
        return {result.tensor()};
    });
}

Metas infer_ormqr(const Arguments<ValueMeta>& a) {
    const ValueMeta vectors = a.tensor("self"), x = a.tensor("input3");
    require_matrix(a.schema(), vectors);
    require_matrix(a.schema(), x);
    require_reflections(a.schema(), vectors, a.tensor("input2"), a.boolean("left") ? rows_of(x.sizes) : x.sizes.back());
    if (batch_of(x.sizes) != batch_of(vectors.sizes) || x.dtype != vectors.dtype)
        throw Error(a.schema().name + ": found reflections of " + std::string(name(vectors.dtype)) +
                    to_string(vectors.sizes) + " for matrices of " + std::string(name(x.dtype)) + to_string(x.sizes) +
                    ", expected the same batch and dtype");
    return {ValueMeta::contiguous(x.dtype, x.sizes)};
}
/// x Q is (Q^H x^H)^H.
Tensors eval_ormqr(const Arguments<Tensor>& a) {
    const Tensor x = a.tensor("input3");
    const bool left = a.boolean("left"), turned = a.boolean("transpose");
    return in_double(x, [&]<class T>(T) -> Tensors {
        Results<T> result(x.dtype(), x.sizes());
        std::vector<Matrix<T>> sides;
        each_matrix<T>(x, [&](std::int64_t, Matrix<T> one) { sides.push_back(std::move(one)); });
        each_product<T>(a.tensor("self"), a.tensor("input2"), [&](std::int64_t i, const Reflections<T>& reflections) {
            const Matrix<T>& side = sides[static_cast<std::size_t>(i)];
            if (left)
                result.put(i, reflections.times(side, turned));
            else
                result.put(i, reflections.times(side.adjoint(), !turned).adjoint());
        });
        return {result.tensor()};
    });
}

// --- Gradients ---

/// x times one reflection.
V reflected(const V& x, const V& vector, const V& factor) {
    return x - matmul(vector * factor, matmul(turned(vector), x));
}

struct Slopes {
    V vectors, factors, x;
};
/// Of Q x, or Q^H x, by the gradient of the result: of each reflection by what those behind it make of x, which is
/// written out.
Slopes slopes_of(const Gradients& c, const V& input, const V& tau, const V& x, V g, bool adjoint) {
    constexpr std::int64_t kMost = 64;
    const std::int64_t n = input.size(-1), count = tau.size(-1);
    if (count > kMost)
        throw Error(c.schema().name + " has a gradient rule only for up to " + std::to_string(kMost) + " reflections");
    if (count == 0) return {zeros_like(input), zeros_like(tau), g};
    const V whole = tril(input, -1) + eye(c.builder(), input.size(-2), n, input.dtype());
    const auto turned_if = [&](const V& value) { return adjoint ? conjugate(value) : value; };
    const auto vector = [&](std::int64_t i) { return sliced(whole, -1, i, i + 1); };
    const auto factor = [&](std::int64_t i) { return turned_if(column(sliced(tau, -1, i, i + 1))); };
    const auto place = [&](std::int64_t step) { return adjoint ? count - 1 - step : step; };  // from the left
    Vs behind = {x};  // of the last ones, first none
    for (std::int64_t step = count - 1; step > 0; --step)
        behind.push_back(reflected(behind.back(), vector(place(step)), factor(place(step))));
    Vs of_vectors(static_cast<std::size_t>(count), g), of_factors = of_vectors;
    for (std::int64_t step = 0; step < count; ++step) {
        const auto i = static_cast<std::size_t>(place(step));
        const V v = vector(place(step)), by = factor(place(step)),
                rest = behind[static_cast<std::size_t>(count - 1 - step)];
        const V along = turned(matmul(turned(v), rest));
        of_factors[i] = turned_if(-matmul(matmul(turned(v), g), along));
        of_vectors[i] = -(matmul(g, along) * conjugate(by)) - matmul(rest, matmul(turned(g), v)) * by;
        g = reflected(g, v, conjugate(by));
    }
    if (count < n) of_vectors.push_back(zeros_like(sliced(input, -1, count, n)));
    return {tril(cat(of_vectors, -1), -1), squeeze(cat(of_factors, -1), -2), g};
}

void product_grad(Gradients& c) {
    c.takes_complex();
    const V input = c.tensor("input");
    const V one = eye(c.builder(), input.size(-2), input.size(-1), input.dtype());
    const Slopes slopes = slopes_of(c, input, c.tensor("tau"), expand(one, input.sizes()), c.grad(), false);
    c.set("input", slopes.vectors);
    c.set("tau", slopes.factors);
}
void ormqr_grad(Gradients& c) {
    c.takes_complex();
    const bool left = c.boolean("left"), adjoint = c.boolean("transpose") == left;
    const auto side = [&](const V& x) { return left ? x : turned(x); };
    const Slopes slopes =
        slopes_of(c, c.tensor("self"), c.tensor("input2"), side(c.tensor("input3")), side(c.grad()), adjoint);
    c.set("self", slopes.vectors);
    c.set("input2", slopes.factors);
    c.set("input3", side(slopes.x));
}

constexpr OpDef kHouseholder[] = {
    primitive("geqrf(Tensor self) -> (Tensor a, Tensor tau)", "R, and the reflections whose product is Q", kDTypes,
              {infer_geqrf, eval_geqrf}, nullptr),
    primitive("linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
              "the first columns of a product of reflections: "
              "https://pytorch.org/docs/stable/generated/torch.linalg.householder_product.html",
              kDTypes, {infer_reflected, eval_reflected}, product_grad),
    primitive("ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
              "a matrix times a product of reflections", kDTypes, {infer_ormqr, eval_ormqr}, ormqr_grad),
};

}  // namespace
}  // namespace whittle::matrices

namespace whittle {

std::span<const OpDef> householder_ops() { return matrices::kHouseholder; }

}  // namespace whittle
