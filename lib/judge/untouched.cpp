#include "judge/untouched.h"

#include "ops/core/memory.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

bool can_be_written(const Tensor& tensor) { return tensor.numel() > 0 && tensor.storage()->writable(); }

std::string change(const Tensor& now, const Tensor& before) {
    const auto difference = compare(now, before, Accuracy{.mode = Accuracy::Mode::strict});
    return difference ? difference->description : "the bits of a NaN changed";
}

}  // namespace

Untouched::Untouched(const Graph& graph, std::span<const Tensor> inputs)
    : graph_(graph), inputs_(inputs.begin(), inputs.end()) {
    for (const Tensor& input : inputs_) copies_.push_back(can_be_written(input) ? own_copy(input) : input);
    for (const auto& [key, value] : graph.attributes)
        if (can_be_written(value)) hashes_[key] = content_hash(value);
}

std::optional<Untouched::Written> Untouched::restore() {
    std::optional<Written> first;
    const std::vector<NodeId> placeholders = graph_.placeholders();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (same_bits(inputs_[i], copies_[i])) continue;
        if (!first)
            first = {"written_input", "wrote to input " + std::to_string(i) + " (" +
                                          graph_.node({placeholders[i]}).name + "): " + change(inputs_[i], copies_[i])};
        write_into(inputs_[i], copies_[i]);
    }
    for (const auto& [key, hash] : hashes_)
        if (!first && content_hash(graph_.attributes.at(key)) != hash)
            first = {"written_parameter", "wrote to parameter '" + key + "'"};
    return first;
}

}  // namespace whittle
