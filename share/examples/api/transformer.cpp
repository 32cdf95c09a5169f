// A decoder that skips its second layer if the first layer is sure of the token. This decision breaks the graph.
// The cache grows: its size is dynamic from step 3 on. explain --recompiles ./transformer reports 2 recompiles.
#include <whittle/whittle.h>

#include <cmath>
#include <cstdio>

using whittle::Tensor;

constexpr std::int64_t kWidth = 16, kHeads = 2, kVocabulary = 12;

struct Cache {
    Tensor keys, values;  // [heads, positions, width / heads]
    WHITTLE_FIELDS(keys, values)
};

struct Block : whittle::Module {
    std::shared_ptr<whittle::LayerNorm> norm = register_module("norm", std::make_shared<whittle::LayerNorm>(kWidth));
    std::shared_ptr<whittle::Linear> qkv =
        register_module("qkv", std::make_shared<whittle::Linear>(kWidth, 3 * kWidth));
    std::shared_ptr<whittle::Linear> out = register_module("out", std::make_shared<whittle::Linear>(kWidth, kWidth));

    Tensor forward(const Tensor& x, Cache& cache) {  // x: [1, width]
        const whittle::TensorList parts = (*qkv)((*norm)(x)).view({3, kHeads, 1, kWidth / kHeads}).unbind(0);
        cache.keys = cache.keys.defined() ? whittle::cat({cache.keys, parts[1]}, 1) : parts[1];
        cache.values = cache.values.defined() ? whittle::cat({cache.values, parts[2]}, 1) : parts[2];
        const Tensor scores = whittle::matmul(parts[0], cache.keys.transpose(1, 2)) / std::sqrt(kWidth / kHeads);
        const Tensor mixed = whittle::matmul(scores.softmax(-1), cache.values);
        return x + (*out)(mixed.reshape({1, kWidth}));
    }
};

struct Decoder : whittle::Module {
    std::shared_ptr<whittle::Embedding> embed =
        register_module("embed", std::make_shared<whittle::Embedding>(kVocabulary, kWidth));
    std::shared_ptr<Block> first = register_module("first", std::make_shared<Block>());
    std::shared_ptr<Block> second = register_module("second", std::make_shared<Block>());
    std::shared_ptr<whittle::Linear> head =
        register_module("head", std::make_shared<whittle::Linear>(kWidth, kVocabulary));
};

/// Returns the next token. Skips the second block when the first one is sure enough.
Tensor decode(Decoder& model, Tensor token, std::vector<Cache>& caches) {
    Tensor x = model.first->forward((*model.embed)(token), caches[0]);
    const Tensor early = (*model.head)(x).softmax(-1);
    if (early.max() > 0.25) return early.argmax(-1);
    x = model.second->forward(x, caches[1]);
    return (*model.head)(x).argmax(-1);
}

int main() {
    whittle::manual_seed(4);
    Decoder model;
    std::vector<Cache> caches(2);
    const auto step = whittle::compile(decode, {.arg_names = {"model", "token", "caches"}});
    Tensor token = whittle::tensor(std::vector<std::int64_t>{1}, {1});
    std::printf("tokens:");
    for (int i = 0; i < 8; ++i) {
        token = step(model, token, caches);
        std::printf(" %d", token.item<int>());
    }
    std::printf("\n");
}
