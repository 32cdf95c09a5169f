// ONNX's attention since opset 23: Attention, RotaryEmbedding, and TensorScatter, which keeps keys and values of tokens
// that came before. Each is written out, as the standard's own function or algorithm is.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/number_text.h"
#include "ops/core/dense.h"
#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// [batch, tokens, heads * size] as [batch, heads, tokens, size], which operands of four dimensions are already.
V by_heads(const Call& c, const std::string& name, const std::string& heads_name) {
    const V x = c.tensor(name);
    const Sizes& sizes = x.sizes();
    const std::int64_t heads = c.optional_integer(heads_name).value_or(0);
    const std::string found = "found " + heads_name + "=" + std::to_string(heads) + " and '" + name + "' of sizes " +
                              to_string(sizes) + ", expected ";
    if (sizes.size() == 4) {
        if (heads != 0 && heads != sizes[1])
            throw Error(found + "a second size equal to " + heads_name + ": [batch, heads, tokens, size]");
        return x;
    }
    if (sizes.size() != 3 || heads < 1 || sizes[2] % heads != 0)
        throw Error(found + "sizes [batch, heads, tokens, size], or a positive " + heads_name +
                    " and sizes [batch, tokens, heads * size]");
    return permuted(reshaped(x, {sizes[0], sizes[1], heads, sizes[2] / heads}), {0, 2, 1, 3});
}

/// by_heads() undone for a result of an operand of that rank.
V of_rank(const V& y, std::int64_t rank) {
    if (rank == 4) return y;
    const Sizes& sizes = y.sizes();
    return reshaped(permuted(y, {0, 2, 1, 3}), {sizes[0], sizes[2], sizes[1] * sizes[3]});
}

/// 0 … count - 1, in these sizes.
V counted(const Call& c, std::int64_t count, const Sizes& sizes) {
    return reshaped(arange(c.builder(), 0, count, 1, DType::i64), sizes);
}

// --- Attention -------------------------------------------------------------------------------------------------------

/// [batch, heads, tokens, size]: keys and values are those of the past, too, and may have fewer heads.
struct Attention {
    V query, key, value;
    std::int64_t past = 0;  ///< tokens before the first of the query

    std::int64_t batch() const { return query.sizes()[0]; }
    std::int64_t queries() const { return query.sizes()[2]; }
    std::int64_t keys() const { return key.sizes()[2]; }
    Sizes scores() const { return {batch(), query.sizes()[1], queries(), keys()}; }
};

/// Behind what there was of it.
V after_past(const Call& c, const V& x, const std::string& name) {
    if (!c.has(name)) return x;
    const V past = c.tensor(name);
    Sizes expected = x.sizes();
    if (past.rank() == 4) expected[2] = past.sizes()[2];
    if (past.sizes() != expected)
        throw Error("found '" + name + "' of sizes " + to_string(past.sizes()) + ", expected " + to_string(x.sizes()) +
                    ", where only the third size (the number of tokens) may differ");
    return joined({past, x}, 2);
}

Attention attention_of(const Call& c) {
    if (c.has("past_key") != c.has("past_value"))
        throw Error(std::string("found ") +
                    (c.has("past_key") ? "past_key without past_value" : "past_value without past_key") +
                    ", expected both or neither");
    if (c.has("past_key") && c.has("nonpad_kv_seqlen"))
        throw Error("found both nonpad_kv_seqlen and past_key, expected at most one of them");
    if (c.tensor("Q").rank() != c.tensor("K").rank() || c.tensor("Q").rank() != c.tensor("V").rank())
        throw Error("found Q, K and V of ranks " + std::to_string(c.tensor("Q").rank()) + ", " +
                    std::to_string(c.tensor("K").rank()) + " and " + std::to_string(c.tensor("V").rank()) +
                    ", expected equal ranks");
    Attention a{by_heads(c, "Q", "q_num_heads"), by_heads(c, "K", "kv_num_heads"), by_heads(c, "V", "kv_num_heads")};
    const std::int64_t own = a.keys();
    a.key = after_past(c, a.key, "past_key");
    a.value = after_past(c, a.value, "past_value");
    a.past = a.keys() - own;
    const Sizes &q = a.query.sizes(), &k = a.key.sizes(), &v = a.value.sizes();
    const bool same_batch = q[0] == k[0] && q[0] == v[0], same_heads = k[1] == v[1] && k[1] > 0 && q[1] % k[1] == 0;
    if (!same_batch || !same_heads || k[2] != v[2] || q[3] != k[3])
        throw Error("found Q of sizes " + to_string(q) + ", K of sizes " + to_string(k) + " and V of sizes " +
                    to_string(v) +
                    ", expected [batch, heads, tokens, size] with the same batch in Q, K and V, the same size in Q and "
                    "K, the same heads and tokens in K and V, and heads of Q that are a multiple of the heads of K");
    return a;
}

