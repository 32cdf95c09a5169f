// Convolution in one to three dimensions, with groups, dilation and its transpose: one primitive.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.Conv2d.html and ConvTranspose2d.html
#include <algorithm>

#include "base/checked.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/core/gemm.h"
#include "ops/core/window.h"

namespace whittle {
namespace {

using expr::Index;

/// One convolution. `window.in` is always the array that taps fall on and `window.out` the places windows are laid at:
/// input and output of a convolution, output and input of a transposed one.
struct Convolution {
    DType dtype = DType::f32;
    bool transposed = false, bias = false;
    std::int64_t batch = 0, groups = 1;
    std::int64_t in_channels = 0, out_channels = 0;  ///< of one group
    Window window = {};
    Sizes sizes = {};  ///< of the result

    /// What the lowering adds in.
    DType sum() const { return accumulator_dtype(dtype, in_channels * element_count(window.kernel)); }
    const Sizes& image() const { return transposed ? window.out : window.in; }   ///< spatial sizes of the input
    const Sizes& result() const { return transposed ? window.in : window.out; }  ///< spatial sizes of the result
};

/// Output sizes of one dimension; https://pytorch.org/docs/stable/generated/torch.nn.ConvTranspose2d.html
std::int64_t result_size(const Window& w, std::size_t d, bool transposed, std::int64_t image, std::int64_t extra) {
    const Checked padding = Checked(2) * w.padding[d], kernel = Checked(w.dilation[d]) * (w.kernel[d] - 1) + 1;
    if (transposed) return ((Checked(image) - 1) * w.stride[d] - padding + kernel + extra).value();
    const Checked padded = image + padding;
    return padded < kernel ? -1 : ((padded - kernel) / w.stride[d] + 1).value();
}

void check_operands(const std::string& op, const Convolution& c, const ValueMeta& input, const ValueMeta& weight,
                    const std::optional<ValueMeta>& bias) {
    const std::string found = op + ": found input " + to_string(input.sizes) + ", weight " + to_string(weight.sizes) +
                              ", groups=" + std::to_string(c.groups);
    if (c.groups < 1) throw Error(found + ", expected groups of at least 1");
    if (weight.sizes[0] < c.groups || weight.sizes[0] % c.groups != 0)
        throw Error(found + ", expected the first size of the weight to be a positive multiple of groups");
    const std::int64_t channels = c.transposed ? weight.sizes[0] : (Checked(weight.sizes[1]) * c.groups).value();
    if (input.sizes[1] != channels)
        throw Error(found + ", expected an input with " + std::to_string(channels) + " channels");
    for (const std::int64_t size : c.window.kernel)
        if (size < 1) throw Error(found + ", expected a weight with kernel sizes of at least 1");
    check_same_dtype(op, input.dtype, "weight", weight.dtype);
    if (!bias) return;
    check_same_dtype(op, input.dtype, "bias", bias->dtype);
    if (bias->sizes != Sizes{c.out_channels * c.groups})
        throw Error(found + ", bias " + to_string(bias->sizes) + ", expected a bias of sizes " +
                    to_string(Sizes{c.out_channels * c.groups}));
}

Convolution convolution_of(const AnyArguments auto& args) {
    const std::string& op = args.schema().name;
    const ValueMeta input = meta_of(args.tensor("input")), weight = meta_of(args.tensor("weight"));
    const std::int64_t rank = static_cast<std::int64_t>(input.sizes.size()) - 2;
    if (rank < 1 || rank > 3 || weight.sizes.size() != input.sizes.size())
        throw Error(op + ": found input " + to_string(input.sizes) + " and weight " + to_string(weight.sizes) +
                    ", expected equal ranks, from 3 to 5");
    Convolution c;
    c.dtype = input.dtype;
    c.transposed = args.boolean("transposed");
    c.batch = input.sizes[0];
    c.groups = args.integer("groups");
    c.window.kernel = Sizes(weight.sizes.begin() + 2, weight.sizes.end());
    const std::int64_t groups = std::max<std::int64_t>(c.groups, 1);
    c.in_channels = c.transposed ? weight.sizes[0] / groups : weight.sizes[1];
    c.out_channels = c.transposed ? weight.sizes[1] : weight.sizes[0] / groups;
    std::optional<ValueMeta> bias;
    if (const auto given = args.optional_tensor("bias")) bias = meta_of(*given);
    c.bias = bias.has_value();
    check_operands(op, c, input, weight, bias);

    const Sizes ones(static_cast<std::size_t>(rank), 1), zeros(static_cast<std::size_t>(rank), 0);
    Window& w = c.window;
    w.stride = window_parameter(op, "stride", args.integers("stride"), rank, ones, 1);
    w.padding = window_parameter(op, "padding", args.integers("padding"), rank, zeros, 0);
    w.dilation = window_parameter(op, "dilation", args.integers("dilation"), rank, ones, 1);
    const Sizes extra = window_parameter(op, "output_padding", args.integers("output_padding"), rank, zeros, 0);
    const Sizes image(input.sizes.begin() + 2, input.sizes.end());
    Sizes result;
    for (std::size_t d = 0; d < image.size(); d++) {
        if (extra[d] != 0 && (!c.transposed || extra[d] >= std::max(w.stride[d], w.dilation[d])))
            throw Error(op + ": found output_padding=" + to_string(extra) +
                        ", expected 0 or, for a transposed convolution, less than the larger of stride and dilation");
        result.push_back(result_size(w, d, c.transposed, image[d], extra[d]));
        if (result[d] < (c.transposed || image[d] == 0 ? 0 : 1))
            throw Error(op + ": found input " + to_string(input.sizes) + " and kernel " + to_string(w.kernel) +
                        ", expected a kernel that fits the padded input");
    }
    w.in = c.transposed ? result : image;
    w.out = c.transposed ? image : result;
    c.sizes = {c.batch, (Checked(c.out_channels) * c.groups).value()};
    c.sizes.insert(c.sizes.end(), result.begin(), result.end());
    return c;
}

std::vector<ValueMeta> infer_convolution(const Arguments<ValueMeta>& args) {
    return {result_meta(convolution_of(args))};
}

// ---- eval: im2col, or its adjoint, around a matrix product ----

/// What a call of the kernels works on; pointers are to row-major arrays.
template <class T>
struct Buffers {
    const T* input;
    const T* weight;
    T* result;  ///< holds the bias already
};

/// Places handled at once, so that the matrix of columns stays in a cache.
std::int64_t block_of(std::int64_t rows, std::int64_t places) {
    constexpr std::int64_t kElements = 1 << 18;
    return std::clamp<std::int64_t>(kElements / std::max<std::int64_t>(rows, 1), 64,
                                    std::max<std::int64_t>(places, 64));
}

/// One image, one group: result[o, place] += sum over rows of weight[o, row] columns[row, place], row = (channel, tap).
template <class T>
void convolve(const Convolution& c, const std::vector<std::int64_t>& offsets, const Buffers<T>& at) {
    const std::int64_t taps = c.window.taps(), places = c.window.places();
    const std::int64_t positions = element_count(c.window.in), rows = c.in_channels * taps;
    const MatrixView<T> weight{at.weight, c.out_channels, rows, rows, 1};
    const bool pointwise = taps == 1 && c.window.in == c.window.out;
    if (pointwise)  // the columns are the image itself
        return gemm({weight}, {at.input, rows, places, places, 1}, at.result, places, true);
    const std::int64_t block = block_of(rows, places);
    std::vector<T> columns(static_cast<std::size_t>(rows * std::min(block, places)));
    for (std::int64_t first = 0; first < places; first += block) {
        const std::int64_t count = std::min(block, places - first);
        T* column = columns.data();
        for (std::int64_t channel = 0; channel < c.in_channels; channel++)
            for (std::int64_t tap = 0; tap < taps; tap++) {
                const T* image = at.input + channel * positions;
                const std::int64_t* offset = offsets.data() + tap * places + first;
                for (std::int64_t p = 0; p < count; p++) *column++ = offset[p] < 0 ? T{0} : image[offset[p]];
            }
        gemm(weight, {columns.data(), rows, count, count, 1}, at.result + first, places, true);
    }
}

/// The adjoint: columns = weight^T input, each added to the position its tap falls on.
template <class T>
void convolve_transposed(const Convolution& c, const std::vector<std::int64_t>& offsets, const Buffers<T>& at) {
    using Wide = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>;  // integers wrap
    const std::int64_t taps = c.window.taps(), places = c.window.places();
    const std::int64_t positions = element_count(c.window.in), rows = c.out_channels * taps;
    const MatrixView<T> weight{at.weight, rows, c.in_channels, 1, rows};
    const std::int64_t block = block_of(rows, places);
    std::vector<T> columns(static_cast<std::size_t>(rows * std::min(block, places)));
    for (std::int64_t first = 0; first < places; first += block) {
        const std::int64_t count = std::min(block, places - first);
        gemm(weight, {at.input + first, c.in_channels, count, places, 1}, columns.data(), count);
        const T* column = columns.data();
        for (std::int64_t channel = 0; channel < c.out_channels; channel++)
            for (std::int64_t tap = 0; tap < taps; tap++) {
                T* image = at.result + channel * positions;
                const std::int64_t* offset = offsets.data() + tap * places + first;
                for (std::int64_t p = 0; p < count; p++, column++)
                    if (offset[p] >= 0)
                        image[offset[p]] =
                            static_cast<T>(static_cast<Wide>(image[offset[p]]) + static_cast<Wide>(*column));
            }
    }
}

template <class T>
std::vector<T> start_at_bias(const Convolution& c, const std::optional<Tensor>& bias) {
    std::vector<T> result(static_cast<std::size_t>(element_count(c.sizes)), T{0});
    if (!bias) return result;
    const std::vector<T> values = bias->values<T>();
    const std::int64_t plane = element_count(c.result());
    for (std::size_t i = 0; i < result.size(); i++)
        result[i] = values[static_cast<std::size_t>(static_cast<std::int64_t>(i) / plane) % values.size()];
    return result;
}

std::vector<Tensor> eval_convolution(const Arguments<Tensor>& args) {
    const Convolution c = convolution_of(args);
    const std::vector<std::int64_t> offsets = window_offsets(c.window);
    return visit_product(c.dtype, [&](auto zero) -> std::vector<Tensor> {
        using T = decltype(zero);
        const auto input = Elements<T>::contiguous(args.tensor("input"));
        const auto weight = Elements<T>::contiguous(args.tensor("weight"));
        std::vector<T> result = start_at_bias<T>(c, args.optional_tensor("bias"));
        const std::int64_t input_step = c.in_channels * element_count(c.image());
        const std::int64_t weight_step = c.in_channels * c.out_channels * c.window.taps();
        const std::int64_t result_step = c.out_channels * element_count(c.result());
        for (std::int64_t i = 0; i < c.batch * c.groups; i++) {
            const Buffers<T> at{input.data() + i * input_step, weight.data() + i % c.groups * weight_step,
                                result.data() + i * result_step};
            c.transposed ? convolve_transposed(c, offsets, at) : convolve(c, offsets, at);
        }
        return {store(result, c.dtype, c.sizes)};
    });
}

// ---- lower: one sum over channels and taps, started at the bias; transposed, a sum over channels, then over taps ----

/// Channel `inner` of the group that result channel `o` belongs to.
Expr input_channel(const Convolution& c, const Expr& o, const Expr& inner) {
    return c.groups == 1 ? inner : o / expr::index(c.out_channels) * expr::index(c.in_channels) + inner;
}

using Start = std::function<Expr(const Index&)>;
using Update = std::function<Expr(const Index&, const Index&, Expr)>;

Update convolution_update(const Convolution& c, const expr::Value& image, const expr::Value& weight) {
    const DType sum = c.sum();
    return [=](const Index& i, const Index& r, const Expr& self) {
        Index at_image = {i[0], input_channel(c, i[1], r[0])}, at_weight = {i[1]};
        for (std::size_t d = 0; d < c.window.in.size(); d++)
            at_image.push_back(window_position(c.window, d, i[d + 2], r[d + 1]));
        at_weight.insert(at_weight.end(), r.begin(), r.end());
        return self + expr::cast(sum, image(at_image)) * expr::cast(sum, weight(at_weight));
    };
}

/// What tap t makes of place q of the image, i = [batch, group, t…, channel, q…], of one of the group's input channels.
using TapProduct = std::function<Expr(const Index& i, const Expr& inner)>;

Sizes sizes_of_products(const Convolution& c) {
    Sizes sizes = {c.batch, c.groups};
    sizes.insert(sizes.end(), c.window.kernel.begin(), c.window.kernel.end());
    sizes.push_back(c.out_channels);
    sizes.insert(sizes.end(), c.window.out.begin(), c.window.out.end());
    return sizes;
}

/// The weight of [taps…, input channel, channel]: in the order in which sums read it.
expr::Value by_taps(const Convolution& c, const expr::Value& weight, DType dtype) {
    Sizes sizes = c.window.kernel;
    sizes.insert(sizes.end(), {weight.sizes()[0], c.out_channels});
    return {dtype, sizes, [=](const Index& i) {
                Index at(i.end() - 2, i.end());
                at.insert(at.end(), i.begin(), i.end() - 2);
                return expr::cast(dtype, weight(at));
            }};
}

TapProduct tap_product(const Convolution& c, const expr::Value& image, const expr::Value& weight, DType dtype) {
    return [=](const Index& i, const Expr& inner) {
        const auto taps = i.begin() + 2, channel = taps + static_cast<std::ptrdiff_t>(c.window.in.size());
        const Expr from = c.groups == 1 ? inner : i[1] * expr::index(c.in_channels) + inner;
        Index at_image = {i[0], from}, at_weight(taps, channel);
        at_image.insert(at_image.end(), channel + 1, i.end());
        at_weight.insert(at_weight.end(), {from, *channel});
        return expr::cast(dtype, image(at_image)) * expr::cast(dtype, weight(at_weight));
    };
}

/// Each element of the result adds what falls on it, as many terms as the reference: no product with a zero around the
/// image, which would be NaN where the weight is infinite. What falls on it are sums over the channels, which are
/// products of matrices, stored first; or the products themselves, where there is one channel, as to store and load a
/// product costs more than to compute it, and where the sums have no room.
expr::Value lower_transposed(expr::GroupBuilder& builder, const Convolution& c, const expr::Value& image,
                             expr::Value weight, const std::function<Start(DType)>& start) {
    constexpr std::int64_t kMostStored = 1 << 26;
    const bool stores = c.in_channels > 1 && element_count(sizes_of_products(c)) <= kMostStored;
    std::vector<Taps> taps;
    Sizes domain;
    for (std::size_t d = 0; d < c.window.in.size(); d++) {
        taps.emplace_back(c.window, d);
        domain.push_back(taps.back().count());
    }
    if (!stores) domain.push_back(c.in_channels);
    const DType sum = accumulator_dtype(c.dtype, element_count(domain));
    weight = by_taps(c, weight, image.dtype());
    TapProduct falling = tap_product(c, image, weight, sum);
    if (stores) {
        if (c.window.taps() > 1) weight = builder.materialize(weight, "weight");
        const DType columns_sum = accumulator_dtype(c.dtype, c.in_channels);
        const expr::Value columns = builder.reduce(
            columns_sum, sizes_of_products(c), {c.in_channels},
            [=](const Index&) { return expr::constant(columns_sum, Scalar(0)); },
            [product = tap_product(c, image, weight, columns_sum)](const Index& i, const Index& r, const Expr& self) {
                return self + product(i, r[0]);
            },
            "columns");
        falling = [=](const Index& i, const Expr&) { return expr::cast(sum, columns(i)); };
    }
    const auto update = [=](const Index& i, const Index& r, const Expr& self) {
        const Expr channels = expr::index(c.out_channels);
        Index at = {i[0], c.groups == 1 ? expr::index(0) : i[1] / channels}, places;
        Expr falls;
        for (std::size_t d = 0; d < taps.size(); d++) {
            const Taps::Tap tap = taps[d](i[d + 2], r[d]);
            at.push_back(tap.tap);
            places.push_back(tap.place);
            if (tap.falls) falls = falls ? falls && tap.falls : tap.falls;
        }
        at.push_back(c.groups == 1 ? i[1] : i[1] % channels);
        at.insert(at.end(), places.begin(), places.end());
        const Expr added = self + falling(at, r.back());
        return falls ? expr::select(falls, added, self) : added;
    };
    if (element_count(domain) > 1) return reduction_stage(builder, sum, c.sizes, domain, start(sum), update);
    const Index only(domain.size(), expr::index(0));
    return {sum, c.sizes, [=](const Index& i) { return update(i, only, start(sum)(i)); }};
}

std::vector<expr::Value> lower_convolution(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    const Convolution c = convolution_of(args);
    const DType sum = c.sum();
    const expr::Value input = args.tensor("input"), bias = c.bias ? args.tensor("bias") : expr::Value();
    const auto start = [=](DType dtype) -> Start {
        return
            [=](const Index& i) { return c.bias ? expr::cast(dtype, bias({i[1]})) : expr::constant(dtype, Scalar(0)); };
    };
    // An empty input has no element to clamp to, and an empty result no element to compute.
    if (element_count(input.sizes()) == 0 || element_count(c.sizes) == 0)
        return {convert(c.dtype, expr::Value(sum, c.sizes, start(sum)))};

    const expr::Value weight = loadable(builder, args.tensor("weight"));
    // Half types are converted once; what is f32 stays so, also where the sum is wider.
    const DType stored = c.dtype == DType::f32 ? c.dtype : sum;
    if (c.transposed)
        return {
            convert(c.dtype, lower_transposed(builder, c, convert(stored, loadable(builder, input)), weight, start))};
    const Update update = convolution_update(
        c, padded(builder, c.window, input, stored, Scalar(0), c.window.overlap() * c.out_channels), weight);
    Sizes domain = {c.in_channels};
    domain.insert(domain.end(), c.window.kernel.begin(), c.window.kernel.end());
    return {convert(c.dtype, reduction_stage(builder, sum, c.sizes, domain, start(sum), update))};
}

using namespace aten;

void convolution_grad(Gradients& c) {
    c.takes_complex();
    const auto ints = [&](const char* name) { return Arg::ints(c.integers(name)); };
    const OptionalV bias = c.optional_tensor("bias");
    set_parameters(c, "aten.convolution_backward.default",
                   {c.grad(), conjugate(c.tensor("input")), conjugate(c.tensor("weight")),
                    bias ? Arg::ints(bias->meta.sizes) : Arg(), ints("stride"), ints("padding"), ints("dilation"),
                    c.boolean("transposed"), ints("output_padding"), c.integer("groups")});
}

constexpr OpDef kConvOps[] = {
    primitive(
        "convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, "
        "bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
        "Convolution or its transpose in 1, 2 or 3 dimensions; pytorch.org/docs/stable/generated/torch.nn.Conv2d.html",
        kConvolutionTypes, {infer_convolution, eval_convolution, lower_convolution}, convolution_grad, kBoundSums),
};

}  // namespace

std::span<const OpDef> conv_ops() { return kConvOps; }

}  // namespace whittle
