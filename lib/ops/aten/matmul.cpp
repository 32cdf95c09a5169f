// Matrix products of fixed ranks: the primitives that matmul, linear, attention and einsum decompose to.
// Definitions: https://pytorch.org/docs/stable/torch.html#blas-and-lapack-operations

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using expr::Index;

/// result[batch, m, n] = sum over k of a[batch, m, k] b[batch, k, n], of which a product has the dimensions that its
/// operands' ranks imply: matrices have no batch, a vector a is a row and a vector b a column.
struct Product {
    DType dtype = DType::f32;
    std::int64_t rank_a = 0, rank_b = 0;
    std::int64_t batch = 1, m = 1, n = 1, k = 0;
    Sizes sizes = {};  ///< of the result

    /// What the lowering adds in.
    DType sum() const { return accumulator_dtype(dtype, k); }
};

Product product_of(const std::string& op, const ValueMeta& a, const ValueMeta& b, std::int64_t rank_a,
                   std::int64_t rank_b) {
    const auto found = [&] { return op + ": found " + to_string(a.sizes) + " times " + to_string(b.sizes); };
    const auto rank = [](const ValueMeta& meta) { return static_cast<std::int64_t>(meta.sizes.size()); };
    check_same_dtype(op, a.dtype, "the second operand", b.dtype);
    if (rank(a) != rank_a || rank(b) != rank_b)
        throw Error(found() + ", expected ranks " + std::to_string(rank_a) + " and " + std::to_string(rank_b),
                    "use aten.matmul.default, which takes operands of all ranks");
    Product p{a.dtype, rank_a, rank_b};
    p.k = a.sizes.back();
    if (rank_a == 3) p.sizes.push_back(p.batch = a.sizes[0]);
    if (rank_a >= 2) p.sizes.push_back(p.m = a.sizes[a.sizes.size() - 2]);
    if (rank_b >= 2) p.sizes.push_back(p.n = b.sizes.back());
    if (rank_b == 3 && b.sizes[0] != p.batch) throw Error(found() + ", expected equal batch sizes");
    const std::int64_t k = b.sizes[b.sizes.size() - (rank_b == 1 ? 1 : 2)];
    if (k != p.k) throw Error(found() + ", expected equal inner sizes");
    return p;
}

/// Row-major results.
template <class T>
std::vector<T> multiply(const Product& p, const Tensor& a, const Tensor& b) {
    const Elements<T> left(a), right(b);
    std::vector<T> result(static_cast<std::size_t>(p.batch * p.m * p.n));
    if (a.numel() == 0 || b.numel() == 0) return result;  // sums of nothing, if there are any
    for (std::int64_t i = 0; i < p.batch; i++) {
        MatrixView<T> l{left.data(), p.m, p.k, 0, left.stride(p.rank_a - 1)};
        if (p.rank_a >= 2) l.row_stride = left.stride(p.rank_a - 2);
        if (p.rank_a == 3) l.data += i * left.stride(0);
        MatrixView<T> r{right.data(), p.k, p.n, 0, 0};
        r.row_stride = right.stride(p.rank_b == 1 ? 0 : p.rank_b - 2);
        if (p.rank_b >= 2) r.col_stride = right.stride(p.rank_b - 1);
        if (p.rank_b == 3) r.data += i * right.stride(0);
        gemm(l, r, result.data() + i * p.m * p.n, p.n);
    }
    return result;
}

/// The sum of products as a stage of the accumulator's dtype, started at `init`.
expr::Value lower_product(expr::GroupBuilder& builder, const Product& p, const expr::Value& a, const expr::Value& b,
                          const std::function<Expr(const Index&)>& init) {
    const DType sum = p.sum();
    const expr::Value left = loadable(builder, a), right = loadable(builder, b);
    return reduction_stage(builder, sum, p.sizes, {p.k}, init, [=](const Index& i, const Index& r, const Expr& self) {
        Index at_a, at_b;
        std::size_t next = 0;
        if (p.rank_a == 3) at_a.push_back(i[next++]);
        at_b = at_a;
        if (p.rank_a >= 2) at_a.push_back(i[next++]);
        at_a.push_back(r[0]);
        at_b.push_back(r[0]);
        if (p.rank_b >= 2) at_b.push_back(i[next++]);
        return self + expr::cast(sum, left(at_a)) * expr::cast(sum, right(at_b));
    });
}

// ---- mm, bmm, mv, dot ----

template <int RankA, int RankB, class T>
Product plain_product(const Arguments<T>& args) {
    const std::string &a = args.schema().params[0].name, &b = args.schema().params[1].name;
    return product_of(args.schema().name, meta_of(args.tensor(a)), meta_of(args.tensor(b)), RankA, RankB);
}

template <int RankA, int RankB>
std::vector<ValueMeta> infer_product(const Arguments<ValueMeta>& args) {
    return {result_meta(plain_product<RankA, RankB>(args))};
}

