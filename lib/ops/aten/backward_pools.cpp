// Gradients of pooling as LibTorch's autograd computes them, with its names. All are composites.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#include "ops/aten/families.h"
#include "ops/aten/linear_map.h"
#include "ops/aten/pooling.h"
#include "ops/core/samples.h"

namespace whittle {
namespace {

using samples::t;

[[noreturn]] void refuse_gradient(const std::string& op, const NodeValue& grad, const NodeValue& x) {
    throw Error(op + ": found a gradient of sizes " + to_string(grad.meta.sizes) + " for an operand of sizes " +
                to_string(x.meta.sizes) + ", expected images of as many channels");
}

/// Whether both have the images' rank, and the same leading dimensions.
bool fit(const NodeValue& grad, const NodeValue& x, std::size_t rank) {
    const Sizes &a = grad.meta.sizes, &b = x.meta.sizes;
    return a.size() == b.size() && (b.size() == rank + 1 || b.size() == rank + 2) &&
           std::equal(a.begin(), a.end() - static_cast<std::ptrdiff_t>(rank), b.begin());
}

/// Each gradient added up where its maximum was.
template <std::size_t Rank>
Refs max_pool_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue grad = a.tensor("grad_output"), x = a.tensor("self"), at = a.tensor("indices");
    if (!fit(grad, x, Rank) || at.meta.sizes != grad.meta.sizes) refuse_gradient(a.schema().name, grad, x);
    const Sizes flat = flat_sizes(x.meta.sizes, Rank), rows = flat_sizes(grad.meta.sizes, Rank);
    const NodeValue added = g.call("aten.scatter_add.default",
                                   {arg(g.zeros(flat, grad.meta.dtype)), static_cast<std::int64_t>(flat.size()) - 1,
                                    arg(g.reshape(at, rows)), arg(g.reshape(grad, rows))});
    return {g.reshape(added, x.meta.sizes).ref};
}

/// Each window hands its gradient to its elements, in equal parts.
Refs spread_over_windows(const Gradient& g, const std::string& op, const NodeValue& grad, const NodeValue& x,
                         const Average& average) {
    const Window& w = average.pooling.window;
    if (grad.meta.sizes != average.pooling.sizes) refuse_gradient(op, grad, x);
    std::vector<LinearMap> maps;
    for (std::size_t d = 0; d < w.in.size(); ++d) {
        maps.push_back({w.out[d], w.in[d]});
        for (std::int64_t place = 0; place < w.out[d]; ++place) {
            const std::int64_t slid = place * w.stride[d] - w.padding[d];
            const std::int64_t start = average.pooling.adaptive ? average.pooling.start(d, place) : slid;
            const std::int64_t end = average.pooling.adaptive ? average.pooling.end(d, place) : slid + w.kernel[d];
            const double share = average.divisor ? 1 : 1 / static_cast<double>(average.count(d, place));
            for (std::int64_t at = std::max<std::int64_t>(start, 0); at < std::min(end, w.in[d]); ++at)
                maps.back().add(place, at, share);
        }
    }
    const NodeValue whole = apply_all(g, grad, maps);
    return {average.divisor ? g.div(whole, Arg(static_cast<double>(*average.divisor))).ref : whole.ref};
}

template <int Rank>
Refs avg_pool_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return spread_over_windows(Gradient(b), a.schema().name, a.tensor("grad_output"), a.tensor("self"),
                               average_of<Rank, false>(a));
}

template <std::size_t Rank>
Refs adaptive_avg_pool_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue grad = a.tensor("grad_output"), x = a.tensor("self");
    if (!fit(grad, x, Rank)) refuse_gradient(a.schema().name, grad, x);
    const Sizes out(grad.meta.sizes.end() - static_cast<std::ptrdiff_t>(Rank), grad.meta.sizes.end());
    return spread_over_windows(Gradient(b), a.schema().name, grad, x,
                               {adaptive_pooling(a.schema().name, x.meta, Rank, out)});
}

// --- Samples ---

Arg each(std::size_t rank, std::int64_t value) { return Arg::ints(Sizes(rank, value)); }
Sizes image(std::size_t rank, std::int64_t size) {
    Sizes sizes = {2, 2};
    sizes.resize(rank + 2, size);
    return sizes;
}

