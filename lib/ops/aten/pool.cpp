// Maximum over windows, in one to three dimensions, with the position where it was found; windows of a fixed size or of
// the size that a wanted output needs. Definition: https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/pooling.h"
#include "ops/core/gemm.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

using namespace aten;

using expr::Index;

// ---- eval ----

/// One plane's maxima, tap by tap. NaN wins, the last one of several; else the first of equal elements.
template <class T>
void find_maxima(const T* image, const std::vector<std::int64_t>& offsets, std::size_t places, T* best,
                 std::int64_t* index) {
    for (std::size_t tap = 0; tap < offsets.size(); tap += places)
        for (std::size_t place = 0; place < places; place++) {
            const std::int64_t offset = offsets[tap + place];
            if (offset < 0) continue;
            const T value = image[offset];
            if (value > best[place] || value != value) {
                best[place] = value;
                index[place] = offset;
            }
        }
}

/// The first in-bounds tap of each place: the index of a window of lowest values. 0 for a window without elements,
/// whose maximum is the lowest value.
std::vector<std::int64_t> first_positions(const std::vector<std::int64_t>& offsets, std::size_t places) {
    std::vector<std::int64_t> first(places, 0);
    for (std::size_t at = offsets.size(); at-- > 0;)
        if (offsets[at] >= 0) first[at % places] = offsets[at];
    return first;
}

std::vector<Tensor> maxima(const Tensor& self, const Pooling& pooling) {
    const std::vector<std::int64_t> offsets = pooling.offsets();
    const auto places = static_cast<std::size_t>(pooling.window.places());
    const std::vector<std::int64_t> first = first_positions(offsets, places);
    return visit_accumulator(self.dtype(), [&](auto zero) -> std::vector<Tensor> {
        using T = decltype(zero);
        using Limits = std::numeric_limits<T>;
        const auto image = Elements<T>::contiguous(self);
        const std::int64_t positions = element_count(pooling.window.in);
        const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
        std::vector<T> values(places * static_cast<std::size_t>(pooling.planes), lowest);
        std::vector<std::int64_t> indices;
        indices.reserve(values.size());
        for (std::int64_t plane = 0; plane < pooling.planes; plane++) {
            const std::size_t done = indices.size();
            indices.insert(indices.end(), first.begin(), first.end());
            find_maxima(image.data() + plane * positions, offsets, places, values.data() + done, indices.data() + done);
        }
        return {store(values, self.dtype(), pooling.sizes), store(indices, DType::i64, pooling.sizes)};
    });
}

// ---- lower ----

/// The maximum as one stage and its index as another, which looks for the maximum again: a stage has one value.
std::vector<expr::Value> lower_maxima(expr::GroupBuilder& builder, const Pooling& pooling, const expr::Value& self) {
    const DType dtype = compute_dtype(self.dtype());
    const WindowReader reader(builder, pooling, self, dtype, lowest(dtype));
    const auto below = [=](const Index&) { return expr::constant(dtype, lowest(dtype)); };
    const expr::Value best =
        reduction_stage(builder, dtype, pooling.sizes, pooling.window.kernel, below,
                        [=](const Index& i, const Index& r, const Expr& best_so_far) {
                            const Expr value = reader.element(i, r);
                            return expr::select(value > best_so_far || is_nan(value), value, best_so_far);
                        });
    const auto nowhere = [](const Index&) { return expr::index(-1); };
    const expr::Value found = reduction_stage(
        builder, DType::i32, pooling.sizes, pooling.window.kernel, nowhere,
        [=](const Index& i, const Index& r, const Expr& index) {
            const Expr value = reader.element(i, r), maximum = best(i);
            Expr match = expr::select(is_nan(maximum), is_nan(value),
                                      expr::equal(value, maximum) && expr::equal(index, expr::index(-1)));
            if (const Expr inside = reader.inside(i, r)) match = match && inside;
            return expr::select(match, reader.flat_position(i, r), index);
        },
        "index");
    const expr::Value index(DType::i64, pooling.sizes, [=](const Index& i) {
        return expr::cast(DType::i64, expr::max(found(i), expr::index(0)));
    });
    return {convert(self.dtype(), best), index};
}

// ---- fixed windows, and windows of an adaptive size ----