/// 0 where it is allowed, -infinity elsewhere.
V bias_where(const V& allowed, DType dtype) { return cast(where(allowed, 0.0, -kInfinity), dtype); }

/// The mask as what is added to scores. Since opset 24 it may end before the keys do: those behind it are hidden.
V bias_of_mask(const Call& c, const Attention& a) {
    const V mask = c.tensor("attn_mask");
    const DType dtype = a.query.dtype();
    if (mask.dtype() != DType::boolean && mask.dtype() != dtype)
        throw Error("found attn_mask of type " + std::string(name(mask.dtype())) + ", expected bool or " +
                    std::string(name(dtype)) + ", the type of Q");
    V bias = mask.dtype() == DType::boolean ? bias_where(mask, dtype) : mask;
    const std::int64_t missing = mask.rank() == 0 ? 0 : a.keys() - mask.sizes().back();
    if (opset(c) >= 24 && missing > 0) bias = constant_pad_nd(bias, Ints{0, missing}, -kInfinity);
    if (!expands_to(bias.sizes(), a.scores()))
        throw Error("found attn_mask of sizes " + to_string(mask.sizes()) + ", expected sizes that expand to " +
                    to_string(a.scores()) + ", the sizes of the scores");
    return bias;
}

/// Query i, behind the tokens of the past, sees the keys up to its own: j <= i + past. Where the caller keeps the past,
/// the last query is the last of the keys that are no padding, and nothing is seen behind these.
Vs allowed_keys(const Call& c, const Attention& a) {
    const bool causal = c.integer("is_causal") != 0;
    if (!c.has("nonpad_kv_seqlen")) {
        if (!causal) return {};
        return {tril(full(c.builder(), {a.queries(), a.keys()}, true, DType::boolean), a.past)};
    }
    const V given = c.tensor("nonpad_kv_seqlen");
    if (given.sizes() != Sizes{a.batch()})
        throw Error("found nonpad_kv_seqlen of sizes " + to_string(given.sizes()) + ", expected [" +
                    std::to_string(a.batch()) + "], one per batch element");
    const V valid = reshaped(given, {a.batch(), 1, 1, 1}), j = counted(c, a.keys(), {1, 1, 1, a.keys()});
    Vs allowed = {lt(j, valid)};
    if (causal) {
        const V i = counted(c, a.queries(), {1, 1, a.queries(), 1});
        const V past = valid - a.queries();
        allowed.push_back(le(j, i + past));
    }
    return allowed;
}

/// All that is added to the scores, if anything is.
OptionalV bias_of(const Call& c, const Attention& a) {
    Vs terms;
    if (c.has("attn_mask")) terms.push_back(bias_of_mask(c, a));
    for (const V& allowed : allowed_keys(c, a)) terms.push_back(bias_where(allowed, a.query.dtype()));
    if (terms.empty()) return std::nullopt;
    V bias = terms[0];
    for (std::size_t i = 1; i < terms.size(); ++i) bias = bias + terms[i];
    return bias;
}

/// Each key and value head as often as there are query heads for it.
V repeated(const Attention& a, const V& x) {
    const std::int64_t repeats = size_of_dim(a.query, 1) / size_of_dim(x, 1);
    return repeats == 1 ? x : repeat_interleave(x, repeats, 1);
}

/// Softmax in softmax_precision. A query that may see no key has no weights, zeros.
V weights_of(const Call& c, const Attention& a, V scores, const OptionalV& bias) {
    const DType dtype = a.query.dtype();
    const std::optional<std::int64_t> code = c.optional_integer("softmax_precision");
    const DType precision = code ? float_of_code("softmax_precision", *code) : dtype;
    // Causal alone hides no query's own key.
    const bool may_hide_all = bias && a.keys() > 0 && (c.has("attn_mask") || c.has("nonpad_kv_seqlen"));
    OptionalV nothing;
    if (may_hide_all) {
        nothing = eq(amax(*bias, Ints{-1}, true), -kInfinity);
        scores = masked_fill(scores, *nothing, 0.0);  // any scores do, but for NaN in their gradients
    }
    const V weights = cast(_softmax(cast(scores, precision), 3, false), dtype);
    return nothing ? masked_fill(weights, *nothing, 0.0) : weights;
}

