// Scaled dot product attention.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using namespace aten;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// query [..., L, E], key [..., S, E], value [..., S, V] -> [..., L, V]; leading dimensions broadcast.
struct Attention {
    Sizes batch = {};
    std::int64_t targets = 0, sources = 0, features = 0, values = 0;
    std::int64_t repeats = 1;  ///< query heads per key and value head (enable_gqa)
    double scale = 1;
    bool causal = false;
    Sizes result = {};
};

Sizes leading(const Sizes& sizes, std::size_t without) {
    return Sizes(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(without));
}

/// Heads (the third dimension from the end) of key and value are repeated until there are as many as query has.
std::int64_t repeats_of(const Sizes& query, const Sizes& key, const Sizes& value) {
    const auto heads = [](const Sizes& sizes) { return sizes.size() < 3 ? 0 : sizes[sizes.size() - 3]; };
    if (heads(key) < 1 || heads(key) != heads(value) || heads(query) % heads(key) != 0)
        throw Error("scaled_dot_product_attention: found query " + to_string(query) + ", key " + to_string(key) +
                    ", value " + to_string(value) +
                    " with enable_gqa=true, expected equal numbers of heads (dimension -3) in key and value, and a "
                    "multiple of this number in query");
    return heads(query) / heads(key);
}

Attention attention_of(const AnyArguments auto& args) {
    const ValueMeta query = meta_of(args.tensor("query")), key = meta_of(args.tensor("key")),
                    value = meta_of(args.tensor("value"));
    const std::string op = args.schema().name;
    const std::string found = op + ": found query " + to_string(query.sizes) + ", key " + to_string(key.sizes) +
                              ", value " + to_string(value.sizes);
    check_same_dtype(op, query.dtype, "key", key.dtype);
    check_same_dtype(op, query.dtype, "value", value.dtype);
    if (std::min({query.sizes.size(), key.sizes.size(), value.sizes.size()}) < 2)
        throw Error(found + ", expected at least 2 dimensions for each");
    const auto last = [](const ValueMeta& meta, std::size_t back) { return meta.sizes[meta.sizes.size() - back]; };
    Attention a;
    a.targets = last(query, 2);
    a.features = last(query, 1);
    a.sources = last(key, 2);
    a.values = last(value, 1);
    if (last(key, 1) != a.features || last(value, 2) != a.sources)
        throw Error(found + ", expected sizes [..., L, E], [..., S, E] and [..., S, V]");
    if (args.boolean("enable_gqa")) a.repeats = repeats_of(query.sizes, key.sizes, value.sizes);
    const auto batch = [&](const ValueMeta& meta, std::int64_t repeats) {
        Sizes sizes = leading(meta.sizes, 2);
        if (repeats != 1) sizes.back() *= repeats;
        return sizes;
    };
    a.batch = broadcast_sizes(broadcast_sizes(batch(query, 1), batch(key, a.repeats)), batch(value, a.repeats));
    a.result = a.batch;
    a.result.insert(a.result.end(), {a.targets, a.values});
    a.scale = args.optional_number("scale").value_or(1 / std::sqrt(static_cast<double>(a.features)));
    a.causal = args.boolean("is_causal");
    if (args.number("dropout_p") != 0)
        throw Error(op + ": found a nonzero dropout_p, expected 0: dropout is random",
                    "export the model in evaluation mode");
    if (a.causal && args.has("attn_mask"))
        throw Error(op + ": found both attn_mask and is_causal=true, expected at most one of the two");
    if (const auto mask = args.optional_tensor("attn_mask")) {
        if (const DType dtype = meta_of(*mask).dtype; dtype != DType::boolean)
            check_same_dtype(op, query.dtype, "attn_mask", dtype);
        Sizes scores = a.batch;
        scores.insert(scores.end(), {a.targets, a.sources});
        if (!expands_to(meta_of(*mask).sizes, scores))
            throw Error(op + ": found attn_mask of sizes " + to_string(meta_of(*mask).sizes) +
                        ", expected sizes that expand to " + to_string(scores));
    }
    return a;
}

std::vector<ValueMeta> infer_attention(const Arguments<ValueMeta>& args) {
    return {ValueMeta::contiguous(args.tensor("query").dtype, attention_of(args).result)};
}

/// softmax(scale query key^T + mask) value. A row that is masked everywhere attends to nothing: zeros, not NaN.
CallResults decompose_attention(const Call& c) {
    const Attention a = attention_of(c);
    const auto heads = [&](const char* name) {
        const V value = c.tensor(name);
        if (a.repeats == 1) return value;
        return repeat_interleave(value, a.repeats, -3);
    };
    const V query = c.tensor("query") * a.scale;
    const V key = transpose(heads("key"), -2, -1);
    V scores = matmul(query, key);
    OptionalV mask = c.optional_tensor("attn_mask");
    if (a.causal) {
        const V all = full(c.builder(), Ints{a.targets, a.sources}, true, DType::boolean);
        mask = tril(all);
    }
    if (mask && mask->meta.dtype == DType::boolean) {
        const V hidden = logical_not(*mask);
        scores = masked_fill(scores, hidden, -kInfinity);
    } else if (mask) {
        scores = scores + *mask;
    }
    OptionalV nothing;
    if (mask && a.sources > 0) {
        const V largest = amax(scores, Ints{-1}, true);
        nothing = eq(largest, -kInfinity);
        // Any scores do, but for NaN in their gradients.
        scores = masked_fill(scores, *nothing, 0);
    }
    V weights = softmax(scores, -1);
    if (nothing) weights = masked_fill(weights, *nothing, 0);
    return matmul(weights, heads("value"));
}