/// The operand, gradients and positions that overlap in some places; the arguments between self and indices.
std::vector<Sample> max_samples(DType dtype, std::size_t rank, const ArgList& between) {
    std::vector<Sample> result;
    const auto add = [&](const std::string& label, const Tensor& grad, const Tensor& x) {
        std::int64_t area = 1;
        for (std::size_t d = x.sizes().size() - rank; d < x.sizes().size(); ++d) area *= x.sizes()[d];
        const Tensor at = samples::uniform(DType::i64, grad.sizes(), 0, static_cast<double>(area), 3);
        ArgList args = {t(0), t(1)};
        args.insert(args.end(), between.begin(), between.end());
        args.push_back(t(2));
        result.push_back({label, {grad, x, at}, args});
    };
    const Tensor grad = samples::random(dtype, image(rank, 2)), x = samples::random(dtype, image(rank, 4), 2);
    Sizes none = image(rank, 2), nothing = image(rank, 4);
    none[0] = nothing[0] = 0;
    add("batch", grad, x);
    const Sizes one = image(rank, 2), whole = image(rank, 4);
    add("no batch", samples::random(dtype, Sizes(one.begin() + 1, one.end())),
        samples::random(dtype, Sizes(whole.begin() + 1, whole.end()), 2));
    add("transposed", samples::transposed(grad), samples::transposed(x));
    add("one number", samples::expanded(samples::random(dtype, {}), image(rank, 2)), x);
    add("empty batch", samples::random(dtype, none), samples::random(dtype, nothing, 2));
    return result;
}

template <std::size_t Rank>
std::vector<Sample> max_pool_samples(DType dtype) {
    return max_samples(dtype, Rank, {each(Rank, 2), each(Rank, 2), each(Rank, 0), each(Rank, 1), false});
}
template <std::size_t Rank>
std::vector<Sample> adaptive_max_samples(DType dtype) {
    return max_samples(dtype, Rank, {});
}

/// Windows that overlap find the same elements.
std::vector<Sample> max_pool2d_samples(DType dtype) {
    std::vector<Sample> result = max_pool_samples<2>(dtype);
    const Tensor same = samples::values(
        DType::i64, {5, 5, 5, 6, 5, 5, 5, 6, 9, 9, 9, 10, 5, 2, 1, 0, 11, 11, 11, 0, 1, 1, 1, 1}, {2, 3, 4});
    result.push_back({"overlapping",
                      {samples::random(dtype, {2, 3, 4}), samples::random(dtype, {2, 3, 4}, 2), same},
                      {t(0), t(1), each(2, 3), each(2, 1), each(2, 1), each(2, 1), false, t(2)}});
    return result;
}

std::vector<Sample> avg_pool2d_samples(DType dtype) {
    const Tensor x = samples::random(dtype, {1, 2, 5, 4}, 2), grad = samples::random(dtype, {1, 2, 3, 2});
    const auto pair = [](std::int64_t value) { return each(2, value); };
    const ArgList padded = {t(0), t(1), pair(3), pair(2), pair(1), false, true, Arg()};
    return {{"padded", {grad, x}, padded},
            {"not counting padding", {grad, x}, {t(0), t(1), pair(3), pair(2), pair(1), false, false, Arg()}},
            {"a rest",
             {samples::random(dtype, {2, 2, 2}), samples::random(dtype, {2, 5, 4}, 2)},
             {t(0), t(1), pair(2), Arg::ints({}), pair(0), false, true, Arg(3)}},
            {"ceil", {grad, x}, {t(0), t(1), pair(2), pair(2), pair(0), true, true, Arg()}},
            {"ceil, not counting padding",
             {samples::random(dtype, {1, 2, 3, 3}), x},
             {t(0), t(1), pair(3), pair(2), pair(1), true, false, Arg()}},
            {"transposed", {samples::transposed(grad), samples::transposed(x)}, padded},
            {"one number", {samples::expanded(samples::random(dtype, {}), {1, 2, 3, 2}), x}, padded}};
}

std::vector<Sample> avg_pool3d_samples(DType dtype) {
    std::vector<Sample> result;
    const Tensor x = samples::random(dtype, {1, 2, 5, 4, 3}, 2);
    const auto add = [&](const std::string& label, const Tensor& grad, std::int64_t kernel, const ArgList& stride,
                         std::int64_t padding, bool ceil, bool count_padding, const Arg& divisor) {
        result.push_back(
            {label, {grad, x}, {t(0), t(1), each(3, kernel), stride, each(3, padding), ceil, count_padding, divisor}});
    };
    const Tensor padded = samples::random(dtype, {1, 2, 3, 2, 2});
    add("padded", padded, 3, {2, 2, 2}, 1, false, true, Arg());
    add("not counting padding", padded, 3, {2, 2, 2}, 1, false, false, Arg());
    add("divisor", padded, 3, {2, 2, 2}, 1, false, true, 5);
    add("negative divisor", padded, 3, {2, 2, 2}, 1, false, false, -2);
    add("default stride", samples::random(dtype, {1, 2, 2, 2, 1}), 2, {}, 0, false, true, Arg());
    add("ceil", samples::random(dtype, {1, 2, 3, 2, 2}), 2, {2, 2, 2}, 0, true, true, Arg());
    add("ceil, not counting padding", samples::random(dtype, {1, 2, 3, 3, 2}), 3, {2, 2, 2}, 1, true, false, Arg());
    add("transposed", samples::transposed(padded), 3, {2, 2, 2}, 1, false, true, Arg());
    add("one number", samples::expanded(samples::random(dtype, {}), {1, 2, 3, 2, 2}), 3, {2, 2, 2}, 1, false, true,
        Arg());
    return result;
}

