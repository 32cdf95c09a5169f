// Gradients as LibTorch's autograd computes them, with its names: of activation functions, softmax, embeddings,
// slices and diagonals. All are composites.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#include "ops/aten/backward.h"
#include "ops/aten/open_rules.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/own_copy.h"
#include "ops/aten/view_grad.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {

namespace {

Refs threshold_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue grad = a.tensor("grad_output");
    const NodeValue below = b.call("aten.le.Scalar", {arg(a.tensor("self")), Arg(a.scalar("threshold"))});
    return {b.call("aten.masked_fill.Scalar", {arg(grad), arg(below), 0}).ref};
}

/// grad * (1 - y) * y, in this order, which decides what overflows
Refs sigmoid_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue y = a.tensor("output");
    return {g.mul(g.mul(a.tensor("grad_output"), g.complement(y)), y).ref};
}

/// grad * (1 - y^2)
Refs tanh_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue y = a.tensor("output");
    return {g.mul(a.tensor("grad_output"), g.complement(g.mul(y, y))).ref};
}

/// Of x * cdf(x): cdf(x) + x * pdf(x); of the tanh form by the chain rule.
Refs gelu_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), grad = a.tensor("grad_output");
    const NodeValue square = g.mul(x, x);
    const std::string form = a.text("approximate");
    if (form == "none") {
        const NodeValue erf = g.call("aten.erf.default", {arg(g.mul(x, Arg(1 / std::numbers::sqrt2)))});
        const NodeValue cdf = g.mul(g.add(erf, 1), Arg(0.5));
        const NodeValue exponential = g.call("aten.exp.default", {arg(g.mul(square, Arg(-0.5)))});
        const NodeValue pdf = g.mul(exponential, Arg(1 / std::sqrt(2 * std::numbers::pi)));
        return {g.mul(grad, g.add(cdf, g.mul(x, pdf))).ref};
    }
    if (form != "tanh") throw Error("gelu_backward: found approximate='" + form + "', expected 'none' or 'tanh'");
    constexpr double kCubic = 0.044715;
    const double scale = std::sqrt(2 / std::numbers::pi);
    const NodeValue inner = g.mul(g.add(x, g.mul(g.mul(square, x), Arg(kCubic))), Arg(scale));
    const NodeValue tanh = g.call("aten.tanh.default", {arg(inner)});
    const NodeValue slope = g.mul(g.add(g.mul(square, Arg(3 * kCubic)), 1), Arg(scale));
    const NodeValue outer = g.mul(g.mul(g.complement(g.mul(tanh, tanh)), slope), x);
    return {g.mul(grad, g.mul(g.add(g.add(tanh, 1), outer), Arg(0.5))).ref};
}

/// y * (grad - sum(grad * y))
Refs softmax_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue y = a.tensor("output"), weighted = g.mul(a.tensor("grad_output"), y);
    const NodeValue total = g.sum(weighted, {a.integer("dim")}, true);
    const NodeValue result = g.sub(weighted, g.mul(y, total));
    return {g.as(result, a.dtype("input_dtype").value_or(result.meta.dtype)).ref};
}

/// grad - exp(y) * sum(grad)
Refs log_softmax_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_output");
    const NodeValue shares = g.call("aten.exp.default", {arg(a.tensor("output"))});
    const NodeValue result = g.sub(grad, g.mul(shares, g.sum(grad, {a.integer("dim")}, true)));
    return {g.as(result, a.dtype("input_dtype").value_or(result.meta.dtype)).ref};
}

/// Rows of the gradient, added up where their index is, or their mean where that is asked for.
Refs embedding_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_output"), indices = a.tensor("indices");
    if (grad.meta.sizes.empty())
        throw Error("embedding_dense_backward: found a 0-d gradient, expected at least one dimension");
    const std::int64_t width = grad.meta.sizes.back(), count = indices.meta.numel(), padding = a.integer("padding_idx");
    NodeValue rows = g.reshape(grad, {count, width});
    const NodeValue at = g.reshape(indices, {count});
    if (padding >= 0) {
        const NodeValue skipped = b.call("aten.eq.Scalar", {arg(at), padding});
        rows =
            b.call("aten.masked_fill.Scalar", {arg(rows), arg(b.call("aten.unsqueeze.default", {arg(skipped), 1})), 0});
    }
    if (a.boolean("scale_grad_by_freq")) {
        const DType wide = compute_dtype(grad.meta.dtype);
        const NodeValue ones = b.call("aten.ones.default", {Arg::ints({count})}, {{"dtype", wide}});
        const NodeValue none = g.zeros({a.integer("num_weights")}, wide);
        const NodeValue counts = b.call("aten.index_add.default", {arg(none), 0, arg(at), arg(ones)});
        const NodeValue own = b.call("aten.index_select.default", {arg(counts), 0, arg(at)});
        rows = g.as(g.div(rows, arg(g.reshape(own, {count, 1}))), grad.meta.dtype);
    }
    const NodeValue zeros = g.zeros({a.integer("num_weights"), width}, grad.meta.dtype);
    return {b.call("aten.index_add.default", {arg(zeros), 0, arg(at), arg(rows)}).ref};
}

Refs select_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue grad = a.tensor("grad_output");
    const NodeValue zeros = Gradient(b).zeros(a.integers("input_sizes"), grad.meta.dtype);
    return {b.call("aten.select_scatter.default", {arg(zeros), arg(grad), a.integer("dim"), a.integer("index")}).ref};
}

Refs slice_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue grad = a.tensor("grad_output");
    const NodeValue zeros = Gradient(b).zeros(a.integers("input_sizes"), grad.meta.dtype);
    return {b.call("aten.slice_scatter.default",
                   {arg(zeros), arg(grad), a.integer("dim"), a.integer("start"), a.integer("end"), a.integer("step")})
                .ref};
}

