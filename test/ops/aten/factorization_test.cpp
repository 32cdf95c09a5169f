// Vectors of factorizations, whose signs each library chooses: what they are made of, they make again, and they are
// orthonormal.
#include <Eigen/Core>
#include <catch2/catch.hpp>
#include <cmath>

#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/run_op.h"
#include "ops/samples/samples.h"
#include "passes/joint.h"
#include "tensor/compute.h"

namespace whittle {
namespace {

using samples::call_of, samples::t;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<Tensor> factors_of(const std::string& target, const Tensor& a, ArgList rest) {
    rest.insert(rest.begin(), t(0));
    return samples::run_op(target, {a}, rest);
}

/// A matrix, or a vector as a diagonal one.
RowMajor matrix(const Tensor& tensor) {
    const std::vector<double> elements = tensor.values<double>();
    if (tensor.rank() == 1) {
        RowMajor diagonal = RowMajor::Zero(tensor.numel(), tensor.numel());
        for (std::int64_t i = 0; i < tensor.numel(); ++i) diagonal(i, i) = elements[static_cast<std::size_t>(i)];
        return diagonal;
    }
    return Eigen::Map<const RowMajor>(elements.data(), tensor.sizes()[0], tensor.sizes()[1]);
}
void check_near(const RowMajor& found, const RowMajor& expected) {
    REQUIRE(found.rows() == expected.rows());
    REQUIRE(found.cols() == expected.cols());
    CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-12);
}
void check_orthonormal(const RowMajor& columns) {
    check_near(columns.transpose() * columns, RowMajor::Identity(columns.cols(), columns.cols()));
}

TEST_CASE("singular vectors make the matrix again, thin or full", "[ops][linalg]") {
    for (const Sizes& sizes : {Sizes{3, 3}, Sizes{5, 2}, Sizes{2, 4}}) {
        const Tensor a = samples::random(DType::f64, sizes);
        const std::vector<Tensor> thin = factors_of("aten._linalg_svd.default", a, {false, true});
        const RowMajor u = matrix(thin[0]), vh = matrix(thin[2]);
        check_near(u * matrix(thin[1]) * vh, matrix(a));
        check_orthonormal(u);
        check_orthonormal(vh.transpose());
        const std::vector<Tensor> full = factors_of("aten._linalg_svd.default", a, {true, true});
        CHECK(full[0].sizes() == Sizes{sizes[0], sizes[0]});
        CHECK(full[2].sizes() == Sizes{sizes[1], sizes[1]});
        check_orthonormal(matrix(full[0]));
        check_orthonormal(matrix(full[2]).transpose());
    }
}

TEST_CASE("eigenvectors make the symmetric matrix again, of the triangle that is named", "[ops][linalg]") {
    const Tensor a = samples::values(DType::f64, {2, -1, 0.5, 9, 3, 1, 9, 9, 4}, {3, 3});
    RowMajor upper = matrix(a);
    for (Eigen::Index i = 0; i < 3; ++i)
        for (Eigen::Index j = 0; j < i; ++j) upper(i, j) = upper(j, i);
    const std::vector<Tensor> found = factors_of("aten._linalg_eigh.default", a, {"U", true});
    const RowMajor v = matrix(found[1]);
    check_near(v * matrix(found[0]) * v.transpose(), upper);
    check_orthonormal(v);
    CHECK_THROWS(factors_of("aten._linalg_eigh.default", a, {"X", true}));
}

TEST_CASE("L and U make the matrix again, and solve its equations, with rows exchanged or not", "[ops][linalg]") {
    for (const Sizes& sizes : {Sizes{3, 3}, Sizes{5, 2}, Sizes{2, 4}}) {
        const Tensor a = samples::random(DType::f64, sizes);
        for (const bool exchange : {true, false}) {
            const RegisteredOp& op = Registry::instance().require("aten.linalg_lu.default");
            const Sample call = call_of("", {a}, {{"pivot", Arg(exchange)}});
            const std::vector<Tensor> parts = evaluate(graph_of(op, call), call.tensors);
            check_near(matrix(parts[0]) * matrix(parts[1]) * matrix(parts[2]), matrix(a));
            check_orthonormal(matrix(parts[0]));
            if (!exchange) check_near(matrix(parts[0]), RowMajor::Identity(sizes[0], sizes[0]));
        }
    }
    const Tensor factors = samples::values(DType::f64, {1, 2, 3, 4}, {2, 2}),
                 beyond = samples::values(DType::i32, {1, 3}, {2});
    CHECK_THROWS_WITH(samples::run_op("aten.lu_unpack.default", {factors, beyond}, {t(0), t(1)}),
                      Catch::Contains("found the pivot 3, expected 1 to 2"));
}

TEST_CASE("reflections make the matrix again", "[ops][linalg]") {
    const Tensor a = samples::random(DType::f64, {5, 3});
    const std::vector<Tensor> kept = factors_of("aten.geqrf.default", a, {});
    const Tensor q = samples::run_op("aten.linalg_householder_product.default", {kept[0], kept[1]}, {t(0), t(1)}).at(0);
    const RowMajor upper = matrix(kept[0]).topRows(3).triangularView<Eigen::Upper>();
    check_orthonormal(matrix(q));
    check_near(matrix(q) * upper, matrix(a));
    // Q^T A is R.
    const Tensor r = samples::run_op("aten.ormqr.default", {kept[0], kept[1], a}, {t(0), t(1), t(2), true, true}).at(0);
    check_near(matrix(r).topRows(3), upper);
    CHECK(matrix(r).bottomRows(2).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("least squares leave an error that is orthogonal to the matrix, whose square they tell", "[ops][linalg]") {
    const Tensor a = samples::random(DType::f64, {5, 2}, 1), b = samples::random(DType::f64, {5, 3}, 2);
    const RegisteredOp& op = Registry::instance().require("aten.linalg_lstsq.default");
    const auto solved = [&](const Tensor& matrix) {
        const Sample call = call_of("", {matrix, b}, {{"driver", "gelsd"}});
        return evaluate(graph_of(op, call), call.tensors);
    };
    const std::vector<Tensor> found = solved(a);
    const RowMajor rest = matrix(a) * matrix(found[0]) - matrix(b);
    check_near(matrix(a).transpose() * rest, RowMajor::Zero(2, 3));
    for (Eigen::Index i = 0; i < 3; ++i)
        CHECK(found[1].values<double>().at(static_cast<std::size_t>(i)) == Approx(rest.col(i).squaredNorm()));
    CHECK(found[2].item().to_integer() == 2);
    CHECK_THROWS_WITH(solved(samples::values(DType::f64, {1, 2, 2, 4, 3, 6, 4, 8, 5, 10}, {5, 2})),
                      Catch::Contains("found a matrix of rank 1, expected rank 2"));
}

using ComplexMatrix = Eigen::Matrix<Complex128, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

ComplexMatrix complex_matrix(const Tensor& tensor) {
    if (tensor.rank() == 1) return matrix(tensor).cast<Complex128>();
    const std::vector<Complex128> elements = tensor.values<Complex128>();
    return Eigen::Map<const ComplexMatrix>(elements.data(), tensor.sizes()[0], tensor.sizes()[1]);
}

TEST_CASE("equations of symmetric matrices with zeros on the diagonal are solved by pairs of rows", "[ops][linalg]") {
    for (const DType dtype : {DType::f64, DType::c128}) {
        const Tensor x = samples::random(dtype, {5, 5}), b = samples::random(dtype, {5, 2}, 2);
        for (const bool hermitian : {false, true}) {
            const std::vector<std::pair<std::string, Arg>> kwargs = {{"hermitian", Arg(hermitian)}};
            ComplexMatrix a = dtype == DType::f64 ? matrix(x).cast<Complex128>() : complex_matrix(x);
            a.diagonal().setZero();
            for (Eigen::Index i = 0; i < 5; ++i)
                for (Eigen::Index j = 0; j < i; ++j) a(j, i) = hermitian ? std::conj(a(i, j)) : a(i, j);
            const RowMajor real = a.real();
            const Tensor given = dtype == DType::f64
                                     ? store(std::vector<double>(real.data(), real.data() + real.size()), dtype, {5, 5})
                                     : store(std::vector<Complex128>(a.data(), a.data() + a.size()), dtype, {5, 5});
            const std::vector<Tensor> factors =
                samples::run_op("aten.linalg_ldl_factor_ex.default", {given}, {t(0)}, kwargs);
            CHECK(factors[1].values<std::int64_t>().front() < 0);
            const Tensor found = samples::run_op("aten.linalg_ldl_solve.default", {factors[0], factors[1], b},
                                                 {t(0), t(1), t(2)}, kwargs)
                                     .at(0);
            CHECK(
                (a * complex_matrix(found.to(DType::c128)) - complex_matrix(b.to(DType::c128))).cwiseAbs().maxCoeff() <
                1e-10);
        }
    }
    const Tensor factors = samples::values(DType::f64, {1, 2, 3, 4}, {2, 2});
    CHECK_THROWS_WITH(
        samples::run_op("aten.linalg_ldl_solve.default", {factors, samples::values(DType::i32, {1, -2}, {2}), factors},
                        {t(0), t(1), t(2)}),
        Catch::Contains("found the pivot -2 in row 2"));
}

TEST_CASE("factors of complex matrices make them again, and their columns are orthonormal", "[ops][linalg]") {
    const auto near = [](const ComplexMatrix& found, const ComplexMatrix& expected) {
        REQUIRE(found.rows() == expected.rows());
        REQUIRE(found.cols() == expected.cols());
        CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-12);
    };
    const auto orthonormal = [&](const ComplexMatrix& columns) {
        near(columns.adjoint() * columns, ComplexMatrix::Identity(columns.cols(), columns.cols()));
    };
    const Tensor tall = samples::random(DType::c128, {4, 3}), square = samples::random(DType::c128, {3, 3});
    const std::vector<Tensor> svd = factors_of("aten._linalg_svd.default", tall, {false, true});
    near(complex_matrix(svd[0]) * complex_matrix(svd[1]) * complex_matrix(svd[2]), complex_matrix(tall));
    orthonormal(complex_matrix(svd[0]));
    orthonormal(complex_matrix(svd[2]).adjoint());
    const std::vector<Tensor> qr = factors_of("aten.linalg_qr.default", tall, {"reduced"});
    near(complex_matrix(qr[0]) * complex_matrix(qr[1]), complex_matrix(tall));
    orthonormal(complex_matrix(qr[0]));
    for (const std::string triangle : {"L", "U"}) {
        ComplexMatrix hermitian = complex_matrix(square);
        for (Eigen::Index i = 0; i < 3; ++i) {
            hermitian(i, i) = hermitian(i, i).real();
            for (Eigen::Index j = 0; j < i; ++j)
                (triangle == "L" ? hermitian(j, i) : hermitian(i, j)) =
                    std::conj(triangle == "L" ? hermitian(i, j) : hermitian(j, i));
        }
        const std::vector<Tensor> eigh = factors_of("aten._linalg_eigh.default", square, {triangle, true});
        const ComplexMatrix v = complex_matrix(eigh[1]);
        near(v * complex_matrix(eigh[0]) * v.adjoint(), hermitian);
        orthonormal(v);
    }
}

TEST_CASE("eigenvectors are multiplied by their values, of matrices without symmetry, too", "[ops][linalg]") {
    for (const DType dtype : {DType::f64, DType::c128}) {
        const Tensor a = samples::random(dtype, {4, 4});
        const ComplexMatrix given = dtype == DType::f64 ? matrix(a).cast<Complex128>() : complex_matrix(a);
        const std::vector<Tensor> found = factors_of("aten.linalg_eig.default", a, {});
        const ComplexMatrix v = complex_matrix(found[1]);
        const std::vector<Complex128> values = found[0].values<Complex128>();
        for (Eigen::Index i = 0; i < 4; ++i) {
            CHECK((given * v.col(i) - v.col(i) * values[static_cast<std::size_t>(i)]).norm() < 1e-12);
            CHECK(v.col(i).norm() == Approx(1));
        }
    }
    CHECK_THROWS_WITH(
        factors_of("aten.linalg_eig.default", samples::values(DType::f64, {1, std::nan(""), 2, 3}, {2, 2}), {}),
        Catch::Contains("found a matrix with infinities or NaN"));
}

/// Of what does not depend on the vectors' signs: the sum of m times V diag(w) V^T.
TEST_CASE("a gradient through eigenvectors is that of finite differences", "[ops][linalg]") {
    Graph graph = parse(
        "graph g {\n  %a = placeholder[\"a\"] : f64[3, 3]\n  %w = placeholder[\"w\"] : f64[3]\n"
        "  %m = placeholder[\"m\"] : f64[3, 3]\n"
        "  %e = aten._linalg_eigh.default(%a) : (f64[3], f64[3, 3] strides [1, 3])\n"
        "  %v = getitem(%e, 1) : f64[3, 3] strides [1, 3]\n"
        "  %s = aten.mul.Tensor(%v, %w) : f64[3, 3] strides [1, 3]\n"
        "  %t = aten.transpose.int(%v, 0, 1) : f64[3, 3]\n"
        "  %p = aten.matmul.default(%s, %t) : f64[3, 3]\n  %q = aten.mul.Tensor(%p, %m) : f64[3, 3]\n"
        "  %y = aten.sum.default(%q) : f64[]\n  return (%y)\n}\n");
    std::vector<Tensor> inputs = {samples::values(DType::f64, {2, 9, 9, 0.5, 3, 9, -1, 0.25, 5}, {3, 3}),
                                  samples::values(DType::f64, {1, -2, 0.5}), samples::random(DType::f64, {3, 3})};
    const Joint made = joint(graph, {.wanted = std::set<std::string>{"a"}});
    std::vector<Tensor> with_tangent = inputs;
    with_tangent.push_back(samples::values(DType::f64, {1}, {}));
    const RowMajor gradient = matrix(evaluate(made.graph, with_tangent).at(made.outputs));
    const RowMajor a = matrix(inputs[0]);
    for (Eigen::Index i = 0; i < 3; ++i)
        for (Eigen::Index j = 0; j <= i; ++j) {  // the triangle that is read stands for both
            const auto at = [&](double by) {
                RowMajor moved = a;
                moved(i, j) += by;
                inputs[0] = Tensor::of(std::vector<double>(moved.data(), moved.data() + 9), {3, 3});
                return evaluate(graph, inputs).at(0).item().to_double();
            };
            const double slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            CHECK((i == j ? gradient(i, i) : gradient(i, j) + gradient(j, i)) == Approx(slope).margin(1e-7));
        }
}

TEST_CASE("a matrix that is singular or not positive definite is told, and refused where asked", "[ops][linalg]") {
    const Tensor singular = samples::values(DType::f64, {1, 2, 2, 4}, {2, 2});
    const Tensor indefinite = samples::values(DType::f64, {1, 2, 2, 1}, {2, 2});
    CHECK(factors_of("aten.linalg_lu_factor_ex.default", singular, {})[2].item().to_integer() == 2);
    CHECK(factors_of("aten.linalg_inv_ex.default", singular, {})[1].item().to_integer() == 2);
    CHECK(factors_of("aten.linalg_cholesky_ex.default", indefinite, {})[1].item().to_integer() == 2);
    CHECK(factors_of("aten._linalg_det.default", singular, {})[0].item().to_double() == 0);
    const RegisteredOp& op = Registry::instance().require("aten.linalg_cholesky_ex.default");
    const Sample asked = call_of("", {indefinite}, {{"check_errors", Arg(true)}});
    CHECK_THROWS_WITH(evaluate(graph_of(op, asked), asked.tensors),
                      Catch::Contains("not positive definite at pivot 2"));
}

}  // namespace
}  // namespace whittle
