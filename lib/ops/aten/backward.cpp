// Gradients as LibTorch's autograd computes them, with its names: of activation functions, softmax, embeddings,
// slices and diagonals. All are composites.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#include "ops/aten/open_rules.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

CallResults decompose_threshold_backward(const Call& c) {
    const V grad = c.tensor("grad_output");
    const V below = le(c.tensor("self"), c.scalar("threshold"));
    return masked_fill(grad, below, 0);
}

/// grad * (1 - y) * y, in this order, which decides what overflows
CallResults decompose_sigmoid_backward(const Call& c) {
    const V y = c.tensor("output");
    return c.tensor("grad_output") * complement(y) * y;
}

/// grad * (1 - y^2)
CallResults decompose_tanh_backward(const Call& c) {
    const V y = c.tensor("output");
    return c.tensor("grad_output") * complement(y * y);
}

/// Of x * cdf(x): cdf(x) + x * pdf(x); of the tanh form by the chain rule.
CallResults decompose_gelu_backward(const Call& c) {
    const V x = c.tensor("self"), grad = c.tensor("grad_output");
    const V square = x * x;
    const std::string form = c.text("approximate");
    if (form == "none") {
        const V erf = aten::erf(x * (1 / std::numbers::sqrt2));
        const V cdf = (erf + 1) * 0.5;
        const V exponential = exp(square * -0.5);
        const V pdf = exponential * (1 / std::sqrt(2 * std::numbers::pi));
        return grad * (cdf + x * pdf);
    }
    if (form != "tanh") throw Error("gelu_backward: found approximate='" + form + "', expected 'none' or 'tanh'");
    constexpr double kCubic = 0.044715;
    const double scale = std::sqrt(2 / std::numbers::pi);
    const V inner = (x + square * x * kCubic) * scale;
    const V tanh = aten::tanh(inner);
    const V slope = (square * (3 * kCubic) + 1) * scale;
    const V outer = complement(tanh * tanh) * slope * x;
    return grad * ((tanh + 1 + outer) * 0.5);
}

/// y * (grad - sum(grad * y))
CallResults softmax_backward(const Call& c) {
    const V y = c.tensor("output"), weighted = c.tensor("grad_output") * y;
    const V total = summed(weighted, Ints{c.integer("dim")}, true);
    const V result = weighted - y * total;
    return as(result, c.dtype("input_dtype").value_or(result.dtype()));
}

/// grad - exp(y) * sum(grad)
CallResults log_softmax_backward(const Call& c) {
    const V grad = c.tensor("grad_output");
    const V shares = exp(c.tensor("output"));
    const V result = grad - shares * summed(grad, Ints{c.integer("dim")}, true);
    return as(result, c.dtype("input_dtype").value_or(result.dtype()));
}

/// Rows of the gradient, added up where their index is, or their mean where that is asked for.
CallResults embedding_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), indices = c.tensor("indices");
    if (grad.sizes().empty())
        throw Error("embedding_dense_backward: found a 0-d gradient, expected at least one dimension");
    const std::int64_t width = grad.sizes().back(), count = indices.numel(), padding = c.integer("padding_idx");
    V rows = reshaped(grad, Ints{count, width});
    const V at = reshaped(indices, Ints{count});
    if (padding >= 0) {
        const V skipped = eq(at, padding);
        rows = masked_fill(rows, unsqueeze(skipped, 1), 0);
    }
    if (c.boolean("scale_grad_by_freq")) {
        const DType wide = compute_dtype(grad.dtype());
        const V ones = aten::ones(c.builder(), Ints{count}, wide);
        const V none = aten::zeros(c.builder(), Ints{c.integer("num_weights")}, wide);
        const V counts = index_add(none, 0, at, ones);
        const V own = index_select(counts, 0, at);
        rows = as(rows / reshaped(own, Ints{count, 1}), grad.dtype());
    }
    const V zeros = aten::zeros(c.builder(), Ints{c.integer("num_weights"), width}, grad.dtype());
    return index_add(zeros, 0, at, rows);
}

CallResults decompose_select_backward(const Call& c) {
    const V grad = c.tensor("grad_output");
    const V zeros = aten::zeros(c.builder(), c.integers("input_sizes"), grad.dtype());
    return select_scatter(zeros, grad, c.integer("dim"), c.integer("index"));
}

CallResults decompose_slice_backward(const Call& c) {
    const V grad = c.tensor("grad_output");
    const V zeros = aten::zeros(c.builder(), c.integers("input_sizes"), grad.dtype());
    return slice_scatter(zeros, grad, c.integer("dim"), c.integer("start"), c.integer("end"), c.integer("step"));
}

