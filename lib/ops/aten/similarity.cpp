// How near vectors are along a dimension, and losses of it. All are composites.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#distance-functions
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/losses.h"

namespace whittle {
namespace {

using namespace aten;

V positive_part(const V& x) { return clamp_min(x, 0); }

/// The product of the vectors over their lengths, each at least eps.
CallResults decompose_cosine_similarity(const Call& c) {
    const V x = c.tensor("x1"), y = c.tensor("x2");
    const Sizes sizes = broadcast_sizes(x.sizes(), y.sizes());
    const std::int64_t dim = c.integer("dim");
    const auto direction = [&](const V& given) {
        const V v = expand(given, sizes);
        const V length = linalg_vector_norm(v, 2, Ints{dim}, true);
        return v / clamp_min(length, c.number("eps"));
    };
    return summed(direction(x) * direction(y), Ints{dim});
}

/// The p-norm of x1 - x2 + eps along the last dimension.
CallResults decompose_pairwise_distance(const Call& c) {
    const V difference = c.tensor("x1") - c.tensor("x2") + c.number("eps");
    return norm(difference, c.number("p"), Ints{-1}, c.boolean("keepdim"));
}

/// 1 - cos where the target is 1, max(0, cos - margin) where it is -1.
CallResults decompose_cosine_embedding_loss(const Call& c) {
    const V x = c.tensor("input1"), y = c.tensor("input2"), target = c.tensor("target");
    const auto dim = static_cast<std::int64_t>(target.sizes().size());
    const std::size_t rank = target.sizes().size() + 1;
    if (dim > 1 || x.sizes().size() != rank || y.sizes().size() != rank)
        throw Error("cosine_embedding_loss: found inputs of sizes " + to_string(x.sizes()) + " and " +
                    to_string(y.sizes()) + " and a target of sizes " + to_string(target.sizes()) +
                    ", expected two vectors and a 0-d target, or two matrices and one target for each row");
    constexpr double kLeast = 1e-12;
    const auto squared = [&](const V& v) { return summed(v * v, Ints{dim}) + kLeast; };
    const V lengths = sqrt(squared(x) * squared(y));
    const V cosine = summed(x * y, Ints{dim}) / lengths;
    const V apart = positive_part(cosine + -c.number("margin"));
    const V alike = keep(eq(target, 1), complement(cosine));
    return reduced(c, alike + keep(eq(target, -1), apart));
}

/// max(0, margin + distance to the positive - distance to the negative), of two distances to the negative the smaller.
CallResults decompose_triplet_margin_loss(const Call& c) {
    const auto rank = [&](const char* x) { return c.tensor(x).sizes().size(); };
    if (rank("anchor") != rank("positive") || rank("anchor") != rank("negative"))
        throw Error("triplet_margin_loss: found anchor, positive and negative of " + std::to_string(rank("anchor")) +
                    ", " + std::to_string(rank("positive")) + " and " + std::to_string(rank("negative")) +
                    " dimensions, expected equal numbers of dimensions");
    const auto distance = [&](const char* x, const char* y) {
        return aten::pairwise_distance(c.tensor(x), c.tensor(y), c.number("p"), c.number("eps"));
    };
    const V near = distance("anchor", "positive");
    V far = distance("anchor", "negative");
    if (c.boolean("swap")) far = minimum(far, distance("positive", "negative"));
    return reduced(c, positive_part(near + c.number("margin") - far));
}

constexpr OpDef kSimilarityOps[] = {
    composite("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
              "the cosine between vectors: "
              "https://pytorch.org/docs/stable/generated/torch.nn.functional.cosine_similarity.html",
              kFloating, decompose_cosine_similarity),
    composite("pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",
              "the distance between vectors: https://pytorch.org/docs/stable/generated/torch.nn.PairwiseDistance.html",
              kFloating, decompose_pairwise_distance),
    composite("cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) "
              "-> Tensor",
              "the loss of the cosine between vectors: "
              "https://pytorch.org/docs/stable/generated/torch.nn.CosineEmbeddingLoss.html",
              kFloating, decompose_cosine_embedding_loss),
    composite("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float "
              "eps=1e-06, bool swap=False, int reduction=1) -> Tensor",
              "the loss of the distances to a positive and a negative example: "
              "https://pytorch.org/docs/stable/generated/torch.nn.TripletMarginLoss.html",
              kFloating, decompose_triplet_margin_loss),
};

}  // namespace

std::span<const OpDef> similarity_ops() { return kSimilarityOps; }

}  // namespace whittle