/// softmax(scale Q K^T + bias) V; its scores are given at the stage that qk_matmul_output_mode says.
CallResults attention(const Call& c) {
    const Attention a = attention_of(c);
    const std::int64_t mode = c.integer("qk_matmul_output_mode");
    if (mode < 0 || mode > 3)
        throw Error("found qk_matmul_output_mode=" + std::to_string(mode) + ", expected 0, 1, 2 or 3");
    const double scale =
        c.has("scale") ? number32(c, "scale") : 1 / std::sqrt(static_cast<double>(size_of_dim(a.query, 3)));
    if (!(scale >= 0)) throw Error("found scale=" + shortest(scale) + ", expected at least 0");
    const auto scaled = [&](const V& x) { return x * std::sqrt(scale); };
    const V products = matmul(scaled(a.query), scaled(permuted(repeated(a, a.key), {0, 1, 3, 2})));
    V capped = products;
    if (const double cap = number32(c, "softcap"); cap != 0) capped = tanh(products / cap) * cap;
    const OptionalV bias = bias_of(c, a);
    const V scores = bias ? capped + *bias : capped;
    const V weights = weights_of(c, a, scores, bias);
    const DType dtype = a.query.dtype(), common = promote(dtype, a.value.dtype());
    const V y = matmul(cast(weights, common), cast(repeated(a, a.value), common));
    const std::array<V, 4> stages = {products, capped, scores, weights};
    Vs results = {of_rank(cast(y, dtype), c.tensor("Q").rank()), a.key, a.value,
                  stages[static_cast<std::size_t>(mode)]};
    results.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(c.integer("num_outputs"), 1, 4)));
    return results;
}

// --- What is before and beside it ------------------------------------------------------------------------------------

/// Cosines or sines of each token's angles, for all heads: [batch, 1, tokens, angles]. They are looked up by position,
/// or given for each token.
V by_token(const Call& c, const std::string& name, const V& x, std::int64_t angles) {
    V cache = c.tensor(name);
    const Sizes tokens = {size_of_dim(x, 0), size_of_dim(x, 2)}, expected = {tokens[0], tokens[1], angles};
    const bool looked_up = c.has("position_ids");
    if (looked_up && c.tensor("position_ids").sizes() != tokens)
        throw Error("found position_ids of sizes " + to_string(c.tensor("position_ids").sizes()) + ", expected " +
                    to_string(tokens) + ", one per token");
    const bool fits = looked_up ? cache.rank() == 2 && size_of_dim(cache, 1) == angles : cache.sizes() == expected;
    if (!fits)
        throw Error("found '" + name + "' of sizes " + to_string(cache.sizes()) + ", expected " +
                    (looked_up ? "[positions, " + std::to_string(angles) + "]" : to_string(expected)));
    if (looked_up) cache = c.builder().call("onnx.Gather", {arg(cache), arg(c.tensor("position_ids"))});
    return reshaped(cache, {tokens[0], 1, tokens[1], angles});
}

/// Pairs of elements turned by angles: an element and the one half of them further, or the next one if interleaved.
CallResults rotary_embedding(const Call& c) {
    const V x = by_heads(c, "X", "num_heads");
    const std::int64_t size = size_of_dim(x, 3), wanted = c.integer("rotary_embedding_dim");
    const std::int64_t turned = wanted == 0 ? size : wanted, half = turned / 2;
    if (turned < 0 || turned > size || turned % 2 != 0)
        throw Error("found " + std::to_string(turned) + " elements to rotate in heads of " + std::to_string(size) +
                    " elements, expected an even number from 0 to " + std::to_string(size));
    const bool interleaved = c.integer("interleaved") != 0;
    const V a = interleaved ? part(x, 3, 0, turned, 2) : part(x, 3, 0, half);
    const V b = interleaved ? part(x, 3, 1, turned, 2) : part(x, 3, half, turned);
    const V cos = by_token(c, "cos_cache", x, half), sin = by_token(c, "sin_cache", x, half);
    Vs parts = {cos * a - sin * b, sin * a + cos * b};
    if (interleaved) {
        const Sizes& sizes = a.sizes();
        for (V& x : parts) x = reshaped(x, {sizes[0], sizes[1], sizes[2], half, 1});
        parts = {reshaped(joined(parts, 4), {sizes[0], sizes[1], sizes[2], turned})};
    }
    if (turned < size) parts.push_back(part(x, 3, turned, size));
    return of_rank(joined(parts, 3), c.tensor("X").rank());
}