template <int RankA, int RankB>
std::vector<Tensor> eval_product(const Arguments<Tensor>& args) {
    const Product p = plain_product<RankA, RankB>(args);
    const Tensor a = args.tensor(args.schema().params[0].name), b = args.tensor(args.schema().params[1].name);
    return visit_product(p.dtype, [&](auto zero) -> std::vector<Tensor> {
        return {store(multiply<decltype(zero)>(p, a, b), p.dtype, p.sizes)};
    });
}

template <int RankA, int RankB>
std::vector<expr::Value> lower_plain(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    const Product p = plain_product<RankA, RankB>(args);
    const expr::Value a = args.tensor(args.schema().params[0].name), b = args.tensor(args.schema().params[1].name);
    const auto zero = [=](const Index&) { return expr::constant(p.sum(), Scalar(0)); };
    return {convert(p.dtype, lower_product(builder, p, a, b, zero))};
}

// ---- addmm, baddbmm, addmv: beta self + alpha (a b) ----

struct AddProduct {
    Product product;
    Scalar beta = Scalar(1), alpha = Scalar(1);
    bool ignores_self = false;  ///< beta = 0 drops even NaN and infinities, as in BLAS
};

template <int RankA, int RankB, class T>
AddProduct add_product(const Arguments<T>& args) {
    const Schema& schema = args.schema();
    const ValueMeta self = meta_of(args.tensor("self"));
    AddProduct result;
    result.product = product_of(schema.name, meta_of(args.tensor(schema.params[1].name)),
                                meta_of(args.tensor(schema.params[2].name)), RankA, RankB);
    const Product& p = result.product;
    check_same_dtype(schema.name, p.dtype, "self", self.dtype);
    if (!expands_to(self.sizes, p.sizes))
        throw Error(schema.name + ": found 'self' of sizes " + to_string(self.sizes) +
                    ", expected sizes that expand to " + to_string(p.sizes));
    result.beta = args.scalar("beta");
    result.alpha = args.scalar("alpha");
    if (!is_inexact(p.dtype) && (result.beta.is_floating() || result.alpha.is_floating()))
        throw Error(schema.name + ": found a floating-point '" + (result.beta.is_floating() ? "beta" : "alpha") +
                    "', expected an integer for operands of dtype " + std::string(name(p.dtype)));
    result.ignores_self = result.beta.to_double() == 0;
    return result;
}

template <int RankA, int RankB>
std::vector<ValueMeta> infer_add(const Arguments<ValueMeta>& args) {
    return {result_meta(add_product<RankA, RankB>(args).product)};
}

template <int RankA, int RankB>
std::vector<Tensor> eval_add(const Arguments<Tensor>& args) {
    const AddProduct add = add_product<RankA, RankB>(args);
    const Product& p = add.product;
    const Tensor a = args.tensor(args.schema().params[1].name), b = args.tensor(args.schema().params[2].name);
    return visit_product(p.dtype, [&](auto zero) -> std::vector<Tensor> {
        using T = decltype(zero);
        // Unsigned arithmetic wraps; signed overflow would be undefined.
        using Wide = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>;
        const auto wide = [](const Scalar& s) {
            return static_cast<Wide>(std::is_integral_v<T> ? static_cast<T>(s.to_integer())
                                                           : static_cast<T>(s.to_double()));
        };
        const Wide alpha = wide(add.alpha), beta = wide(add.beta);
        std::vector<T> result = multiply<T>(p, a, b);
        for (T& element : result) element = static_cast<T>(alpha * static_cast<Wide>(element));
        if (!add.ignores_self) {
            const std::vector<T> self = load_broadcast<T>(args.tensor("self"), p.sizes);
            for (std::size_t i = 0; i < result.size(); i++)
                result[i] = static_cast<T>(static_cast<Wide>(result[i]) + beta * static_cast<Wide>(self[i]));
        }
        return {store(result, p.dtype, p.sizes)};
    });
}

/// beta self, or zero.
std::function<Expr(const Index&)> scaled_self(const AddProduct& add, const expr::Value& self) {
    const DType sum = add.product.sum();
    if (add.ignores_self) return [=](const Index&) { return expr::constant(sum, Scalar(0)); };
    const expr::Value start = convert(sum, broadcast(self, add.product.sizes));
    return [=](const Index& i) { return start(i) * expr::constant(sum, add.beta); };
}

template <int RankA, int RankB>
std::vector<expr::Value> lower_add(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    const AddProduct add = add_product<RankA, RankB>(args);
    const Product& p = add.product;
    const DType sum = p.sum();
    const expr::Value a = args.tensor(args.schema().params[1].name), b = args.tensor(args.schema().params[2].name);
    const auto start = scaled_self(add, args.tensor("self"));
    if (add.alpha.to_double() == 1) return {convert(p.dtype, lower_product(builder, p, a, b, start))};

    const auto zero = [=](const Index&) { return expr::constant(sum, Scalar(0)); };
    const expr::Value product = lower_product(builder, p, a, b, zero);
    const expr::Value result(sum, p.sizes,
                             [=](const Index& i) { return start(i) + product(i) * expr::constant(sum, add.alpha); });
    return {convert(p.dtype, result)};
}

