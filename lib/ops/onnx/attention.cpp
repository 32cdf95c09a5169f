// ONNX's attention since opset 23: Attention, RotaryEmbedding, and TensorScatter, which keeps keys and values of tokens
// that came before. Each is written out, as the standard's own function or algorithm is.
#include <array>
#include <cmath>
#include <limits>

#include "base/number_text.h"
#include "ops/core/dense.h"
#include "ops/onnx/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// [batch, tokens, heads * size] as [batch, heads, tokens, size], which operands of four dimensions are already.
NodeValue by_heads(const Rewrite& op, const std::string& name, const std::string& heads_name) {
    const NodeValue x = op.tensor(name);
    const Sizes& sizes = x.meta.sizes;
    const std::int64_t heads = op.arguments().optional_integer(heads_name).value_or(0);
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
    return op.permute(op.reshape(x, {sizes[0], sizes[1], heads, sizes[2] / heads}), {0, 2, 1, 3});
}

/// by_heads() undone for a result of an operand of that rank.
NodeValue of_rank(const Rewrite& op, const NodeValue& y, std::int64_t rank) {
    if (rank == 4) return y;
    const Sizes& sizes = y.meta.sizes;
    return op.reshape(op.permute(y, {0, 2, 1, 3}), {sizes[0], sizes[2], sizes[1] * sizes[3]});
}

/// 0 … count - 1, in these sizes.
NodeValue counted(const Rewrite& op, std::int64_t count, const Sizes& sizes) {
    return op.reshape(
        op.builder().call("aten.arange.start_step", {Arg(0), Arg(count), Arg(1)}, {{"dtype", DType::i64}}), sizes);
}

// --- Attention -------------------------------------------------------------------------------------------------------

/// [batch, heads, tokens, size]: keys and values are those of the past, too, and may have fewer heads.
struct Attention {
    NodeValue query, key, value;
    std::int64_t past = 0;  ///< tokens before the first of the query

    std::int64_t batch() const { return query.meta.sizes[0]; }
    std::int64_t queries() const { return query.meta.sizes[2]; }
    std::int64_t keys() const { return key.meta.sizes[2]; }
    Sizes scores() const { return {batch(), query.meta.sizes[1], queries(), keys()}; }
};

/// Behind what there was of it.
NodeValue after_past(const Rewrite& op, const NodeValue& x, const std::string& name) {
    if (!op.has(name)) return x;
    const NodeValue past = op.tensor(name);
    Sizes expected = x.meta.sizes;
    if (rank_of(past) == 4) expected[2] = past.meta.sizes[2];
    if (past.meta.sizes != expected)
        throw Error("found '" + name + "' of sizes " + to_string(past.meta.sizes) + ", expected " +
                    to_string(x.meta.sizes) + ", of which only the third size, the number of tokens, may differ");
    return op.concat({past, x}, 2);
}

Attention attention_of(const Rewrite& op) {
    if (op.has("past_key") != op.has("past_value"))
        throw Error("found only one of past_key and past_value, expected both or neither");
    if (op.has("past_key") && op.has("nonpad_kv_seqlen"))
        throw Error("found both nonpad_kv_seqlen and past_key, expected at most one of them");
    if (rank_of(op.tensor("Q")) != rank_of(op.tensor("K")) || rank_of(op.tensor("Q")) != rank_of(op.tensor("V")))
        throw Error("found Q, K and V of different ranks, expected equal ranks");
    Attention a{by_heads(op, "Q", "q_num_heads"), by_heads(op, "K", "kv_num_heads"), by_heads(op, "V", "kv_num_heads")};
    const std::int64_t own = a.keys();
    a.key = after_past(op, a.key, "past_key");
    a.value = after_past(op, a.value, "past_value");
    a.past = a.keys() - own;
    const Sizes &q = a.query.meta.sizes, &k = a.key.meta.sizes, &v = a.value.meta.sizes;
    const bool same_batch = q[0] == k[0] && q[0] == v[0], same_heads = k[1] == v[1] && k[1] > 0 && q[1] % k[1] == 0;
    if (!same_batch || !same_heads || k[2] != v[2] || q[3] != k[3])
        throw Error("found Q of sizes " + to_string(q) + ", K of sizes " + to_string(k) + " and V of sizes " +
                    to_string(v) +
                    ", expected [batch, heads, tokens, size] with equal batches, equal sizes in Q and K, equal tokens "
                    "and heads in K and V, and a multiple of that number of heads in Q");
    return a;
}

/// 0 where it is allowed, -infinity elsewhere.
NodeValue bias_where(const Rewrite& op, const NodeValue& allowed, DType dtype) {
    return op.cast(op("aten.where.Scalar", allowed, 0.0, -kInfinity), dtype);
}

