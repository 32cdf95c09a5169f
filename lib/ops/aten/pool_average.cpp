// Means over windows, in one to three dimensions; windows of a fixed size or of the size that a wanted output needs.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.AvgPool2d.html
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/pooling.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using namespace aten;

using expr::Index;

// ---- eval ----

template <class T>
T divided_by_count(T sum, std::int64_t count) {
    return sum / static_cast<T>(count);  // integers truncate, as in ATen
}

std::vector<Tensor> means(const Tensor& self, const Average& average) {
    const Pooling& pooling = average.pooling;
    const std::vector<std::int64_t> offsets = pooling.offsets();
    const auto places = static_cast<std::size_t>(pooling.window.places());
    std::vector<std::int64_t> counts(places, 1);
    for (std::size_t place = 0; place < places; place++) {
        const Sizes p = coordinates(static_cast<std::int64_t>(place), pooling.window.out);
        for (std::size_t d = 0; d < p.size(); d++) counts[place] *= average.count(d, p[d]);
        if (average.divisor) counts[place] = *average.divisor;
    }
    return visit_accumulator(self.dtype(), [&](auto zero) -> std::vector<Tensor> {
        using T = decltype(zero);
        using Sum = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, double>;  // integers wrap
        const auto image = Elements<T>::contiguous(self);
        std::vector<T> result;
        result.reserve(places * static_cast<std::size_t>(pooling.planes));
        std::vector<Sum> sums(places);
        for (std::int64_t plane = 0; plane < pooling.planes; plane++) {
            const T* elements = image.data() + plane * element_count(pooling.window.in);
            std::ranges::fill(sums, Sum{0});
            for (std::size_t tap = 0; tap < offsets.size(); tap += places)
                for (std::size_t place = 0; place < places; place++)
                    if (const std::int64_t offset = offsets[tap + place]; offset >= 0)
                        sums[place] += static_cast<Sum>(elements[offset]);
            for (std::size_t place = 0; place < places; place++)
                result.push_back(divided_by_count(static_cast<T>(sums[place]), counts[place]));
        }
        return {store(result, self.dtype(), pooling.sizes)};
    });
}

// ---- lower ----

/// Average::count() of dimension d at index `place`: a constant where all places have one count.
Expr lower_count(const Average& average, std::size_t d, const Expr& place) {
    const Window& w = average.pooling.window;
    bool constant = true;
    for (std::int64_t p = 1; p < w.out[d]; p++) constant = constant && average.count(d, p) == average.count(d, 0);
    if (constant) return expr::index(w.out[d] > 0 ? average.count(d, 0) : 1);
    if (average.pooling.adaptive) {
        const Expr in = expr::index(w.in[d]), out = expr::index(w.out[d]);
        return ((place + expr::index(1)) * in + expr::index(w.out[d] - 1)) / out - place * in / out;
    }
    const std::int64_t margin = average.count_padding ? w.padding[d] : 0;
    const Expr start = place * expr::index(w.stride[d]) - expr::index(w.padding[d]);
    const Expr end = expr::min(start + expr::index(w.kernel[d]), expr::index(w.in[d] + margin));
    return expr::max(end - expr::max(start, expr::index(-margin)), expr::index(1));
}

/// sum / count, truncating for integers, whose division in expressions rounds down for positive divisors.
Expr lower_quotient(const Expr& sum, const Expr& count) {
    const Expr divisor = expr::cast(sum->dtype, count);
    if (is_floating(sum->dtype)) return sum / divisor;
    const Expr zero = expr::constant(sum->dtype, Scalar(0));
    return expr::select(sum < zero, zero - (zero - sum) / divisor, sum / divisor);
}

std::vector<expr::Value> lower_means(expr::GroupBuilder& builder, const Average& average, const expr::Value& self) {
    const Pooling& pooling = average.pooling;
    const DType dtype = accumulator_dtype(self.dtype(), element_count(pooling.window.kernel));
    const WindowReader reader(builder, pooling, self, dtype, Scalar(0));
    const auto zero = [=](const Index&) { return expr::constant(dtype, Scalar(0)); };
    const expr::Value sum = reduction_stage(
        builder, dtype, pooling.sizes, pooling.window.kernel, zero,
        [=](const Index& i, const Index& r, const Expr& so_far) { return so_far + reader.element(i, r); });
    const expr::Value mean(dtype, pooling.sizes, [=](const Index& i) {
        const std::size_t spatial = average.pooling.window.in.size();
        Expr count = expr::index(average.divisor.value_or(1));
        if (!average.divisor)
            for (std::size_t d = 0; d < spatial; d++)
                count = count * lower_count(average, d, i[i.size() - spatial + d]);
        return lower_quotient(sum(i), count);
    });
    return {convert(self.dtype(), mean)};
}

// ---- the ops ----

template <int Rank, bool Adaptive = false>
std::vector<ValueMeta> infer_average(const Arguments<ValueMeta>& args) {
    return {ValueMeta::contiguous(args.tensor("self").dtype, average_of<Rank, Adaptive>(args).pooling.sizes)};
}

