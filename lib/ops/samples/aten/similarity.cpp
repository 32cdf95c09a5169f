// Samples of lib/ops/aten/similarity.cpp.
#include "ops/aten/losses.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples cosine_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = random(dtype, {3, 4}, 2);
    return {{"columns", {x, y}, {t(0), t(1)}},
            {"rows, transposed", {transposed(x), y}, {t(0), t(1), 0}},
            {"broadcast", {random(dtype, {2, 1, 4}), y}, {t(0), t(1), -1}},
            {"short", {x, values(dtype, {0, 0, 0, 0})}, {t(0), t(1), 1, 0.5}},
            {"shorter than eps", {values(dtype, {0.1, 0.05}), values(dtype, {1, 2})}, {t(0), t(1), 0, 0.5}},
            {"one vector", {random(dtype, {4}), random(dtype, {4}, 2)}, {t(0), t(1), 0}}};
}
Samples pairwise_distance_samples(DType dtype) {
    const Tensor x = random(dtype, {3, 4}), y = random(dtype, {3, 4}, 2);
    return {{"2", {x, y}, {t(0), t(1)}},
            {"1, kept", {transposed(x), y}, {t(0), t(1), 1.0, 1e-6, true}},
            {"3, broadcast", {x, random(dtype, {4}, 2)}, {t(0), t(1), 3.0, 0.5}},
            {"one vector", {random(dtype, {4}), random(dtype, {4}, 2)}, {t(0), t(1)}}};
}
Samples cosine_embedding_samples(DType dtype) {
    const Tensor x = random(dtype, {4, 3}), y = random(dtype, {4, 3}, 2), sign = values(dtype, {1, -1, -1, 1});
    return {{"mean", {x, y, sign}, {t(0), t(1), t(2)}},
            {"none, margin", {transposed(x), y, sign}, {t(0), t(1), t(2), -0.5, kNone}},
            {"sum", {x, strided(y), sign}, {t(0), t(1), t(2), 0.25, kSum}},
            {"one vector", {random(dtype, {3}), random(dtype, {3}, 2), scalar(dtype, -1)}, {t(0), t(1), t(2), -1.0}}};
}
Samples triplet_samples(DType dtype) {
    const Tensor x = random(dtype, {4, 3}), y = random(dtype, {4, 3}, 2), z = random(dtype, {4, 3}, 3);
    return {{"mean", {x, y, z}, {t(0), t(1), t(2)}},
            {"none, swap", {transposed(x), y, z}, {t(0), t(1), t(2), 0.5, 2.0, 1e-6, true, kNone}},
            {"sum, 1-norm", {x, y, strided(z)}, {t(0), t(1), t(2), 2.0, 1.0, 1e-6, false, kSum}}};
}

}  // namespace

Table similarity_table() {
    return {{{"aten.cosine_similarity.default"}, cosine_samples},
            {{"aten.pairwise_distance.default"}, pairwise_distance_samples},
            {{"aten.cosine_embedding_loss.default"}, cosine_embedding_samples},
            {{"aten.triplet_margin_loss.default"}, triplet_samples}};
}

}  // namespace whittle::samples