template <int Rank, bool Adaptive, class T>
Pooling pooling_of(const Arguments<T>& args) {
    const std::string& op = args.schema().name;
    const ValueMeta self = meta_of(args.tensor("self"));
    if constexpr (Adaptive) return adaptive_pooling(op, self, Rank, args.integers("output_size"));
    return sliding_pooling(op, self, Rank, args.integers("kernel_size"), args.integers("stride"),
                           args.integers("padding"), args.integers("dilation"), args.boolean("ceil_mode"));
}

template <int Rank, bool Adaptive = false>
std::vector<ValueMeta> infer_max(const Arguments<ValueMeta>& args) {
    const Sizes sizes = pooling_of<Rank, Adaptive>(args).sizes;
    return {ValueMeta::contiguous(args.tensor("self").dtype, sizes), ValueMeta::contiguous(DType::i64, sizes)};
}

template <int Rank, bool Adaptive = false>
std::vector<Tensor> eval_max(const Arguments<Tensor>& args) {
    return maxima(args.tensor("self"), pooling_of<Rank, Adaptive>(args));
}

template <int Rank, bool Adaptive = false>
std::vector<expr::Value> lower_max(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    return lower_maxima(builder, pooling_of<Rank, Adaptive>(args), args.tensor("self"));
}

/// max_poolNd(…) is the first result of max_poolNd_with_indices(…).
CallResults decompose_max(const Call& c) {
    const ArgList list = {c.tensor("self"),
                          Arg::ints(c.integers("kernel_size")),
                          Arg::ints(c.integers("stride")),
                          Arg::ints(c.integers("padding")),
                          Arg::ints(c.integers("dilation")),
                          c.boolean("ceil_mode")};
    return c.builder().call_multi("aten." + c.schema().name + "_with_indices.default", list)[0];
}

// --- Gradients ---

V max_pool_with_indices_grad(const OfSelf& r) {
    const auto ints = [&](const char* name) { return Arg::ints(r.call.integers(name)); };
    return backward_op(r, {ints("kernel_size"), ints("stride"), ints("padding"), ints("dilation"),
                           r.call.boolean("ceil_mode"), r.call.result(1)});
}
V adaptive_max_pool_grad(const OfSelf& r) { return backward_op(r, {r.call.result(1)}); }
/// Of rows: each gradient is added where the maximum was.
V max_pool1d_grad(const OfSelf& r) {
    const V start = zeros(r.call.builder(), r.x.sizes(), r.g.dtype());
    return scatter_add(start, r.x.rank() - 1, r.call.result(1), r.g);
}

template <int Rank, bool Adaptive = false>
constexpr OpDef max_pool_op(std::string_view schema) {
    constexpr GradientRule kPadded = Adaptive ? adaptive_max_pool_grad : max_pool_with_indices_grad;
    return primitive(schema,
                     Adaptive
                         ? "Maxima of windows for a given output size; pytorch.org/docs/stable/nn.html#pooling-layers"
                         : "Maxima of windows and their positions; pytorch.org/docs/stable/nn.html#pooling-layers",
                     Adaptive ? kFloating : kNumbers,
                     {infer_max<Rank, Adaptive>, eval_max<Rank, Adaptive>, lower_max<Rank, Adaptive>},
                     Rank == 1 ? GradientRule(max_pool1d_grad) : kPadded, kBoundChoice);
}
constexpr OpDef maxima_op(std::string_view schema) {
    return composite(schema, "Maxima of windows; pytorch.org/docs/stable/nn.html#pooling-layers", kNumbers,
                     decompose_max);
}

constexpr OpDef kPoolOps[] = {
    max_pool_op<1>("max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, "
                   "int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
    max_pool_op<2>("max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
                   "int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
    max_pool_op<3>("max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
                   "int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
    maxima_op("max_pool{1|2|3}d(Tensor self, int[{1|2|3}] kernel_size, int[{1|2|3}] stride=[], int[{1|2|3}] padding=0, "
              "int[{1|2|3}] dilation=1, bool ceil_mode=False) -> Tensor"),
    max_pool_op<1, true>("adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)"),
    max_pool_op<2, true>("adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)"),
    max_pool_op<3, true>("adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)"),
};

}  // namespace

std::span<const OpDef> pool_ops() { return kPoolOps; }

}  // namespace whittle