/// The mask as what is added to scores. Since opset 24 it may end before the keys do: those behind it are hidden.
NodeValue bias_of_mask(const Rewrite& op, const Attention& a) {
    const NodeValue mask = op.tensor("attn_mask");
    const DType dtype = a.query.meta.dtype;
    if (mask.meta.dtype != DType::boolean && mask.meta.dtype != dtype)
        throw Error("found attn_mask of type " + std::string(name(mask.meta.dtype)) + ", expected bool or " +
                    std::string(name(dtype)) + ", the type of Q");
    NodeValue bias = mask.meta.dtype == DType::boolean ? bias_where(op, mask, dtype) : mask;
    const std::int64_t missing = rank_of(mask) == 0 ? 0 : a.keys() - mask.meta.sizes.back();
    if (op.opset() >= 24 && missing > 0) bias = op("aten.constant_pad_nd.default", bias, Ints{0, missing}, -kInfinity);
    if (!expands_to(bias.meta.sizes, a.scores()))
        throw Error("found attn_mask of sizes " + to_string(mask.meta.sizes) + ", expected sizes that expand to " +
                    to_string(a.scores()) + ", the sizes of the scores");
    return bias;
}

/// Query i, behind the tokens of the past, sees the keys up to its own: j <= i + past. Where the caller keeps the past,
/// the last query is the last of the keys that are no padding, and nothing is seen behind these.
std::vector<NodeValue> allowed_keys(const Rewrite& op, const Attention& a) {
    const bool causal = op.integer("is_causal") != 0;
    if (!op.has("nonpad_kv_seqlen")) {
        if (!causal) return {};
        return {op("aten.tril.default", op.full({a.queries(), a.keys()}, Scalar(true), DType::boolean), a.past)};
    }
    const NodeValue given = op.tensor("nonpad_kv_seqlen");
    if (given.meta.sizes != Sizes{a.batch()})
        throw Error("found nonpad_kv_seqlen of sizes " + to_string(given.meta.sizes) + ", expected [" +
                    std::to_string(a.batch()) + "], one per batch element");
    const NodeValue valid = op.reshape(given, {a.batch(), 1, 1, 1}), j = counted(op, a.keys(), {1, 1, 1, a.keys()});
    std::vector<NodeValue> allowed = {op("aten.lt.Tensor", j, valid)};
    if (causal) {
        const NodeValue i = counted(op, a.queries(), {1, 1, a.queries(), 1});
        const NodeValue past = op("aten.sub.Tensor", valid, a.queries());
        allowed.push_back(op("aten.le.Tensor", j, op("aten.add.Tensor", i, past)));
    }
    return allowed;
}

/// All that is added to the scores, if anything is.
std::optional<NodeValue> bias_of(const Rewrite& op, const Attention& a) {
    std::vector<NodeValue> terms;
    if (op.has("attn_mask")) terms.push_back(bias_of_mask(op, a));
    for (const NodeValue& allowed : allowed_keys(op, a)) terms.push_back(bias_where(op, allowed, a.query.meta.dtype));
    if (terms.empty()) return std::nullopt;
    NodeValue bias = terms[0];
    for (std::size_t i = 1; i < terms.size(); ++i) bias = op("aten.add.Tensor", bias, terms[i]);
    return bias;
}

/// Each key and value head as often as there are query heads for it.
NodeValue repeated(const Rewrite& op, const Attention& a, const NodeValue& x) {
    const std::int64_t repeats = size_of_dim(a.query, 1) / size_of_dim(x, 1);
    return repeats == 1 ? x : op("aten.repeat_interleave.self_int", x, repeats, 1);
}

/// Softmax in softmax_precision. A query that may see no key has no weights, zeros.
NodeValue weights_of(const Rewrite& op, const Attention& a, NodeValue scores, const std::optional<NodeValue>& bias) {
    const DType dtype = a.query.meta.dtype;
    const std::optional<std::int64_t> code = op.arguments().optional_integer("softmax_precision");
    const DType precision = code ? float_of_code("softmax_precision", *code) : dtype;
    // Causal alone hides no query's own key.
    const bool may_hide_all = bias && a.keys() > 0 && (op.has("attn_mask") || op.has("nonpad_kv_seqlen"));
    std::optional<NodeValue> nothing;
    if (may_hide_all) {
        nothing = op("aten.eq.Scalar", op("aten.amax.default", *bias, Ints{-1}, true), -kInfinity);
        scores = op("aten.masked_fill.Scalar", scores, *nothing, 0.0);  // any scores do, but for NaN in their gradients
    }
    const NodeValue weights = op.cast(op("aten._softmax.default", op.cast(scores, precision), 3, false), dtype);
    return nothing ? op("aten.masked_fill.Scalar", weights, *nothing, 0.0) : weights;
}

