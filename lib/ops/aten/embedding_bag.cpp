// Rows of a table reduced by bags, without the rows in between: sums, means and maxima. `offsets` says where in the
// list of indices each bag begins. All are composites, of which indices and offsets are data.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
#include <limits>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/aten/open_rules.h"
#include "ops/core/elements.h"

namespace whittle {
namespace {

constexpr std::int64_t kBagSum = 0, kBagMean = 1, kBagMax = 2;  // at::native::MODE_SUM …
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// "[n]" of an i64 or i32 list.
std::int64_t list_length(const Arguments<NodeValue>& a, std::string_view parameter) {
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

Bags bags_of(const Arguments<NodeValue>& a) {
    const std::string& op = a.schema().name;
    const ValueMeta& weight = a.tensor("weight").meta;
    if (weight.sizes.size() != 2)
        throw Error(op + ": found a weight of sizes " + to_string(weight.sizes) + ", expected 2 dimensions");
    Bags bags{.count = list_length(a, "offsets"), .indices = list_length(a, "indices")};
    bags.width = weight.sizes[1];
    bags.mode = a.integer("mode");
    bags.dtype = weight.dtype;
    bags.positions = a.tensor("offsets").meta.dtype;
    bags.last_offset = a.boolean("include_last_offset");
    if (a.schema().param("padding_idx")) bags.padding = a.optional_integer("padding_idx").value_or(-1);
    if (a.tensor("indices").meta.dtype != bags.positions)
        throw Error(op + ": found indices and offsets of different dtypes, expected equal dtypes");
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

struct Bag : Gradient {
    explicit Bag(GraphBuilder& builder) : Gradient(builder), b(builder) {}
    /// Slices of x added where `at` says.
    NodeValue added(const NodeValue& to, const NodeValue& at, const NodeValue& x) const {
        return call("aten.index_add.default", {arg(to), 0, arg(at), arg(x)});
    }
    NodeValue picked(const NodeValue& x, const NodeValue& at) const {
        return call("aten.index_select.default", {arg(x), 0, arg(at)});
    }
    NodeValue column(const NodeValue& x) const { return call("aten.unsqueeze.default", {arg(x), 1}); }
    /// The bag of each index: how many bags begin up to there, less one.
    NodeValue bag_of_each(const NodeValue& offsets, std::int64_t bags, std::int64_t indices, DType dtype) const {
        const NodeValue begun =
            added(full({indices + 1}, 0, DType::i64), slice(offsets, 0, 0, bags), full({bags}, 1, DType::i64));
        const NodeValue sum = call("aten.cumsum.default", {arg(begun), 0});
        return as(slice(add(sum, -1), 0, 0, indices), dtype);
    }

    GraphBuilder& b;
};

/// The bag of each index, `count` of those that are left out.
NodeValue counted_bags(const Bag& g, const Bags& bags, const NodeValue& indices, const NodeValue& bag) {
    if (bags.padding < 0) return bag;
    return g.call("aten.masked_fill.Scalar", {arg(bag), arg(g.when("eq", indices, bags.padding)), bags.count});
}

/// The largest of each bag and which index it is of: the first of equal ones. Of empty bags 0. As LibTorch compares, a
/// NaN is never larger than what is there, and nothing is larger than it: it counts where it is the bag's first.
std::pair<NodeValue, NodeValue> largest(const Bag& g, const Bags& bags, const NodeValue& rows, const NodeValue& indices,
                                        const NodeValue& bag) {
    const Sizes wide = {bags.indices, bags.width}, all = {bags.count + 1, bags.width};
    const NodeValue at = g.call("aten.expand.default", {arg(g.column(g.as(bag, DType::i64))), Arg::ints(wide)});
    const auto reduced = [&](const NodeValue& start, const NodeValue& x, const char* how, bool with_start) {
        return g.b.call("aten.scatter_reduce.two", {arg(start), 0, arg(at), arg(x), how},
                        {{"include_self", with_start}});
    };
    const NodeValue place = g.call(
        "aten.expand.default",
        {arg(g.column(g.b.call("aten.arange.default", {bags.indices}, {{"dtype", DType::i64}}))), Arg::ints(wide)});
    const auto of_bag = [&](const NodeValue& x) { return g.call("aten.gather.default", {arg(x), 0, arg(at)}); };
    const auto earliest = [&](const NodeValue& places) {
        return reduced(g.full(all, bags.indices, DType::i64), places, "amin", true);
    };
    const NodeValue is_nan = g.of("aten.isnan.default", rows);
    const NodeValue later = g.call("aten.ne.Tensor", {arg(place), arg(of_bag(earliest(place)))});
    const NodeValue ignored = g.call("aten.logical_and.default", {arg(is_nan), arg(later)});
    const NodeValue compared = g.call("aten.masked_fill.Scalar", {arg(rows), arg(ignored), Arg(kNever)});
    const NodeValue most = reduced(g.zeros(all, bags.dtype), compared, "amax", false);
    const NodeValue equal = g.call("aten.eq.Tensor", {arg(compared), arg(of_bag(most))});
    const NodeValue begins = g.of("aten.isnan.default", compared);
    const NodeValue is_most = g.call("aten.logical_or.default", {arg(equal), arg(begins)});
    const NodeValue first = earliest(g.either(is_most, place, g.full({}, bags.indices, DType::i64)));
    const NodeValue none = g.full({1}, 0, bags.positions);
    const NodeValue followed = g.b.call("aten.cat.default", {args_list({indices, none}), 0});
    const NodeValue which = g.call("aten.take.default", {arg(followed), arg(g.slice(first, 0, 0, bags.count))});
    return {g.slice(most, 0, 0, bags.count), which};
}

/// As at::native::_embedding_bag_cpu: LibTorch leaves the bag of each index out where it sums rows in one go, of f64
/// never, and counts for means and maxima only.
Refs embedding_bag(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Bag g(b);
    const Bags bags = bags_of(a);
    const NodeValue weight = a.tensor("weight"), indices = a.tensor("indices"), offsets = a.tensor("offsets");
    const auto weights = a.optional_tensor("per_sample_weights");
    const NodeValue given = g.bag_of_each(offsets, bags.count, bags.indices, bags.positions);
    const NodeValue bag = counted_bags(g, bags, indices, given);
    NodeValue rows = g.picked(weight, indices);
    if (weights) rows = g.mul(rows, g.column(*weights));
    const NodeValue ones = g.full({bags.indices}, 1, bags.positions);
    const NodeValue counts = g.slice(g.added(g.full({bags.count + 1}, 0, bags.positions), bag, ones), 0, 0, bags.count);
    if (bags.mode == kBagMax) {
        const auto [most, which] = largest(g, bags, rows, indices, bag);
        return {most.ref, given.ref, counts.ref, which.ref};
    }
    NodeValue sum = g.slice(g.added(g.zeros({bags.count + 1, bags.width}, bags.dtype), bag, rows), 0, 0, bags.count);
    if (bags.mode == kBagMean) {
        const NodeValue divisors = g.as(g.call("aten.clamp_min.default", {arg(counts), 1}), bags.dtype);
        return {g.div(sum, arg(g.column(divisors))).ref, given.ref, counts.ref, counts.ref};
    }
    const bool at_once = bags.dtype != DType::f64 && bags.padding < 0 && weight.meta.strides[1] == 1 &&
                         (!weights || weights->meta.strides[0] == 1);
    const bool backwards = a.schema().name != "_embedding_bag_forward_only";
    const NodeValue none = g.full({bags.count + (bags.last_offset && !backwards ? 1 : 0)}, 0, bags.positions);
    return {sum.ref, at_once ? g.full({0}, 0, bags.positions).ref : given.ref, none.ref, none.ref};
}

/// The form of the program: with a gradient. Of a weight that requires none LibTorch calls _embedding_bag_forward_only,
/// whose results are the same but for sizes that nobody reads.
Refs embedding_bag_of_program(GraphBuilder& b, const Arguments<NodeValue>& a) {
    NodeValue indices = a.tensor("indices"), offsets = a.tensor("offsets");
    if (indices.meta.dtype != offsets.meta.dtype) {
        indices = b.convert(indices, DType::i64);
        offsets = b.convert(offsets, DType::i64);
    }
    std::int64_t padding = -1;
    if (a.schema().param("padding_idx") && a.has("padding_idx")) {
        const ValueMeta& weight = a.tensor("weight").meta;
        padding = wrap_dim(a.integer("padding_idx"), weight.sizes.empty() ? 0 : weight.sizes[0]);
    }
    const auto weights = a.optional_tensor("per_sample_weights");
    Refs results;
    for (const NodeValue& result : b.call_multi(
             "aten._embedding_bag.default",
             {arg(a.tensor("weight")), arg(indices), arg(offsets), a.boolean("scale_grad_by_freq"), a.integer("mode"),
              a.boolean("sparse"), weights ? arg(*weights) : Arg(), a.boolean("include_last_offset"), padding}))
        results.push_back(result.ref);
    return results;
}

// --- Gradients ---

/// Of maxima: a row of the gradient goes where its bag's largest elements are from. Of sums and means: to every index
/// of the bag, times its weight, over the count of the bag, and over how often the index is there at all.
Refs dense_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Bag g(b);
    const NodeValue grad = a.tensor("grad"), indices = a.tensor("indices"), counts = a.tensor("bag_size");
    const std::int64_t rows = a.integer("num_weights"), mode = a.integer("mode"), padding = a.integer("padding_idx");
    if (grad.meta.sizes.size() != 2)
        throw Error("_embedding_bag_dense_backward: found a gradient of sizes " + to_string(grad.meta.sizes) +
                    ", expected 2 dimensions");
    const NodeValue zeros = g.zeros({rows, grad.meta.sizes[1]}, grad.meta.dtype);
    if (mode == kBagMax) {
        const NodeValue kept = g.keep(g.column(g.when("gt", counts, 0)), grad);
        const NodeValue at = g.as(a.tensor("maximum_indices"), DType::i64);
        return {g.call("aten.scatter_add.default", {arg(zeros), 0, arg(at), arg(kept)}).ref};
    }
    const NodeValue bag = a.tensor("offset2bag");
    NodeValue spread = g.picked(grad, bag);
    if (const auto weights = a.optional_tensor("per_sample_weights")) spread = g.mul(spread, g.column(*weights));
    const auto over = [&](const NodeValue& count) {
        const NodeValue some = g.as(g.call("aten.clamp_min.default", {arg(count), 1}), grad.meta.dtype);
        spread = g.div(spread, arg(g.column(some)));
    };
    if (a.boolean("scale_grad_by_freq")) {
        const NodeValue ones = g.full(indices.meta.sizes, 1, DType::i64);
        over(g.picked(g.added(g.full({rows}, 0, DType::i64), indices, ones), indices));
    }
    if (mode == kBagMean) over(g.picked(counts, bag));
    if (padding >= 0) spread = g.drop(g.column(g.when("eq", indices, padding)), spread);
    return {g.added(zeros, indices, spread).ref};
}

/// With the bag of each index where the forward pass left it out.
Refs backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    if (a.boolean("sparse")) throw Error("_embedding_bag_backward: found sparse=true, expected sparse=false");
    const NodeValue indices = a.tensor("indices"), counts = a.tensor("bag_size");
    NodeValue bag = a.tensor("offset2bag");
    if (bag.meta.numel() == 0 && indices.meta.numel() > 0)
        bag = Bag(b).bag_of_each(a.tensor("offsets"), counts.meta.numel(), indices.meta.numel(), indices.meta.dtype);
    const auto weights = a.optional_tensor("per_sample_weights");
    return {b.call("aten._embedding_bag_dense_backward.default",
                   {arg(a.tensor("grad")), arg(indices), arg(bag), arg(counts), arg(a.tensor("maximum_indices")),
                    a.integer("num_weights"), a.boolean("scale_grad_by_freq"), a.integer("mode"),
                    weights ? arg(*weights) : Arg(), a.integer("padding_idx")})
                .ref};
}

/// The product of a row and of its bag's gradient; of padding 0.
Refs weights_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Bag g(b);
    if (a.integer("mode") != kBagSum)
        throw Error(a.schema().name + ": found mode=" + std::to_string(a.integer("mode")) +
                    ", expected mode=0 (sum): other modes take no per_sample_weights");
    const NodeValue grad = a.tensor("grad"), weight = a.tensor("weight"), indices = a.tensor("indices");
    NodeValue bag = a.tensor("offset2bag");
    if (bag.meta.numel() == 0 && indices.meta.numel() > 0)
        bag = g.bag_of_each(a.tensor("offsets"), grad.meta.sizes.at(0), indices.meta.numel(), indices.meta.dtype);
    NodeValue products = g.sum(g.mul(g.picked(grad, bag), g.picked(weight, indices)), {1});
    const std::int64_t padding = a.integer("padding_idx");
    if (padding >= 0) products = g.drop(g.when("eq", indices, padding), products);
    return {products.ref};
}

void embedding_bag_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const Arguments<NodeValue>& a = c.args();
    const NodeValue weight = r.tensor("weight"), indices = r.tensor("indices"), offsets = r.tensor("offsets");
    if (r.needed("weight"))
        r.set("weight",
              r.call("aten._embedding_bag_backward.default",
                     {arg(r.grad()), arg(indices), arg(offsets), arg(r.result(1)), arg(r.result(2)), arg(r.result(3)),
                      weight.meta.sizes[0], a.boolean("scale_grad_by_freq"), a.integer("mode"), a.boolean("sparse"),
                      r.optional("per_sample_weights"), a.integer("padding_idx")}));
    if (r.needed("per_sample_weights"))
        r.set("per_sample_weights", r.call("aten._embedding_bag_per_sample_weights_backward.default",
                                           {arg(r.grad()), arg(weight), arg(indices), arg(offsets), arg(r.result(1)),
                                            a.integer("mode"), a.integer("padding_idx")}));
}

