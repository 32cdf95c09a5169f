// Attention, RotaryEmbedding and TensorScatter, of opsets 23 and 24: values follow from the formulas and the text of
// the standard, onnx Changelog.md#Attention-23, #Attention-24, #RotaryEmbedding-23, #TensorScatter-24.
#include "values.h"

namespace whittle {
namespace {

using test::floats;
using test::load_error;
using test::model;
using test::near;
using test::Numbers;
using test::results;

constexpr double kHidden = -INFINITY;

Tensor whole(const std::vector<std::int64_t>& values, const Sizes& sizes) { return Tensor::of(values, sizes); }

/// softmax(scores) values; zeros where all is hidden.
double attended(const Numbers& scores, const Numbers& values) {
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        sum += std::exp(scores[i]) * values[i];
        weights += std::exp(scores[i]);
    }
    return weights == 0 ? 0 : sum / weights;
}

/// An Attention of q, k and v, two queries and three keys of one number each, and what is declared besides.
std::string attention(const std::string& call, const std::string& more_inputs = "",
                      const std::string& results = "float[1,1,2,1] y") {
    return "g (float[1,1,2,1] q, float[1,1,3,1] k, float[1,1,3,1] v" + more_inputs + ") => (" + results + ") { " +
           call + " }";
}

struct Operands {
    Tensor q = floats({1, -2}, {1, 1, 2, 1}), k = floats({0.5f, -1, 2}, {1, 1, 3, 1}),
           v = floats({10, 20, 40}, {1, 1, 3, 1});
    Numbers first = {0.5, -1, 2}, second = {-1, 2, -4}, values = {10, 20, 40};  ///< the scores of each query
    std::vector<Tensor> with(const std::vector<Tensor>& more = {}) const {
        std::vector<Tensor> all = {q, k, v};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
};

TEST_CASE("attention is a softmax of scaled products", "[onnx][attention]") {
    const Operands o;
    CHECK(near(results(attention("y = Attention(q, k, v)"), 23, o.with()).at(0),
               {attended(o.first, o.values), attended(o.second, o.values)}));
    const auto half = [](Numbers scores) {
        for (double& score : scores) score /= 2;
        return scores;
    };
    CHECK(near(results(attention("y = Attention<scale = 0.5>(q, k, v)"), 23, o.with()).at(0),
               {attended(half(o.first), o.values), attended(half(o.second), o.values)}));
    // The usual scale is 1 / sqrt(size): of four numbers 1/2.
    const std::string sized =
        "g (float[1,1,1,4] q, float[1,1,2,4] k, float[1,1,2,1] v) => (float[1,1,1,1] y) { y = Attention(q, k, v) }";
    CHECK(near(results(sized, 23,
                       {floats({1, 2, 3, 4}, {1, 1, 1, 4}), floats({1, 0, 0, 0, 0, 0, 1, 0}, {1, 1, 2, 4}),
                        floats({10, 20}, {1, 1, 2, 1})})
                   .at(0),
               {attended({0.5, 1.5}, {10, 20})}));
    CHECK_THAT(load_error(model(attention("y = Attention<scale = -1.0>(q, k, v)"), 23)),
               Catch::Contains("found scale=-1, expected"));
    CHECK_THAT(load_error(model(attention("y = Attention(q, k, v)"), 22)), Catch::Contains("onnx.Attention"));
}

TEST_CASE("a causal query sees no key behind its own", "[onnx][attention]") {
    const Operands o;
    CHECK(near(results(attention("y = Attention<is_causal = 1>(q, k, v)"), 23, o.with()).at(0),
               {10, attended({-1, 2}, {10, 20})}));
    // With three keys of the past before its own it is the fourth: j <= i + 3.
    const std::string past =
        "g (float[1,1,2,1] q, float[1,1,2,1] k, float[1,1,2,1] v, float[1,1,3,1] pk, float[1,1,3,1] pv) => "
        "(float[1,1,2,1] y, float[1,1,5,1] key, float[1,1,5,1] value) "
        "{ y, key, value = Attention<is_causal = 1>(q, k, v, , pk, pv) }";
    const auto got = results(past, 23, {o.q, floats({3, -3}, {1, 1, 2, 1}), floats({1, 2}, {1, 1, 2, 1}), o.k, o.v});
    CHECK(near(got.at(0),
               {attended({0.5, -1, 2, 3}, {10, 20, 40, 1}), attended({-1, 2, -4, -6, 6}, {10, 20, 40, 1, 2})}));
    CHECK(got.at(1) == Numbers{0.5, -1, 2, 3, -3});
    CHECK(got.at(2) == Numbers{10, 20, 40, 1, 2});
}

TEST_CASE("a mask hides keys or is added, and what is hidden from all of them is zero", "[onnx][attention]") {
    const Operands o;
    const std::string hide = attention("y = Attention(q, k, v, m)", ", bool[2,3] m");
    CHECK(near(results(hide, 23, o.with({whole({1, 0, 1, 0, 1, 0}, {2, 3}).to(DType::boolean)})).at(0),
               {attended({0.5, 2}, {10, 40}), 20}));
    CHECK(near(results(hide, 23, o.with({whole({0, 0, 0, 1, 1, 1}, {2, 3}).to(DType::boolean)})).at(0),
               {0, attended(o.second, o.values)}));
    const std::string add = attention("y = Attention<is_causal = 1>(q, k, v, m)", ", float[1,3] m");
    const auto causal = [&](const std::vector<float>& mask) {
        return results(add, 23, o.with({floats(mask, {1, 3})})).at(0);
    };
    CHECK(near(causal({1, 3, 7}), {10, attended({-1 + 1, 2 + 3}, {10, 20})}));
    CHECK(near(causal({-INFINITY, 3, 7}), {0, 20}));
    CHECK_THAT(load_error(model(attention("y = Attention(q, k, v, m)", ", int64[2,3] m"), 23)),
               Catch::Contains("found attn_mask of type i64, expected bool or f32, the type of Q"));
}

TEST_CASE("since opset 24 keys behind the end of a mask are hidden", "[onnx][attention]") {
    const Operands o;
    const std::string masked = attention("y = Attention(q, k, v, m)", ", float[2,2] m");
    CHECK(near(results(masked, 24, o.with({floats({0, 1, 2, 3}, {2, 2})})).at(0),
               {attended({0.5, -1 + 1}, {10, 20}), attended({-1 + 2, 2 + 3}, {10, 20})}));
    CHECK_THAT(load_error(model(masked, 23)),
               Catch::Contains("found attn_mask of sizes [2, 2], expected sizes that expand to [1, 1, 2, 3]"));
}

TEST_CASE("since opset 24 padding behind the keys is not seen", "[onnx][attention]") {
    const Operands o;
    const auto padded = [&](const std::string& attributes, std::int64_t valid) {
        return results(attention("y = Attention<" + attributes + ">(q, k, v, , , , n)", ", int64[1] n"), 24,
                       o.with({whole({valid}, {1})}))
            .at(0);
    };
    CHECK(near(padded("is_causal = 0", 2), {attended({0.5, -1}, {10, 20}), attended({-1, 2}, {10, 20})}));
    CHECK(near(padded("is_causal = 0", 0), {0, 0}));
    // The last of two queries is the last key that is valid: j <= i + valid - 2.
    CHECK(near(padded("is_causal = 1", 3), {attended({0.5, -1}, {10, 20}), attended(o.second, o.values)}));
    CHECK(near(padded("is_causal = 1", 2), {10, attended({-1, 2}, {10, 20})}));
    CHECK(near(padded("is_causal = 1", 1), {0, 10}));
    CHECK_THAT(load_error(model(attention("y = Attention(q, k, v, , , , n)", ", int64[1] n"), 23)),
               Catch::Contains("found 7 inputs, expected 3 to 6"));
}

TEST_CASE("query heads share those of keys and values, and three dimensions are split into heads",
          "[onnx][attention]") {
    // Heads 0 and 1 of the query are of head 0, heads 2 and 3 of head 1, which has the keys' and values' second number.
    const std::string graph =
        "g (float[1,1,4] q, float[1,2,2] k, float[1,2,2] v) => (float[1,1,4] y, float[1,2,2,1] key) "
        "{ y, key = Attention<q_num_heads = 4, kv_num_heads = 2>(q, k, v) }";
    const auto got = results(
        graph, 23,
        {floats({1, 2, 3, -1}, {1, 1, 4}), floats({1, 3, 2, 5}, {1, 2, 2}), floats({10, 30, 20, 50}, {1, 2, 2})});
    CHECK(near(got.at(0), {attended({1, 2}, {10, 20}), attended({2, 4}, {10, 20}), attended({9, 15}, {30, 50}),
                           attended({-3, -5}, {30, 50})}));
    CHECK(got.at(1) == Numbers{1, 2, 3, 5});
    const auto error = [&](const std::string& attributes) {
        return load_error(
            model("g (float[1,1,4] q, float[1,2,2] k, float[1,2,2] v) => (float[1,1,4] y) "
                  "{ y = Attention<" +
                      attributes + ">(q, k, v) }",
                  23));
    };
    CHECK_THAT(error("kv_num_heads = 2"), Catch::Contains("found q_num_heads=0 and 'Q' of sizes [1, 1, 4]"));
    CHECK_THAT(error("q_num_heads = 1, kv_num_heads = 2"),
               Catch::Contains("the same batch in Q, K and V, the same size in Q and K"));
}

TEST_CASE("the scores are given at one of four stages", "[onnx][attention]") {
    const Operands o;
    const std::vector<Tensor> inputs = o.with({floats({1, -INFINITY, 2}, {3})});
    const auto stage = [&](int mode) {
        const std::string call =
            "y, , , scores = Attention<softcap = 3.0, qk_matmul_output_mode = " + std::to_string(mode) +
            ">(q, k, v, m)";
        return results(attention(call, ", float[3] m", "float[1,1,2,1] y, float[1,1,2,3] scores"), 23, inputs).at(1);
    };
    const auto capped = [](double score) { return 3 * std::tanh(score / 3); };
    CHECK(near(stage(0), {0.5, -1, 2, -1, 2, -4}));
    CHECK(near(stage(1), {capped(0.5), capped(-1), capped(2), capped(-1), capped(2), capped(-4)}));
    const Numbers biased = stage(2);
    CHECK(near({biased[0], biased[2], biased[3], biased[5]},
               {capped(0.5) + 1, capped(2) + 2, capped(-1) + 1, capped(-4) + 2}));
    CHECK(biased[1] == kHidden);
    CHECK(biased[4] == kHidden);
    const double first = attended({capped(0.5) + 1, capped(2) + 2}, {1, 0}),
                 second = attended({capped(-1) + 1, capped(-4) + 2}, {1, 0});
    CHECK(near(stage(3), {first, 0, 1 - first, second, 0, 1 - second}));
    CHECK_THAT(load_error(model(attention("y = Attention<qk_matmul_output_mode = 4>(q, k, v)"), 23)),
               Catch::Contains("expected 0, 1, 2 or 3"));
}

TEST_CASE("attention names what does not fit", "[onnx][attention]") {
    const auto error = [](const std::string& call, const std::string& more = "") {
        return load_error(model(attention(call, more), 24));
    };
    CHECK_THAT(error("y = Attention(q, k, v, , p)", ", float[1,1,1,1] p"),
               Catch::Contains("found past_key without past_value, expected both or neither"));
    CHECK_THAT(error("y = Attention(q, k, v, , p, p, n)", ", float[1,1,1,1] p, int64[1] n"),
               Catch::Contains("found both nonpad_kv_seqlen and past_key"));
    CHECK_THAT(error("y = Attention(q, k, v, , p, p)", ", float[1,2,1,1] p"),
               Catch::Contains("found 'past_key' of sizes [1, 2, 1, 1]"));
    CHECK_THAT(error("y = Attention(q, k, w)", ", float[1,1,2,1] w"), Catch::Contains("heads and tokens in K and V"));
    CHECK_THAT(error("y = Attention<softmax_precision = 6>(q, k, v)"),
               Catch::Contains("found dtype i32 as softmax_precision, expected f64, f32, f16 or bf16"));
    CHECK_THAT(error("y = Attention(q, k, v, , , , n)", ", int64[2] n"),
               Catch::Contains("found nonpad_kv_seqlen of sizes [2], expected [1]"));
}

TEST_CASE("rotary embedding turns pairs of elements", "[onnx][attention]") {
    // By a right angle, and by the one of 3, 4 and 5: (a, b) becomes (cos a - sin b, sin a + cos b).
    const Tensor cos = floats({0, 0.6f}, {1, 1, 2}), sin = floats({1, 0.8f}, {1, 1, 2});
    const auto turned = [&](const std::string& attributes, std::int64_t size) {
        const std::string x = "float[1,1,1," + std::to_string(size) + "]";
        return results("g (" + x + " x, float[1,1,2] c, float[1,1,2] s) => (" + x + " y) { y = RotaryEmbedding<" +
                           attributes + ">(x, c, s) }",
                       23, {test::counting({1, 1, 1, size}), cos, sin})
            .at(0);
    };
    CHECK(near(turned("interleaved = 0", 4), {-2, 0.6 * 1 - 0.8 * 3, 0, 0.8 * 1 + 0.6 * 3}));
    CHECK(near(turned("interleaved = 1", 4), {-1, 0, 0.6 * 2 - 0.8 * 3, 0.8 * 2 + 0.6 * 3}));
    CHECK(near(turned("rotary_embedding_dim = 4", 5), {-2, 0.6 * 1 - 0.8 * 3, 0, 0.8 * 1 + 0.6 * 3, 4}));
    // Looked up by position, for each of two heads, which three dimensions have behind the tokens.
    const std::string looked_up =
        "g (float[1,2,4] x, float[3,1] c, float[3,1] s, int64[1,2] p) => (float[1,2,4] y) "
        "{ y = RotaryEmbedding<num_heads = 2>(x, c, s, p) }";
    CHECK(near(results(looked_up, 23,
                       {floats({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 4}), floats({1, 0, -1}, {3, 1}),
                        floats({0, 1, 0}, {3, 1}), whole({2, 1}, {1, 2})})
                   .at(0),
               {-1, -2, -3, -4, -6, 5, -8, 7}));
    CHECK_THAT(load_error(model("g (float[1,1,1,4] x, float[1,1,2] c) => (float[1,1,1,4] y) "
                                "{ y = RotaryEmbedding<rotary_embedding_dim = 3>(x, c, c) }",
                                23)),
               Catch::Contains("found 3 elements to rotate in heads of 4 elements"));
    CHECK_THAT(load_error(model("g (float[1,1,1,4] x, float[1,1,4] c) => (float[1,1,1,4] y) "
                                "{ y = RotaryEmbedding(x, c, c) }",
                                23)),
               Catch::Contains("found 'cos_cache' of sizes [1, 1, 4], expected [1, 1, 2]"));
    CHECK_THAT(load_error(model("g (float[1,1,4] x, float[1,1,2] c) => (float[1,1,4] y) "
                                "{ y = RotaryEmbedding(x, c, c) }",
                                23)),
               Catch::Contains("found num_heads=0 and 'X' of sizes [1, 1, 4]"));
}

TEST_CASE("an update is written from an index of each of the batch on", "[onnx][attention]") {
    const Tensor past = floats({1, 2, 3, 4, 5, 6}, {2, 3, 1}), update = floats({10, 20, 30, 40}, {2, 2, 1});
    const auto written = [&](const std::string& attributes, const std::vector<std::int64_t>& from) {
        return results("g (float[2,3,1] p, float[2,2,1] u, int64[2] w) => (float[2,3,1] y) { y = TensorScatter" +
                           attributes + "(p, u, w) }",
                       24, {past, update, whole(from, {2})})
            .at(0);
    };
    CHECK(written("", {1, 0}) == Numbers{1, 10, 20, 30, 40, 6});
    CHECK(written("<axis = 1, mode = \"circular\">", {2, 1}) == Numbers{20, 2, 10, 4, 30, 40});
    CHECK(results("g (float[2,3,1] p, float[2,2,1] u) => (float[2,3,1] y) { y = TensorScatter(p, u) }", 24,
                  {past, update})
              .at(0) == Numbers{10, 20, 3, 30, 40, 6});
    CHECK_THROWS_AS(written("", {2, 0}), Error);  // an element behind the last one
    const auto error = [](const std::string& attributes) {
        return load_error(model(
            "g (float[2,3,1] p, float[2,2,1] u) => (float[2,3,1] y) { y = TensorScatter" + attributes + "(p, u) }",
            24));
    };
    CHECK_THAT(error("<axis = 0>"), Catch::Contains("found axis=0, which is the batch axis, expected another axis"));
    CHECK_THAT(error("<axis = 2>"),
               Catch::Contains("found past_cache of sizes [2, 3, 1] and update of sizes [2, 2, 1]"));
    CHECK_THAT(error("<mode = \"round\">"), Catch::Contains("found mode 'round', expected 'linear' or 'circular'"));
}

}  // namespace
}  // namespace whittle