template <std::size_t Rank>
std::vector<Sample> adaptive_avg_samples(DType dtype) {
    std::vector<Sample> result;
    const Tensor x = samples::random(dtype, image(Rank, 5), 2);
    const auto add = [&](const std::string& label, const Tensor& grad, const Tensor& of) {
        result.push_back({label, {grad, of}, {t(0), t(1)}});
    };
    for (const std::int64_t size : {1, 3, 7})
        add("to " + std::to_string(size), samples::random(dtype, image(Rank, size)), x);
    const Sizes one = image(Rank, 2), whole = image(Rank, 5);
    add("no batch", samples::random(dtype, Sizes(one.begin() + 1, one.end())),
        samples::random(dtype, Sizes(whole.begin() + 1, whole.end()), 2));
    add("transposed", samples::transposed(samples::random(dtype, image(Rank, 3))), samples::transposed(x));
    add("one number", samples::expanded(samples::random(dtype, {}), image(Rank, 3)), x);
    return result;
}

}  // namespace

std::span<const OpDef> pool_backward_ops() {
    static const OpDef ops[] = {
        {.name = "aten.max_pool2d_with_indices_backward.default",
         .doc =
             "the gradient where each maximum was: https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html",
         .schema = "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] "
                   "stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor",
         .dtypes = kFloating,
         .decompose = max_pool_backward<2>,
         .samples = max_pool2d_samples},
        {.name = "aten.max_pool3d_with_indices_backward.default",
         .doc =
             "the gradient where each maximum was: https://pytorch.org/docs/stable/generated/torch.nn.MaxPool3d.html",
         .schema = "max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] "
                   "stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor",
         .dtypes = kFloating,
         .decompose = max_pool_backward<3>,
         .samples = max_pool_samples<3>},
        {.name = "aten.adaptive_max_pool2d_backward.default",
         .doc = "the gradient where each maximum was: "
                "https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool2d.html",
         .schema = "adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
         .dtypes = kFloating,
         .decompose = max_pool_backward<2>,
         .samples = adaptive_max_samples<2>},
        {.name = "aten.adaptive_max_pool3d_backward.default",
         .doc = "the gradient where each maximum was: "
                "https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveMaxPool3d.html",
         .schema = "adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor",
         .dtypes = kFloating,
         .decompose = max_pool_backward<3>,
         .samples = adaptive_max_samples<3>},
        {.name = "aten.avg_pool2d_backward.default",
         .doc =
             "the gradient spread over each window: https://pytorch.org/docs/stable/generated/torch.nn.AvgPool2d.html",
         .schema = "avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] "
                   "padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
         .dtypes = kFloating,
         .decompose = avg_pool_backward<2>,
         .samples = avg_pool2d_samples},
        {.name = "aten.avg_pool3d_backward.default",
         .doc =
             "the gradient spread over each window: https://pytorch.org/docs/stable/generated/torch.nn.AvgPool3d.html",
         .schema = "avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] "
                   "padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
         .dtypes = kFloating,
         .decompose = avg_pool_backward<3>,
         .samples = avg_pool3d_samples},
        {.name = "aten._adaptive_avg_pool2d_backward.default",
         .doc = "the gradient spread over each window: "
                "https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool2d.html",
         .schema = "_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
         .dtypes = kFloating,
         .decompose = adaptive_avg_pool_backward<2>,
         .samples = adaptive_avg_samples<2>},
        {.name = "aten._adaptive_avg_pool3d_backward.default",
         .doc = "the gradient spread over each window: "
                "https://pytorch.org/docs/stable/generated/torch.nn.AdaptiveAvgPool3d.html",
         .schema = "_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor",
         .dtypes = kFloating,
         .decompose = adaptive_avg_pool_backward<3>,
         .samples = adaptive_avg_samples<3>},
    };
    return ops;
}

}  // namespace whittle
