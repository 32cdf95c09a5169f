// Samples of lib/ops/aten/similarity.cpp.
#include "ops/aten/losses.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples cosine_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = random(dtype, {3, 4}, 2);
    return {call_of("columns", {x, y}),
            call_of("rows, transposed", {transposed(x), y, 0}),
            call_of("broadcast", {random(dtype, {2, 1, 4}), y, -1}),
            call_of("short", {x, values(dtype, {0, 0, 0, 0}), 1, 0.5}),
            call_of("shorter than eps", {values(dtype, {0.1, 0.05}), values(dtype, {1, 2}), 0, 0.5}),
            call_of("one vector", {random(dtype, {4}), random(dtype, {4}, 2), 0})};
}
Samples pairwise_distance_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = random(dtype, {3, 4}, 2);
    return {call_of("2", {x, y}), call_of("1, kept", {transposed(x), y, 1.0, 1e-6, true}),
            call_of("3, broadcast", {x, random(dtype, {4}, 2), 3.0, 0.5}),
            call_of("one vector", {random(dtype, {4}), random(dtype, {4}, 2)})};
}
Samples cosine_embedding_samples(DType dtype) {
    const Tensor x = random(dtype, {4, 3}), y = random(dtype, {4, 3}, 2), sign = values(dtype, {1, -1, -1, 1});
    return {call_of("mean", {x, y, sign}), call_of("none, margin", {transposed(x), y, sign, -0.5, kNone}),
            call_of("sum", {x, strided(y), sign, 0.25, kSum}),
            call_of("one vector", {random(dtype, {3}), random(dtype, {3}, 2), scalar(dtype, -1), -1.0})};
}
Samples triplet_samples(DType dtype) {
    const Tensor x = random(dtype, {4, 3}), y = random(dtype, {4, 3}, 2), z = random(dtype, {4, 3}, 3);
    return {call_of("mean", {x, y, z}), call_of("none, swap", {transposed(x), y, z, 0.5, 2.0, 1e-6, true, kNone}),
            call_of("sum, 1-norm", {x, y, strided(z), 2.0, 1.0, 1e-6, false, kSum})};
}

}  // namespace

Table similarity_table() {
    return {{{"aten.cosine_similarity.default"}, cosine_samples},
            {{"aten.pairwise_distance.default"}, pairwise_distance_samples},
            {{"aten.cosine_embedding_loss.default"}, cosine_embedding_samples},
            {{"aten.triplet_margin_loss.default"}, triplet_samples}};
}

}  // namespace whittle::samples