/// The update in place of as many elements of the axis, from the write index of each of the batch on; circular: behind
/// the last element comes the first.
CallResults tensor_scatter(const Call& c) {
    const V past = c.tensor("past_cache"), update = c.tensor("update");
    const std::int64_t axis = wrap_dim(c.integer("axis"), past.rank());
    const std::string mode = c.text("mode");
    if (mode != "linear" && mode != "circular")
        throw Error("found mode '" + mode + "', expected 'linear' or 'circular'");
    if (axis == 0) throw Error("found axis=0, which is the batch axis, expected another axis");
    Sizes expected = past.sizes();
    if (update.rank() == past.rank()) expected[static_cast<std::size_t>(axis)] = size_of_dim(update, axis);
    const std::int64_t all = size_of_dim(past, axis), some = expected[static_cast<std::size_t>(axis)];
    if (update.sizes() != expected || some > all)
        throw Error("found past_cache of sizes " + to_string(past.sizes()) + " and update of sizes " +
                    to_string(update.sizes()) +
                    ", expected equal sizes, except that update may be smaller along axis " + std::to_string(axis));
    Sizes along(past.sizes().size(), 1), each = along;
    along[static_cast<std::size_t>(axis)] = some;
    each[0] = size_of_dim(past, 0);
    V index = counted(c, some, along);
    if (c.has("write_indices")) {
        const V from = c.tensor("write_indices");
        if (from.sizes() != Sizes{each[0]})
            throw Error("found write_indices of sizes " + to_string(from.sizes()) + ", expected [" +
                        std::to_string(each[0]) + "], one per batch element");
        index = index + reshaped(from, each);
        if (mode == "circular" && all > 0) index = remainder(index, all);
    }
    return scatter(past, axis, expand(index, update.sizes()), update);
}

/// Of TensorScatter: rows are written at write_indices, and in "linear" mode must not end behind the cache.
Reason open_written_rows(std::string_view op, const Arguments<Tensor>& a) {
    if (!a.has("write_indices")) return std::nullopt;
    const bool linear = a.text("mode") == "linear";
    const std::int64_t axis = a.integer("axis"), size = extent(a.tensor("past_cache"), axis);
    return out_of_range(op, "index", a.tensor("write_indices"), 0,
                        linear ? size - extent(a.tensor("update"), axis) : size - 1);
}

/// Of RotaryEmbedding: rows of the caches.
Reason open_token_positions(std::string_view op, const Arguments<Tensor>& a) {
    if (!a.has("position_ids")) return std::nullopt;
    return out_of_range(op, "position", a.tensor("position_ids"), 0, extent(a.tensor("cos_cache"), 0) - 1);
}

constexpr OpDef kAttentionOps[] = {
    composite("Attention(Tensor Q, Tensor K, Tensor V, Tensor? attn_mask=None, Tensor? past_key=None, Tensor? "
              "past_value=None, Tensor? nonpad_kv_seqlen=None, *, int is_causal=0, int? kv_num_heads=None, int? "
              "q_num_heads=None, int qk_matmul_output_mode=0, float? scale=None, float softcap=0.0, int? "
              "softmax_precision=None, int num_outputs=1) -> Tensor[]",
              "softmax(scale Q K^T + mask) V, by heads. onnx Operators.md#Attention, Changelog.md#Attention-23",
              kFloating, attention),
    composite("RotaryEmbedding(Tensor X, Tensor cos_cache, Tensor sin_cache, Tensor? position_ids=None, *, int "
              "interleaved=0, int? num_heads=None, int rotary_embedding_dim=0) -> Tensor",
              "Pairs of elements rotated by angles that depend on the token's position",
              kFloating & ~set_of(DType::f64), rotary_embedding, {.ask = open_token_positions}),
    composite("TensorScatter(Tensor past_cache, Tensor update, Tensor? write_indices=None, *, int axis=-2, str "
              "mode=\"linear\") -> Tensor",
              "Keys or values of new tokens written into the cache of earlier tokens", kMoved, tensor_scatter,
              {.ask = open_written_rows}),
};

}  // namespace

std::span<const OpDef> onnx_attention_ops() { return kAttentionOps; }

}  // namespace whittle