// --- Records ---

#define WHITTLE_BAG                                                                                                  \
    "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, " \
    "Tensor? per_sample_weights=None, bool include_last_offset=False"

constexpr OpDef kEmbeddingBagOps[] = {
    {.name = "aten._embedding_bag.default",
     .doc = "rows of a table reduced by bags, with what a gradient needs: "
            "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
     .schema = "_embedding_bag" WHITTLE_BAG ", int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .decompose = embedding_bag,
     .open = {.ask = aten_open::table_rows},
     .grad = embedding_bag_grad},
    {.name = "aten._embedding_bag_forward_only.default",
     .doc = "_embedding_bag when no gradient is needed: "
            "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
     .schema = "_embedding_bag_forward_only" WHITTLE_BAG ", int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .decompose = embedding_bag,
     .open = {.ask = aten_open::table_rows},
     .grad = no_gradient},
    {.name = "aten.embedding_bag.default",
     .doc = "rows of a table reduced by bags: https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
     .schema = "embedding_bag" WHITTLE_BAG ") -> (Tensor, Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .decompose = embedding_bag_of_program,
     .open = {.ask = aten_open::table_rows}},
    {.name = "aten.embedding_bag.padding_idx",
     .doc = "rows of a table but one, reduced by bags: "
            "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
     .schema = "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int "
               "mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, "
               "Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .decompose = embedding_bag_of_program,
     .open = {.ask = aten_open::table_rows}},
    {.name = "aten._embedding_bag_dense_backward.default",
     .doc = "the gradient of embedding_bag's weight: "
            "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
     .schema =
         "_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, Tensor "
         "maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int "
         "padding_idx=-1) -> Tensor",
     .dtypes = kFloating,
     .decompose = dense_backward,
     .open = {.ask = aten_open::counted_rows}},
    {.name = "aten._embedding_bag_backward.default",
     .doc = "the gradient of embedding_bag's weight, of what autograd saved: "
            "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
     .schema = "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor "
               "bag_size, Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, "
               "Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
     .dtypes = kFloating,
     .decompose = backward,
     .open = {.ask = aten_open::counted_rows}},
    {.name = "aten._embedding_bag_per_sample_weights_backward.default",
     .doc = "the gradient of embedding_bag's weights of indices: "
            "https://pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html",
     .schema = "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
               "Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
     .dtypes = kFloating,
     .decompose = weights_backward,
     .open = {.ask = aten_open::table_rows}},
};

}  // namespace

std::span<const OpDef> embedding_bag_ops() { return kEmbeddingBagOps; }

}  // namespace whittle