/// softmax(scale Q K^T + bias) V; its scores are given at the stage that qk_matmul_output_mode says.
Results attention(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Attention a = attention_of(op);
    const std::int64_t mode = op.integer("qk_matmul_output_mode");
    if (mode < 0 || mode > 3)
        throw Error("found qk_matmul_output_mode=" + std::to_string(mode) + ", expected 0, 1, 2 or 3");
    const double scale =
        arguments.has("scale") ? op.number("scale") : 1 / std::sqrt(static_cast<double>(size_of_dim(a.query, 3)));
    if (!(scale >= 0)) throw Error("found scale=" + shortest(scale) + ", expected at least 0");
    const auto scaled = [&](const NodeValue& x) { return op("aten.mul.Tensor", x, std::sqrt(scale)); };
    const NodeValue products =
        op("aten.matmul.default", scaled(a.query), scaled(op.permute(repeated(op, a, a.key), {0, 1, 3, 2})));
    NodeValue capped = products;
    if (const double cap = op.number("softcap"); cap != 0)
        capped = op("aten.mul.Tensor", op("aten.tanh.default", op("aten.div.Tensor", products, cap)), cap);
    const std::optional<NodeValue> bias = bias_of(op, a);
    const NodeValue scores = bias ? op("aten.add.Tensor", capped, *bias) : capped;
    const NodeValue weights = weights_of(op, a, scores, bias);
    const DType dtype = a.query.meta.dtype, common = promote(dtype, a.value.meta.dtype);
    const NodeValue y = op("aten.matmul.default", op.cast(weights, common), op.cast(repeated(op, a, a.value), common));
    const std::array<NodeValue, 4> stages = {products, capped, scores, weights};
    Results results = {of_rank(op, op.cast(y, dtype), rank_of(op.tensor("Q"))).ref, a.key.ref, a.value.ref,
                       stages[static_cast<std::size_t>(mode)].ref};
    results.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(op.integer("num_outputs"), 1, 4)));
    return results;
}

// --- What is before and beside it ------------------------------------------------------------------------------------

/// Cosines or sines of each token's angles, for all heads: [batch, 1, tokens, angles]. They are looked up by position,
/// or given for each token.
NodeValue by_token(const Rewrite& op, const std::string& name, const NodeValue& x, std::int64_t angles) {
    NodeValue cache = op.tensor(name);
    const Sizes tokens = {size_of_dim(x, 0), size_of_dim(x, 2)}, expected = {tokens[0], tokens[1], angles};
    const bool looked_up = op.has("position_ids");
    if (looked_up && op.tensor("position_ids").meta.sizes != tokens)
        throw Error("found position_ids of sizes " + to_string(op.tensor("position_ids").meta.sizes) + ", expected " +
                    to_string(tokens) + ", one per token");
    const bool fits = looked_up ? rank_of(cache) == 2 && size_of_dim(cache, 1) == angles : cache.meta.sizes == expected;
    if (!fits)
        throw Error("found '" + name + "' of sizes " + to_string(cache.meta.sizes) + ", expected " +
                    (looked_up ? "[positions, " + std::to_string(angles) + "]" : to_string(expected)));
    if (looked_up) cache = op.builder().call("onnx.Gather", {arg(cache), arg(op.tensor("position_ids"))});
    return op.reshape(cache, {tokens[0], 1, tokens[1], angles});
}

/// Pairs of elements turned by angles: an element and the one half of them further, or the next one if interleaved.
Results rotary_embedding(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = by_heads(op, "X", "num_heads");
    const std::int64_t size = size_of_dim(x, 3), wanted = op.integer("rotary_embedding_dim");
    const std::int64_t turned = wanted == 0 ? size : wanted, half = turned / 2;
    if (turned < 0 || turned > size || turned % 2 != 0)
        throw Error("found " + std::to_string(turned) + " elements to rotate in heads of " + std::to_string(size) +
                    " elements, expected an even number from 0 to " + std::to_string(size));
    const bool interleaved = op.integer("interleaved") != 0;
    const NodeValue a = interleaved ? op.slice(x, 3, 0, turned, 2) : op.slice(x, 3, 0, half);
    const NodeValue b = interleaved ? op.slice(x, 3, 1, turned, 2) : op.slice(x, 3, half, turned);
    const NodeValue cos = by_token(op, "cos_cache", x, half), sin = by_token(op, "sin_cache", x, half);
    const auto product = [&](const NodeValue& left, const NodeValue& right) {
        return op("aten.mul.Tensor", left, right);
    };
    std::vector<NodeValue> parts = {op("aten.sub.Tensor", product(cos, a), product(sin, b)),
                                    op("aten.add.Tensor", product(sin, a), product(cos, b))};
    if (interleaved) {
        const Sizes& sizes = a.meta.sizes;
        for (NodeValue& part : parts) part = op.reshape(part, {sizes[0], sizes[1], sizes[2], half, 1});
        parts = {op.reshape(op.concat(parts, 4), {sizes[0], sizes[1], sizes[2], turned})};
    }
    if (turned < size) parts.push_back(op.slice(x, 3, turned, size));
    return {of_rank(op, op.concat(parts, 3), rank_of(op.tensor("X"))).ref};
}