// ---- eval: row by row, by definition ----

/// softmax in place; zeros for a row of -inf alone when `masked`.
template <class T>
void softmax_row(std::vector<T>& row, bool masked, DType dtype) {
    T largest = -std::numeric_limits<T>::infinity(), sum = 0;
    for (const T x : row) largest = x > largest || x != x ? x : largest;
    if (masked && largest == -std::numeric_limits<T>::infinity()) {
        std::ranges::fill(row, T{0});
        return;
    }
    for (T& x : row) sum += x = std::exp(x - largest);
    for (T& x : row) x = rounded(x / sum, dtype);
}

/// The operand's elements under the sizes of the whole batch, heads repeated.
template <class T>
std::vector<T> load_operand(const Tensor& tensor, const Attention& a, std::int64_t repeats) {
    Sizes sizes = a.batch;
    sizes.insert(sizes.end(), tensor.sizes().end() - 2, tensor.sizes().end());
    if (repeats == 1) return load_broadcast<T>(tensor, sizes);
    Sizes grouped = sizes;
    grouped[grouped.size() - 3] /= repeats;
    const std::vector<T> once = load_broadcast<T>(tensor, grouped);
    const std::int64_t head = sizes[sizes.size() - 1] * sizes[sizes.size() - 2];
    std::vector<T> result;
    for (std::int64_t i = 0; i < element_count(a.batch); i++)
        result.insert(result.end(), once.begin() + i / repeats * head, once.begin() + (i / repeats + 1) * head);
    return result;
}

template <class T>
std::vector<T> attend(const Attention& a, const Arguments<Tensor>& args, DType dtype) {
    std::vector<T> query = load_operand<T>(args.tensor("query"), a, 1);
    const std::vector<T> key = load_operand<T>(args.tensor("key"), a, a.repeats);
    const std::vector<T> value = load_operand<T>(args.tensor("value"), a, a.repeats);
    for (T& q : query) q = rounded(static_cast<T>(q * static_cast<T>(a.scale)), dtype);
    std::optional<std::vector<T>> mask;
    bool hides = a.causal;
    if (const auto given = args.optional_tensor("attn_mask")) {
        Sizes sizes = a.batch;
        sizes.insert(sizes.end(), {a.targets, a.sources});
        mask = load_broadcast<T>(*given, sizes);
        hides = given->dtype() == DType::boolean;
    }
    std::vector<T> result, row(static_cast<std::size_t>(a.sources));
    for (std::int64_t i = 0; i < element_count(a.batch) * a.targets; i++) {
        const std::int64_t batch = i / a.targets, target = i % a.targets;
        for (std::int64_t s = 0; s < a.sources; s++) {
            T score = 0;
            for (std::int64_t e = 0; e < a.features; e++)
                score += query[static_cast<std::size_t>(i * a.features + e)] *
                         key[static_cast<std::size_t>((batch * a.sources + s) * a.features + e)];
            score = rounded(score, dtype);
            const T m = mask ? (*mask)[static_cast<std::size_t>(i * a.sources + s)] : T(!a.causal || s <= target);
            if (hides && m == 0) score = -std::numeric_limits<T>::infinity();
            if (mask && !hides) score = rounded(static_cast<T>(score + m), dtype);
            row[static_cast<std::size_t>(s)] = score;
        }
        softmax_row(row, mask || a.causal, dtype);
        for (std::int64_t v = 0; v < a.values; v++) {
            T sum = 0;
            for (std::int64_t s = 0; s < a.sources; s++)
                sum += row[static_cast<std::size_t>(s)] *
                       value[static_cast<std::size_t>((batch * a.sources + s) * a.values + v)];
            result.push_back(sum);
        }
    }
    return result;
}

std::vector<Tensor> eval_attention(const Arguments<Tensor>& args) {
    const Attention a = attention_of(args);
    const DType dtype = args.tensor("query").dtype();
    if (dtype == DType::f64) return {store(attend<double>(a, args, dtype), dtype, a.result)};
    return {store(attend<float>(a, args, dtype), dtype, a.result)};
}

constexpr OpDef kAttentionOps[] = {
    composite("scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
              "dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
              "softmax(scale query key^T + mask) value; "
              "pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
              kFloating, decompose_attention, {.infer = infer_attention, .eval = eval_attention}),
};

}  // namespace

std::span<const OpDef> attention_ops() { return kAttentionOps; }

}  // namespace whittle