/// The diagonal of the elements' numbers says where they came from.
CallResults decompose_diagonal_backward(const Call& c) {
    const V grad = c.tensor("grad_output");
    const Sizes sizes = c.integers("input_sizes");
    const V range = arange(c.builder(), element_count(sizes), DType::i64);
    const V at = diagonal(reshaped(range, sizes), c.integer("offset"), c.integer("dim1"), c.integer("dim2"));
    return add_at(grad, at, sizes);
}

/// Each element gets the gradients of the windows that show it, whose elements are the last dimension.
CallResults decompose_unfold_backward(const Call& c) {
    const V grad = c.tensor("grad_in");
    Sizes sizes = c.integers("input_sizes");
    if (sizes.empty()) return own_copy(reshaped(grad, {}));
    const std::int64_t dim = wrap_dim(c.integer("dim"), sizes);
    const std::int64_t size = c.integer("size"), step = c.integer("step");
    const auto d = static_cast<std::size_t>(dim);
    Sizes expected = sizes;
    expected[d] = step < 1 || size < 0 || size > sizes[d] ? -1 : (sizes[d] - size) / step + 1;
    expected.push_back(size);
    if (grad.sizes() != expected)
        throw Error("unfold_backward: found a gradient of sizes " + to_string(grad.sizes()) + " for input_sizes=" +
                    to_string(sizes) + ", size=" + std::to_string(size) + " and step=" + std::to_string(step) +
                    ", expected the sizes that unfold returns for these arguments");
    const std::int64_t windows = expected[d];
    const DType dtype = compute_dtype(grad.dtype());
    const V zeros = aten::zeros(c.builder(), sizes, dtype);
    const V range = arange(c.builder(), sizes[d], DType::i64);
    const V at = reshaped(unfold(range, 0, size, step), Ints{windows * size});
    sizes[d] = windows * size;
    const V beside = movedim(grad, -1, dim + 1);
    const V wide = as(reshaped(beside, sizes), dtype);
    return as(index_add(zeros, dim, at, wide), grad.dtype());
}

}  // namespace

std::span<const OpDef> backward_ops() {
    static const OpDef ops[] = {
        composite(
            "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
            "the gradient of threshold and relu: https://pytorch.org/docs/stable/generated/torch.nn.Threshold.html",
            kFloating, decompose_threshold_backward),
        composite("sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
                  "grad * y * (1 - y), where y is the result of sigmoid: "
                  "https://pytorch.org/docs/stable/generated/torch.sigmoid.html",
                  kFloating, decompose_sigmoid_backward),
        composite("tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
                  "grad * (1 - y^2), where y is the result of tanh: "
                  "https://pytorch.org/docs/stable/generated/torch.tanh.html",
                  kFloating, decompose_tanh_backward),
        composite("gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
                  "the gradient of gelu: https://arxiv.org/abs/1606.08415", kFloating, decompose_gelu_backward),
        composite(
            "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
            "y * (grad - sum(grad * y)): https://pytorch.org/docs/stable/generated/torch.nn.Softmax.html", kFloating,
            softmax_backward),
        composite(
            "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
            "grad - exp(y) * sum(grad): https://pytorch.org/docs/stable/generated/torch.nn.LogSoftmax.html", kFloating,
            log_softmax_backward),
        composite(
            "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool "
            "scale_grad_by_freq) -> Tensor",
            "the gradient of embedding's weight: https://pytorch.org/docs/stable/generated/torch.nn.Embedding.html",
            kFloating, embedding_backward, {.ask = aten_open::counted_rows}),
        composite("select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor",
                  "zeros with the gradient at an index: https://pytorch.org/docs/stable/generated/torch.select.html",
                  kFloating | kComplex, decompose_select_backward),
        composite(
            "slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) "
            "-> Tensor",
            "zeros with the gradient in a slice: https://pytorch.org/docs/stable/generated/torch.slice_scatter.html",
            kFloating | kComplex, decompose_slice_backward),
        composite("unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor",
                  "for each element, the sum of the gradients of the windows that contain the element: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.unfold.html",
                  kFloating | kComplex, decompose_unfold_backward),
        composite(
            "diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor",
            "zeros with the gradient on a diagonal: "
            "https://pytorch.org/docs/stable/generated/torch.diagonal_scatter.html",
            kFloating | kComplex, decompose_diagonal_backward),
    };
    return ops;
}

}  // namespace whittle