// --- Gradients ---

using namespace aten;

/// A matrix whose columns lie in memory as rows would: the transpose of one, such as a layer's weight.
bool is_transposed(const V& matrix) {
    const ValueMeta& meta = matrix.meta;
    return meta.strides[0] == 1 && meta.strides[1] == meta.sizes[0];
}

/// The gradients of a product of two operands, scaled. A gradient is made in the layout of its operand.
struct ProductGradients {
    ProductGradients(Gradients& call, std::string_view left_name, std::string_view right_name)
        : c(call), left(left_name), right(right_name) {
        c.takes_complex();
        if (c.schema().param("alpha")) alpha = c.scalar("alpha");
    }

    void set_matrices() const {
        const V x = conjugate(c.tensor(left)), y = conjugate(c.tensor(right)), g = c.grad();
        if (c.needed(left)) c.set(left, scaled(is_transposed(x) ? t(mm(y, t(g))) : mm(g, t(y)), alpha));
        if (c.needed(right)) c.set(right, scaled(is_transposed(y) ? t(mm(t(g), x)) : mm(t(x), g), alpha));
    }
    void set_batches() const {
        const V x = conjugate(c.tensor(left)), y = conjugate(c.tensor(right)), g = c.grad();
        if (c.needed(left)) c.set(left, scaled(bmm(g, transpose(y, 1, 2)), alpha));
        if (c.needed(right)) c.set(right, scaled(bmm(transpose(x, 1, 2), g), alpha));
    }
    void set_vector() const {
        const V matrix = conjugate(c.tensor(left)), vector = conjugate(c.tensor(right)), g = c.grad();
        if (c.needed(left)) c.set(left, scaled(unsqueeze(g, 1) * vector, alpha));
        if (c.needed(right)) c.set(right, scaled(mv(t(matrix), g), alpha));
    }
    void set_added() const {
        if (c.needed("self")) c.set("self", scaled(c.grad(), c.scalar("beta")));
    }

    Gradients& c;
    std::string_view left, right;
    Scalar alpha = Scalar(1);
};

void mm_grad(Gradients& c) { ProductGradients(c, "self", "mat2").set_matrices(); }
void bmm_grad(Gradients& c) { ProductGradients(c, "self", "mat2").set_batches(); }
void mv_grad(Gradients& c) { ProductGradients(c, "self", "vec").set_vector(); }
void dot_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", conjugate(c.tensor("tensor")) * c.grad());
    if (c.needed("tensor")) c.set("tensor", conjugate(c.tensor("self")) * c.grad());
}
void addmm_grad(Gradients& c) {
    const ProductGradients product(c, "mat1", "mat2");
    product.set_added();
    product.set_matrices();
}
void baddbmm_grad(Gradients& c) {
    const ProductGradients product(c, "batch1", "batch2");
    product.set_added();
    product.set_batches();
}
void addmv_grad(Gradients& c) {
    const ProductGradients product(c, "mat", "vec");
    product.set_added();
    product.set_vector();
}

constexpr OpDef kMatmulOps[] = {
    primitive("mm(Tensor self, Tensor mat2) -> Tensor", "Product of two matrices", kNumbers | kComplex,
              {infer_product<2, 2>, eval_product<2, 2>, lower_plain<2, 2>}, mm_grad, kBoundSums),
    primitive("bmm(Tensor self, Tensor mat2) -> Tensor", "Products of two batches of matrices", kNumbers | kComplex,
              {infer_product<3, 3>, eval_product<3, 3>, lower_plain<3, 3>}, bmm_grad, kBoundSums),
    primitive("mv(Tensor self, Tensor vec) -> Tensor", "Product of a matrix and a vector", kNumbers | kComplex,
              {infer_product<2, 1>, eval_product<2, 1>, lower_plain<2, 1>}, mv_grad, kBoundSums),
    primitive("dot(Tensor self, Tensor tensor) -> Tensor", "Inner product of two vectors", kNumbers | kComplex,
              {infer_product<1, 1>, eval_product<1, 1>, lower_plain<1, 1>}, dot_grad, kBoundSums),
    primitive("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
              "beta self + alpha (mat1 mat2); beta = 0 ignores self", kNumbers | kComplex,
              {infer_add<2, 2>, eval_add<2, 2>, lower_add<2, 2>}, addmm_grad, kBoundSums),
    primitive("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
              "beta self + alpha (batch1 batch2)", kNumbers | kComplex,
              {infer_add<3, 3>, eval_add<3, 3>, lower_add<3, 3>}, baddbmm_grad, kBoundSums),
    primitive("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
              "beta self + alpha (mat vec)", kNumbers | kComplex, {infer_add<2, 1>, eval_add<2, 1>, lower_add<2, 1>},
              addmv_grad, kBoundSums),
};

}  // namespace

std::span<const OpDef> matmul_ops() { return kMatmulOps; }

}  // namespace whittle
