// Rows of a table reduced by bags, without the rows in between: sums, means and maxima. `offsets` says where in the
// list of indices each bag begins. All are composites, of which indices and offsets are data.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
#include <limits>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/core/elements.h"

namespace whittle {
namespace {

using namespace aten;

constexpr std::int64_t kBagSum = 0, kBagMean = 1, kBagMax = 2;  // at::native::MODE_SUM …
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// "[n]" of an i64 or i32 list.
std::int64_t list_length(const Arguments<V>& a, std::string_view parameter) {
    const ValueMeta& meta = a.tensor(parameter).meta;
    check_index_dtype(meta.dtype, a.schema().name);
    if (meta.sizes.size() != 1)
        throw Error(a.schema().name + ": found " + std::string(parameter) + " of sizes " + to_string(meta.sizes) +
                    ", expected 1 dimension");
    return meta.sizes[0];
}

/// What a call says of its bags.
struct Bags {
    std::int64_t count = 0, indices = 0, width = 0, mode = kBagSum, padding = -1;
    DType dtype = DType::f32, positions = DType::i64;
    bool last_offset = false;
};

Bags bags_of(const Arguments<V>& a) {
    const std::string& op = a.schema().name;
    const ValueMeta& weight = a.tensor("weight").meta;
    if (weight.sizes.size() != 2)
        throw Error(op + ": found a weight of sizes " + to_string(weight.sizes) + ", expected 2 dimensions");
    Bags bags{.count = list_length(a, "offsets"), .indices = list_length(a, "indices")};
    bags.width = weight.sizes[1];
    bags.mode = a.integer("mode");
    bags.dtype = weight.dtype;
    bags.positions = a.tensor("offsets").dtype();
    bags.last_offset = a.boolean("include_last_offset");
    if (a.schema().param("padding_idx")) bags.padding = a.optional_integer("padding_idx").value_or(-1);
    if (a.tensor("indices").dtype() != bags.positions)
        throw Error(op + ": found indices of " + std::string(name(a.tensor("indices").dtype())) + " and offsets of " +
                    std::string(name(bags.positions)) + ", expected equal dtypes");
    if (bags.mode < kBagSum || bags.mode > kBagMax)
        throw Error(op + ": found mode=" + std::to_string(bags.mode) + ", expected 0 (sum), 1 (mean) or 2 (max)");
    if (bags.last_offset && bags.count-- < 1)
        throw Error(op +
                    ": found empty offsets with include_last_offset=true, expected at least one offset, the end of the "
                    "last bag");
    if (const auto weights = a.optional_tensor("per_sample_weights")) {
        if (bags.mode != kBagSum)
            throw Error(op + ": found per_sample_weights with mode=" + std::to_string(bags.mode) +
                        ", expected mode=0 (sum)");
        if (weights->meta.sizes != Sizes{bags.indices} || weights->meta.dtype != bags.dtype)
            throw Error(op + ": found per_sample_weights of " + std::string(name(weights->meta.dtype)) +
                        to_string(weights->meta.sizes) + ", expected " + std::string(name(bags.dtype)) +
                        to_string(Sizes{bags.indices}) + ": the dtype of the weight and one number for each index");
    }
    return bags;
}

/// Slices of x added where `at` says.
V added_at(const V& to, const V& at, const V& x) { return index_add(to, 0, at, x); }
V picked(const V& x, const V& at) { return index_select(x, 0, at); }
V as_column(const V& x) { return unsqueeze(x, 1); }

/// The bag of each index: how many bags begin up to there, less one.
V bag_of_each(const V& offsets, std::int64_t bags, std::int64_t indices, DType dtype) {
    GraphBuilder& b = *offsets.builder;
    const V begun = added_at(full(b, Ints{indices + 1}, 0, DType::i64), sliced(offsets, 0, 0, bags),
                             full(b, Ints{bags}, 1, DType::i64));
    return as(sliced(cumsum(begun, 0) + -1, 0, 0, indices), dtype);
}

/// The bag of each index, `count` of those that are left out.
V counted_bags(const Bags& bags, const V& indices, const V& bag) {
    if (bags.padding < 0) return bag;
    return masked_fill(bag, eq(indices, bags.padding), bags.count);
}

/// The largest of each bag and which index it is of: the first of equal ones. Of empty bags 0. As LibTorch compares, a
/// NaN is never larger than what is there, and nothing is larger than it: it counts where it is the bag's first.
std::pair<V, V> largest(const Bags& bags, const V& rows, const V& indices, const V& bag) {
    const Sizes wide = {bags.indices, bags.width}, all = {bags.count + 1, bags.width};
    const V at = expand(as_column(as(bag, DType::i64)), wide);
    const auto reduced = [&](const V& start, const V& x, const char* how, bool with_start) {
        return scatter_reduce(start, 0, at, x, how, with_start);
    };
    const V place = expand(as_column(arange(*rows.builder, bags.indices, DType::i64)), wide);
    const auto of_bag = [&](const V& x) { return gather(x, 0, at); };
    const auto earliest = [&](const V& places) {
        return reduced(full(*rows.builder, all, bags.indices, DType::i64), places, "amin", true);
    };
    const V is_nan = isnan(rows);
    const V later = ne(place, of_bag(earliest(place)));
    const V ignored = logical_and(is_nan, later);
    const V compared = masked_fill(rows, ignored, kNever);
    const V most = reduced(zeros(*rows.builder, all, bags.dtype), compared, "amax", false);
    const V equal = eq(compared, of_bag(most));
    const V begins = isnan(compared);
    const V is_most = logical_or(equal, begins);
    const V first = earliest(where(is_most, place, full(*rows.builder, {}, bags.indices, DType::i64)));
    const V none = full(*rows.builder, Ints{1}, 0, bags.positions);
    const V followed = cat(Vs{indices, none});
    const V which = take(followed, sliced(first, 0, 0, bags.count));
    return {sliced(most, 0, 0, bags.count), which};
}

/// As at::native::_embedding_bag_cpu: LibTorch leaves the bag of each index out where it sums rows in one go, of f64
/// never, and counts for means and maxima only.
CallResults decompose_embedding_bag(const Call& c) {
    const Bags bags = bags_of(c);
    const V weight = c.tensor("weight"), indices = c.tensor("indices"), offsets = c.tensor("offsets");
    const auto weights = c.optional_tensor("per_sample_weights");
    const V given = bag_of_each(offsets, bags.count, bags.indices, bags.positions);
    const V bag = counted_bags(bags, indices, given);
    V rows = picked(weight, indices);
    if (weights) rows = rows * as_column(*weights);
    const V ones = full(c.builder(), Ints{bags.indices}, 1, bags.positions);
    const V counts =
        sliced(added_at(full(c.builder(), Ints{bags.count + 1}, 0, bags.positions), bag, ones), 0, 0, bags.count);
    if (bags.mode == kBagMax) {
        const auto [most, which] = largest(bags, rows, indices, bag);
        return {most, given, counts, which};
    }
    V sum =
        sliced(added_at(zeros(c.builder(), Ints{bags.count + 1, bags.width}, bags.dtype), bag, rows), 0, 0, bags.count);
    if (bags.mode == kBagMean) {
        const V divisors = as(clamp_min(counts, 1), bags.dtype);
        return {sum / as_column(divisors), given, counts, counts};
    }
    const bool at_once = bags.dtype != DType::f64 && bags.padding < 0 && weight.meta.strides[1] == 1 &&
                         (!weights || weights->meta.strides[0] == 1);
    const bool backwards = c.schema().name != "_embedding_bag_forward_only";
    const V none = full(c.builder(), Ints{bags.count + (bags.last_offset && !backwards ? 1 : 0)}, 0, bags.positions);
    return {sum, at_once ? full(c.builder(), Ints{0}, 0, bags.positions) : given, none, none};
}

/// The form of the program: with a gradient. Of a weight that requires none LibTorch calls _embedding_bag_forward_only,
/// whose results are the same but for sizes that nobody reads.
CallResults embedding_bag_of_program(const Call& c) {
    V indices = c.tensor("indices"), offsets = c.tensor("offsets");
    if (indices.dtype() != offsets.dtype()) {
        indices = c.builder().convert(indices, DType::i64);
        offsets = c.builder().convert(offsets, DType::i64);
    }
    std::int64_t padding = -1;
    if (c.schema().param("padding_idx") && c.has("padding_idx")) {
        const ValueMeta& weight = c.tensor("weight").meta;
        padding = wrap_dim(c.integer("padding_idx"), weight.sizes.empty() ? 0 : weight.sizes[0]);
    }
    return _embedding_bag(c.tensor("weight"), indices, offsets, c.boolean("scale_grad_by_freq"), c.integer("mode"),
                          c.boolean("sparse"), c.optional_tensor("per_sample_weights"),
                          c.boolean("include_last_offset"), padding);
}

// --- Gradients ---

/// Of maxima: a row of the gradient goes where its bag's largest elements are from. Of sums and means: to every index
/// of the bag, times its weight, over the count of the bag, and over how often the index is there at all.
CallResults dense_backward(const Call& c) {
    const V grad = c.tensor("grad"), indices = c.tensor("indices"), counts = c.tensor("bag_size");
    const std::int64_t rows = c.integer("num_weights"), mode = c.integer("mode"), padding = c.integer("padding_idx");
    if (grad.sizes().size() != 2)
        throw Error("_embedding_bag_dense_backward: found a gradient of sizes " + to_string(grad.sizes()) +
                    ", expected 2 dimensions");
    const V zeros = aten::zeros(c.builder(), Ints{rows, grad.sizes()[1]}, grad.dtype());
    if (mode == kBagMax) {
        const V kept = keep(as_column(gt(counts, 0)), grad);
        const V at = as(c.tensor("maximum_indices"), DType::i64);
        return scatter_add(zeros, 0, at, kept);
    }
    const V bag = c.tensor("offset2bag");
    V spread = picked(grad, bag);
    if (const auto weights = c.optional_tensor("per_sample_weights")) spread = spread * as_column(*weights);
    const auto over = [&](const V& count) {
        const V some = as(clamp_min(count, 1), grad.dtype());
        spread = spread / as_column(some);
    };
    if (c.boolean("scale_grad_by_freq")) {
        const V ones = full(c.builder(), indices.sizes(), 1, DType::i64);
        over(picked(added_at(full(c.builder(), Ints{rows}, 0, DType::i64), indices, ones), indices));
    }
    if (mode == kBagMean) over(picked(counts, bag));
    if (padding >= 0) spread = drop(as_column(eq(indices, padding)), spread);
    return added_at(zeros, indices, spread);
}

/// With the bag of each index where the forward pass left it out.
CallResults backward(const Call& c) {
    if (c.boolean("sparse")) throw Error("_embedding_bag_backward: found sparse=true, expected sparse=false");
    const V indices = c.tensor("indices"), counts = c.tensor("bag_size");
    V bag = c.tensor("offset2bag");
    if (bag.numel() == 0 && indices.numel() > 0)
        bag = bag_of_each(c.tensor("offsets"), counts.numel(), indices.numel(), indices.dtype());
    return _embedding_bag_dense_backward(c.tensor("grad"), indices, bag, counts, c.tensor("maximum_indices"),
                                         c.integer("num_weights"), c.boolean("scale_grad_by_freq"), c.integer("mode"),
                                         c.optional_tensor("per_sample_weights"), c.integer("padding_idx"));
}

/// The product of a row and of its bag's gradient; of padding 0.
CallResults weights_backward(const Call& c) {
    if (c.integer("mode") != kBagSum)
        throw Error(c.schema().name + ": found mode=" + std::to_string(c.integer("mode")) +
                    ", expected mode=0 (sum): other modes take no per_sample_weights");
    const V grad = c.tensor("grad"), weight = c.tensor("weight"), indices = c.tensor("indices");
    V bag = c.tensor("offset2bag");
    if (bag.numel() == 0 && indices.numel() > 0)
        bag = bag_of_each(c.tensor("offsets"), grad.sizes().at(0), indices.numel(), indices.dtype());
    V products = summed(picked(grad, bag) * picked(weight, indices), Ints{1});
    const std::int64_t padding = c.integer("padding_idx");
    if (padding >= 0) products = drop(eq(indices, padding), products);
    return products;
}

void embedding_bag_grad(Gradients& c) {
    const Call& a = c;
    const V weight = c.tensor("weight"), indices = c.tensor("indices"), offsets = c.tensor("offsets");
    if (c.needed("weight"))
        c.set("weight", _embedding_bag_backward(c.grad(), indices, offsets, c.result(1), c.result(2), c.result(3),
                                                weight.sizes()[0], a.boolean("scale_grad_by_freq"), a.integer("mode"),
                                                a.boolean("sparse"), c.optional_tensor("per_sample_weights"),
                                                a.integer("padding_idx")));
    if (c.needed("per_sample_weights"))
        c.set("per_sample_weights",
              _embedding_bag_per_sample_weights_backward(c.grad(), weight, indices, offsets, c.result(1),
                                                         a.integer("mode"), a.integer("padding_idx")));
}

#define WHITTLE_BAG                                                                                                  \
    "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, " \
    "Tensor? per_sample_weights=None, bool include_last_offset=False"

constexpr OpDef kEmbeddingBagOps[] = {
    composite("_embedding_bag" WHITTLE_BAG ", int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
              "rows of a table reduced by bags, and values for the gradient: "
              "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
              kFloating, decompose_embedding_bag, embedding_bag_grad, {.ask = aten_open::table_rows}),
    composite("_embedding_bag_forward_only" WHITTLE_BAG ", int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
              "_embedding_bag when no gradient is needed: "
              "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
              kFloating, decompose_embedding_bag, no_gradient, {.ask = aten_open::table_rows}),
    composite("embedding_bag" WHITTLE_BAG ") -> (Tensor, Tensor, Tensor, Tensor)",
              "rows of a table reduced by bags: https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
              kFloating, embedding_bag_of_program, {.ask = aten_open::table_rows}),
    composite("embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int "
              "mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, "
              "Tensor, Tensor, Tensor)",
              "rows of a table without the row padding_idx, reduced by bags: "
              "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
              kFloating, embedding_bag_of_program, {.ask = aten_open::table_rows}),
    composite(
        "_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor "
        "maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int "
        "padding_idx=-1) -> Tensor",
        "the gradient of embedding_bag's weight: https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
        kFloating, dense_backward, {.ask = aten_open::counted_rows}),
    composite("_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor "
              "bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, "
              "Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
              "the gradient of embedding_bag's weight, from the values that autograd saved: "
              "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
              kFloating, backward, {.ask = aten_open::counted_rows}),
    composite("_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
              "Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
              "the gradient of embedding_bag's per_sample_weights: "
              "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
              kFloating, weights_backward, {.ask = aten_open::table_rows}),
};

}  // namespace

std::span<const OpDef> embedding_bag_ops() { return kEmbeddingBagOps; }

}  // namespace whittle
