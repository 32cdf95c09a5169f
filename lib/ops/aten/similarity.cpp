// How near vectors are along a dimension, and losses of it. All are composites.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#distance-functions
#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/losses.h"

namespace whittle {
namespace {

NodeValue positive_part(const Gradient& g, const NodeValue& x) { return g.call("aten.clamp_min.default", {arg(x), 0}); }

/// The product of the vectors over their lengths, each at least eps.
Refs cosine_similarity(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("x1"), y = a.tensor("x2");
    const Sizes sizes = broadcast_sizes(x.meta.sizes, y.meta.sizes);
    const std::int64_t dim = a.integer("dim");
    const auto direction = [&](const NodeValue& given) {
        const NodeValue v = g.call("aten.expand.default", {arg(given), Arg::ints(sizes)});
        const NodeValue length = g.call("aten.linalg_vector_norm.default", {arg(v), 2, Arg::ints({dim}), true});
        return g.div(v, arg(g.call("aten.clamp_min.default", {arg(length), Arg(a.number("eps"))})));
    };
    return {g.sum(g.mul(direction(x), direction(y)), {dim}).ref};
}

/// The p-norm of x1 - x2 + eps along the last dimension.
Refs pairwise_distance(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue difference = g.add(g.sub(a.tensor("x1"), a.tensor("x2")), Arg(a.number("eps")));
    return {
        b.call("aten.norm.ScalarOpt_dim", {arg(difference), Arg(a.number("p")), Arg::ints({-1}), a.boolean("keepdim")})
            .ref};
}

/// 1 - cos where the target is 1, max(0, cos - margin) where it is -1.
Refs cosine_embedding_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("input1"), y = a.tensor("input2"), target = a.tensor("target");
    const auto dim = static_cast<std::int64_t>(target.meta.sizes.size());
    const std::size_t rank = target.meta.sizes.size() + 1;
    if (dim > 1 || x.meta.sizes.size() != rank || y.meta.sizes.size() != rank)
        throw Error("cosine_embedding_loss: found inputs of sizes " + to_string(x.meta.sizes) + " and " +
                    to_string(y.meta.sizes) + " and a target of sizes " + to_string(target.meta.sizes) +
                    ", expected two vectors and a 0-d target, or two matrices and one target for each row");
    constexpr double kLeast = 1e-12;
    const auto square = [&](const NodeValue& v) { return g.add(g.sum(g.mul(v, v), {dim}), Arg(kLeast)); };
    const NodeValue lengths = g.of("aten.sqrt.default", g.mul(square(x), square(y)));
    const NodeValue cosine = g.div(g.sum(g.mul(x, y), {dim}), arg(lengths));
    const NodeValue apart = positive_part(g, g.add(cosine, Arg(-a.number("margin"))));
    const NodeValue alike = g.keep(g.when("eq", target, 1), g.complement(cosine));
    return {reduced(b, a, g.add(alike, g.keep(g.when("eq", target, -1), apart)))};
}

/// max(0, margin + distance to the positive - distance to the negative), of two distances to the negative the smaller.
Refs triplet_margin_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const auto rank = [&](const char* x) { return a.tensor(x).meta.sizes.size(); };
    if (rank("anchor") != rank("positive") || rank("anchor") != rank("negative"))
        throw Error("triplet_margin_loss: found anchor, positive and negative of " + std::to_string(rank("anchor")) +
                    ", " + std::to_string(rank("positive")) + " and " + std::to_string(rank("negative")) +
                    " dimensions, expected equal numbers of dimensions");
    const auto distance = [&](const char* x, const char* y) {
        return g.call("aten.pairwise_distance.default",
                      {arg(a.tensor(x)), arg(a.tensor(y)), Arg(a.number("p")), Arg(a.number("eps"))});
    };
    const NodeValue near = distance("anchor", "positive");
    NodeValue far = distance("anchor", "negative");
    if (a.boolean("swap")) far = g.call("aten.minimum.default", {arg(far), arg(distance("positive", "negative"))});
    return {reduced(b, a, positive_part(g, g.sub(g.add(near, Arg(a.number("margin"))), far)))};
}

// --- Records ---

constexpr OpDef kSimilarityOps[] = {
    {.name = "aten.cosine_similarity.default",
     .doc = "the cosine between vectors: "
            "https://pytorch.org/docs/stable/generated/torch.nn.functional.cosine_similarity.html",
     .schema = "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
     .dtypes = kFloating,
     .decompose = cosine_similarity},
    {.name = "aten.pairwise_distance.default",
     .doc = "the distance between vectors: https://pytorch.org/docs/stable/generated/torch.nn.PairwiseDistance.html",
     .schema = "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",
     .dtypes = kFloating,
     .decompose = pairwise_distance},
    {.name = "aten.cosine_embedding_loss.default",
     .doc = "the loss of cosines: https://pytorch.org/docs/stable/generated/torch.nn.CosineEmbeddingLoss.html",
     .schema = "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=1) "
               "-> Tensor",
     .dtypes = kFloating,
     .decompose = cosine_embedding_loss},
    {.name = "aten.triplet_margin_loss.default",
     .doc = "the loss of the distances to a positive and a negative example: "
            "https://pytorch.org/docs/stable/generated/torch.nn.TripletMarginLoss.html",
     .schema = "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, "
               "float eps=1e-06, bool swap=False, int reduction=1) -> Tensor",
     .dtypes = kFloating,
     .decompose = triplet_margin_loss},
};

}  // namespace

std::span<const OpDef> similarity_ops() { return kSimilarityOps; }

}  // namespace whittle