/// The update in place of as many elements of the axis, from the write index of each of the batch on; circular: behind
/// the last element comes the first.
Results tensor_scatter(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue past = op.tensor("past_cache"), update = op.tensor("update");
    const std::int64_t axis = wrap_dim(op.integer("axis"), rank_of(past));
    const std::string mode = arguments.text("mode");
    if (mode != "linear" && mode != "circular") throw Error("found mode '" + mode + "', expected linear or circular");
    if (axis == 0) throw Error("found the batch axis 0, expected another axis");
    Sizes expected = past.meta.sizes;
    if (rank_of(update) == rank_of(past)) expected[static_cast<std::size_t>(axis)] = size_of_dim(update, axis);
    const std::int64_t all = size_of_dim(past, axis), some = expected[static_cast<std::size_t>(axis)];
    if (update.meta.sizes != expected || some > all)
        throw Error("found past_cache of sizes " + to_string(past.meta.sizes) + " and update of sizes " +
                    to_string(update.meta.sizes) +
                    ", expected equal sizes, except that update may be smaller along axis " + std::to_string(axis));
    Sizes along(past.meta.sizes.size(), 1), each = along;
    along[static_cast<std::size_t>(axis)] = some;
    each[0] = size_of_dim(past, 0);
    NodeValue index = counted(op, some, along);
    if (op.has("write_indices")) {
        const NodeValue from = op.tensor("write_indices");
        if (from.meta.sizes != Sizes{each[0]})
            throw Error("found write_indices of sizes " + to_string(from.meta.sizes) + ", expected [" +
                        std::to_string(each[0]) + "], one per batch element");
        index = op("aten.add.Tensor", index, op.reshape(from, each));
        if (mode == "circular" && all > 0) index = op("aten.remainder.Scalar", index, all);
    }
    return {op("aten.scatter.src", past, axis, op("aten.expand.default", index, update.meta.sizes), update).ref};
}

constexpr OpDef kAttentionOps[] = {
    {.name = "onnx.Attention",
     .doc = "softmax(scale Q K^T + mask) V, by heads. onnx Operators.md#Attention, Changelog.md#Attention-23",
     .schema = "Attention(Tensor Q, Tensor K, Tensor V, Tensor? attn_mask=None, Tensor? past_key=None, Tensor? "
               "past_value=None, Tensor? nonpad_kv_seqlen=None, *, int is_causal=0, int? kv_num_heads=None, int? "
               "q_num_heads=None, int qk_matmul_output_mode=0, float? scale=None, float softcap=0.0, int? "
               "softmax_precision=None, int num_outputs=1) -> Tensor[]",
     .dtypes = kFloating,
     .decompose = attention},
    {.name = "onnx.RotaryEmbedding",
     .doc =
         "Pairs of elements rotated by angles that depend on the token's position. onnx Operators.md#RotaryEmbedding",
     .schema = "RotaryEmbedding(Tensor X, Tensor cos_cache, Tensor sin_cache, Tensor? position_ids=None, *, int "
               "interleaved=0, int? num_heads=None, int rotary_embedding_dim=0) -> Tensor",
     .dtypes = kFloating & ~set_of(DType::f64),
     .decompose = rotary_embedding,
     .open = {.ask = onnx_open::token_positions}},
    {.name = "onnx.TensorScatter",
     .doc = "Keys or values of new tokens written into the cache of earlier ones. onnx Operators.md#TensorScatter",
     .schema = "TensorScatter(Tensor past_cache, Tensor update, Tensor? write_indices=None, *, int axis=-2, "
               "str mode=\"linear\") -> Tensor",
     .dtypes = kMoved,
     .decompose = tensor_scatter,
     .open = {.ask = onnx_open::written_rows}},
};

}  // namespace

std::span<const OpDef> onnx_attention_ops() { return kAttentionOps; }

}  // namespace whittle