template <int Rank, bool Adaptive = false>
std::vector<Tensor> eval_average(const Arguments<Tensor>& args) {
    return means(args.tensor("self"), average_of<Rank, Adaptive>(args));
}

template <int Rank, bool Adaptive = false>
std::vector<expr::Value> lower_average(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    return lower_means(builder, average_of<Rank, Adaptive>(args), args.tensor("self"));
}

/// DivisorFn.
template <int Rank, bool Adaptive>
std::int64_t largest_power_of_two_count(const Arguments<Tensor>& args) {
    const Average average = average_of<Rank, Adaptive>(args);
    const auto is_power = [](std::int64_t count) { return std::has_single_bit(static_cast<std::uint64_t>(count)); };
    if (average.divisor) {
        const std::int64_t divisor = std::abs(*average.divisor);
        return is_power(divisor) ? divisor : 0;
    }
    std::int64_t largest = 1;
    const Sizes& out = average.pooling.window.out;
    for (std::size_t d = 0; d < out.size(); d++) {
        std::int64_t most = 1;
        for (std::int64_t place = 0; place < out[d]; place++) {
            const std::int64_t count = average.count(d, place);
            if (!is_power(count)) return 0;
            most = std::max(most, count);
        }
        largest *= most;
    }
    return largest;
}

/// adaptive_avg_poolNd is _adaptive_avg_poolNd.
CallResults decompose_adaptive(const Call& c) {
    const Arg sizes = Arg::ints(c.integers("output_size"));
    return c.builder().call("aten._" + c.schema().name + ".default", {c.tensor("self"), sizes});
}

// --- Gradients ---

V avg_pool_grad(const OfSelf& r) {
    const auto ints = [&](const char* name) { return Arg::ints(r.call.integers(name)); };
    const std::optional<std::int64_t> divisor = r.call.optional_integer("divisor_override");
    return backward_op(r, {ints("kernel_size"), ints("stride"), ints("padding"), r.call.boolean("ceil_mode"),
                           r.call.boolean("count_include_pad"), divisor ? Arg(*divisor) : Arg()});
}
/// Of images of height 1.
V avg_pool1d_grad(const OfSelf& r) {
    const auto image = [](const V& v) { return unsqueeze(v, -2); };
    const auto row = [&](const char* name, std::int64_t height) {
        const Ints given = r.call.integers(name);
        return given.empty() ? Ints() : Ints{height, given[0]};
    };
    const V gradient =
        avg_pool2d_backward(image(r.g), image(r.x), row("kernel_size", 1), row("stride", 1), row("padding", 0),
                            r.call.boolean("ceil_mode"), r.call.boolean("count_include_pad"), {});
    return squeeze(gradient, -2);
}
V adaptive_avg_pool_grad(const OfSelf& r) { return backward_op(r); }
/// Of images of height 1.
V adaptive_avg_pool1d_grad(const OfSelf& r) {
    const auto image = [](const V& v) { return unsqueeze(v, -2); };
    const V gradient = _adaptive_avg_pool2d_backward(image(r.g), image(r.x));
    return squeeze(gradient, -2);
}

template <int Rank, bool Adaptive = false>
constexpr OpDef avg_pool_op(std::string_view schema) {
    constexpr GradientRule kOfLine = Adaptive ? adaptive_avg_pool1d_grad : avg_pool1d_grad;
    constexpr GradientRule kOfImage = Adaptive ? adaptive_avg_pool_grad : avg_pool_grad;
    return {.doc = Adaptive ? "Means of windows for a given output size; "
                              "pytorch.org/docs/stable/nn.html#pooling-layers"
                            : "Means of windows; pytorch.org/docs/stable/nn.html#pooling-layers",
            .schema = schema,
            .dtypes = Adaptive ? kFloating : kFloating | set_of(DType::i64),  // as ATen's CPU kernels
            .infer = infer_average<Rank, Adaptive>,
            .eval = eval_average<Rank, Adaptive>,
            .lower = lower_average<Rank, Adaptive>,
            .grad = Rank == 1 ? kOfLine : kOfImage,
            .bound = means_by(largest_power_of_two_count<Rank, Adaptive>)};
}
constexpr OpDef adaptive_op(std::string_view schema) {
    return composite(schema, "Means of windows for a given output size; pytorch.org/docs/stable/nn.html#pooling-layers",
                     kFloating, decompose_adaptive);
}

constexpr OpDef kAvgPoolOps[] = {
    avg_pool_op<1>("avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool "
                   "ceil_mode=False, bool count_include_pad=True) -> Tensor"),
    avg_pool_op<2>("avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool "
                   "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"),
    avg_pool_op<3>("avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool "
                   "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"),
    avg_pool_op<1, true>("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor"),
    avg_pool_op<2, true>("_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"),
    avg_pool_op<3, true>("_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"),
    adaptive_op("adaptive_avg_pool{2|3}d(Tensor self, SymInt[{2|3}] output_size) -> Tensor"),
};

}  // namespace

std::span<const OpDef> avg_pool_ops() { return kAvgPoolOps; }

}  // namespace whittle
