// ONNX's ops that find equal things: Unique, TfIdfVectorizer.
#include <algorithm>

#include "ops/core/data_sizes.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// How many results there are is data, so the operand must be known.
CallResults unique(const Call& c) {
    const Tensor given = known_operand(c, "X").contiguous();
    const bool flat = !c.has("axis");
    const Tensor x = flat ? Tensor(given).as_strided({given.numel()}, {1}, given.offset()) : given;
    const std::int64_t axis = flat ? 0 : wrap_dim(c.integer("axis"), x.rank());
    if (x.rank() == 0) throw Error("found an axis for a 0-d tensor, expected no axis");
    const Distinct distinct = distinct_slices(x, axis, c.integer("sorted") != 0, NaNs::equal);
    const V from = flat ? reshaped(c.tensor("X"), {x.numel()}) : c.tensor("X");
    const std::int64_t outputs = c.integer("num_outputs");
    Vs results = {index_select(from, axis, ints(c, distinct.first))};
    for (const Ints* values : {&distinct.first, &distinct.inverse, &distinct.counts})
        if (static_cast<std::int64_t>(results.size()) < outputs) results.push_back(ints(c, *values));
    return results;
}

constexpr std::int64_t kMostResults = std::int64_t{1} << 24;

/// The n-grams of one length, and where each is counted.
struct Grams {
    std::int64_t length = 0;
    std::vector<Ints> items;  ///< by place in the n-gram
    Ints places;
};

std::vector<Grams> grams_of(const Call& c, std::int64_t least, std::int64_t most) {
    const Ints pool = c.integers("pool_int64s"), starts = c.integers("ngram_counts");
    const Ints places = c.integers("ngram_indexes");
    std::vector<Grams> result;
    std::size_t gram = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const auto length = static_cast<std::int64_t>(i + 1);
        const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : static_cast<std::int64_t>(pool.size());
        if (starts[i] < 0 || end < starts[i] || end > static_cast<std::int64_t>(pool.size()) ||
            (end - starts[i]) % length != 0)
            throw Error(
                "found ngram_counts=" + to_string(starts) +
                ", expected ascending positions in pool_int64s, with a whole number of n-grams between two positions");
        Grams grams{.length = length, .items = std::vector<Ints>(i + 1), .places = {}};
        for (std::int64_t at = starts[i]; at < end; at += length, ++gram) {
            if (gram >= places.size())
                throw Error("found " + std::to_string(places.size()) +
                            " ngram_indexes, expected one for each n-gram in pool_int64s");
            for (std::size_t k = 0; k <= i; ++k) grams.items[k].push_back(pool[static_cast<std::size_t>(at) + k]);
            grams.places.push_back(places[gram]);
        }
        if (least <= length && length <= most && !grams.places.empty()) result.push_back(std::move(grams));
    }
    return result;
}

/// How often each of the n-grams occurs in the rows of x, with `skip` elements between its own. [rows, n-grams]
V occurrences(const Call& c, const V& x, const Grams& grams, std::int64_t skip) {
    const auto count = static_cast<std::int64_t>(grams.places.size());
    const std::int64_t rows = x.sizes()[0], starts = x.sizes()[1] - (grams.length - 1) * (skip + 1);
    OptionalV found;
    for (std::int64_t k = 0; k < grams.length; ++k) {
        const std::int64_t first = k * (skip + 1);
        const V elements = reshaped(part(x, 1, first, first + starts), {rows, starts, 1});
        const V wanted = reshaped(ints(c, grams.items[static_cast<std::size_t>(k)]), {1, 1, count});
        const V equal = eq(elements, wanted);
        found = found ? logical_and(*found, equal) : equal;
    }
    return sum(cast(*found, DType::i64), Ints{1});
}

CallResults tf_idf(const Call& c) {
    const V given = c.tensor("X");
    const std::string mode = c.text("mode");
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
        throw Error("found mode '" + mode + "', expected 'TF', 'IDF' or 'TFIDF'");
    if (c.has("pool_strings"))
        throw Error("found pool_strings, expected pool_int64s: Whittle counts only n-grams of integers");
    if (given.rank() < 1 || given.rank() > 2)
        throw Error("found X of sizes " + to_string(given.sizes()) + ", expected one or two dimensions");
    const std::int64_t rows = given.rank() == 1 ? 1 : given.sizes()[0], length = given.sizes().back();
    const V x = cast(reshaped(given, {rows, length}), DType::i64);
    const Ints places = c.integers("ngram_indexes");
    if (std::ranges::any_of(places, [](std::int64_t place) { return place < 0 || place >= kMostResults; }))
        throw Error("found ngram_indexes=" + to_string(places) + ", expected indexes from 0 to " +
                    std::to_string(kMostResults - 1));
    const std::int64_t results = places.empty() ? 0 : *std::ranges::max_element(places) + 1;
    V counts = full(c.builder(), {rows, results}, 0, DType::i64);
    for (const Grams& grams : grams_of(c, c.integer("min_gram_length"), c.integer("max_gram_length"))) {
        const std::int64_t most_skipped =
            grams.length == 1 ? 0 : std::min(c.integer("max_skip_count"), length);  // more do not fit
        for (std::int64_t skip = 0; skip <= most_skipped; ++skip)
            if (length >= (grams.length - 1) * (skip + 1) + 1)
                counts = index_add(counts, 1, ints(c, grams.places), occurrences(c, x, grams, skip));
    }
    if (mode == "IDF") counts = gt(counts, 0);
    V y = cast(counts, DType::f32);
    const std::vector<double> weights = c.numbers("weights");
    if (mode != "TF" && !weights.empty()) {  // by n-gram of the pool
        std::vector<float> by_place(static_cast<std::size_t>(results), 0.0F);
        for (std::size_t i = 0; i < weights.size() && i < places.size(); ++i)
            by_place[static_cast<std::size_t>(places[i])] = static_cast<float>(weights[i]);
        y = y * c.constant(Tensor::of(by_place, {results}));
    }
    return given.rank() == 1 ? reshaped(y, {results}) : y;
}

constexpr OpDef kCountOps[] = {
    composite("Unique(Tensor X, *, int? axis=None, int sorted=1, int num_outputs=1) -> Tensor[]",
              "Each different element or slice once", kAnyDType, unique),
    composite("TfIdfVectorizer(Tensor X, *, int max_gram_length, int max_skip_count, int min_gram_length, str mode, "
              "int[] ngram_counts, int[] ngram_indexes, int[]? pool_int64s=None, str[]? pool_strings=None, float[]? "
              "weights=None) -> Tensor",
              "How often each of given n-grams occurs", set_of(DType::i32) | set_of(DType::i64), tf_idf),
};

}  // namespace

std::span<const OpDef> onnx_count_ops() { return kCountOps; }

}  // namespace whittle