/// The diagonal of the elements' numbers says where they came from.
Refs diagonal_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_output");
    const Sizes sizes = a.integers("input_sizes");
    const NodeValue range = b.call("aten.arange.default", {element_count(sizes)}, {{"dtype", DType::i64}});
    const NodeValue at = b.call("aten.diagonal.default", {arg(g.reshape(range, sizes)), a.integer("offset"),
                                                          a.integer("dim1"), a.integer("dim2")});
    return {add_at(g, grad, at, sizes).ref};
}

/// Each element gets the gradients of the windows that show it, whose elements are the last dimension.
Refs unfold_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_in");
    Sizes sizes = a.integers("input_sizes");
    if (sizes.empty()) return {own_copy(b, g.reshape(grad, {})).ref};
    const std::int64_t dim = wrap_dim(a.integer("dim"), static_cast<std::int64_t>(sizes.size()));
    const std::int64_t size = a.integer("size"), step = a.integer("step");
    const auto d = static_cast<std::size_t>(dim);
    Sizes expected = sizes;
    expected[d] = step < 1 || size < 0 || size > sizes[d] ? -1 : (sizes[d] - size) / step + 1;
    expected.push_back(size);
    if (grad.meta.sizes != expected)
        throw Error("unfold_backward: found a gradient of sizes " + to_string(grad.meta.sizes) + " for input_sizes=" +
                    to_string(sizes) + ", size=" + std::to_string(size) + " and step=" + std::to_string(step) +
                    ", expected the sizes that unfold returns for these arguments");
    const std::int64_t windows = expected[d];
    const DType dtype = compute_dtype(grad.meta.dtype);
    const NodeValue zeros = g.zeros(sizes, dtype);
    const NodeValue range = b.call("aten.arange.default", {sizes[d]}, {{"dtype", DType::i64}});
    const NodeValue at = g.reshape(g.call("aten.unfold.default", {arg(range), 0, size, step}), {windows * size});
    sizes[d] = windows * size;
    const NodeValue beside = g.call("aten.movedim.int", {arg(grad), -1, dim + 1});
    const NodeValue wide = g.as(g.reshape(beside, sizes), dtype);
    return {g.as(g.call("aten.index_add.default", {arg(zeros), dim, arg(at), arg(wide)}), grad.meta.dtype).ref};
}

}  // namespace

std::span<const OpDef> backward_ops() {
    static const OpDef ops[] = {
        {.name = "aten.threshold_backward.default",
         .doc = "the gradient of threshold and relu: https://pytorch.org/docs/stable/generated/torch.nn.Threshold.html",
         .schema = "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
         .dtypes = kFloating,
         .decompose = threshold_backward},
        {.name = "aten.sigmoid_backward.default",
         .doc = "grad * y * (1 - y), of sigmoid's result: https://pytorch.org/docs/stable/generated/torch.sigmoid.html",
         .schema = "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
         .dtypes = kFloating,
         .decompose = sigmoid_backward},
        {.name = "aten.tanh_backward.default",
         .doc = "grad * (1 - y^2), of tanh's result: https://pytorch.org/docs/stable/generated/torch.tanh.html",
         .schema = "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
         .dtypes = kFloating,
         .decompose = tanh_backward},
        {.name = "aten.gelu_backward.default",
         .doc = "the gradient of gelu: https://arxiv.org/abs/1606.08415",
         .schema = "gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
         .dtypes = kFloating,
         .decompose = gelu_backward},
        {.name = "aten._softmax_backward_data.default",
         .doc = "y * (grad - sum(grad * y)): https://pytorch.org/docs/stable/generated/torch.nn.Softmax.html",
         .schema =
             "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
         .dtypes = kFloating,
         .decompose = softmax_backward},
        {.name = "aten._log_softmax_backward_data.default",
         .doc = "grad - exp(y) * sum(grad): https://pytorch.org/docs/stable/generated/torch.nn.LogSoftmax.html",
         .schema =
             "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
         .dtypes = kFloating,
         .decompose = log_softmax_backward},
        {.name = "aten.embedding_dense_backward.default",
         .doc = "the gradient of embedding's weight: https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html",
         .schema = "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt "
                   "padding_idx, bool scale_grad_by_freq) -> Tensor",
         .dtypes = kFloating,
         .decompose = embedding_backward,
         .open = {.ask = aten_open::counted_rows}},
        {.name = "aten.select_backward.default",
         .doc = "zeros with the gradient at an index: https://pytorch.org/docs/stable/generated/torch.select.html",
         .schema = "select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
         .dtypes = kFloating | kComplex,
         .decompose = select_backward},
        {.name = "aten.slice_backward.default",
         .doc =
             "zeros with the gradient in a slice: https://pytorch.org/docs/stable/generated/torch.slice_scatter.html",
         .schema = "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt "
                   "step) -> Tensor",
         .dtypes = kFloating | kComplex,
         .decompose = slice_backward},
        {.name = "aten.unfold_backward.default",
         .doc = "the sum of the windows' gradients for each element: "
                "https://pytorch.org/docs/stable/generated/torch.Tensor.unfold.html",
         .schema = "unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
         .dtypes = kFloating | kComplex,
         .decompose = unfold_backward},
        {.name = "aten.diagonal_backward.default",
         .doc = "zeros with the gradient on a diagonal: "
                "https://pytorch.org/docs/stable/generated/torch.diagonal_scatter.html",
         .schema =
             "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
         .dtypes = kFloating | kComplex,
         .decompose = diagonal_backward},
    };
    return ops;
}

}  // namespace whittle
