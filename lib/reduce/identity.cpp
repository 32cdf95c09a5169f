#include "reduce/identity.h"

#include "base/files.h"
#include "base/hash.h"
#include "graph/text.h"

namespace whittle::reduce {

Identity::Identity(const Oracle& oracle) : configuration_(oracle.question()) {}

std::string Identity::operator()(const Case& candidate) {
    std::string text = configuration_;
    add(text, candidate.graph);
    for (const Tensor& input : candidate.inputs) text += '\n' + hash_of(input);
    for (const std::string& node : candidate.nodes) text += "\nnode " + node;
    if (candidate.file && candidate.nodes.empty()) text += "\nfile " + fingerprint(candidate.file->model);
    return content_hash(text);
}

void Identity::add(std::string& text, const Graph& graph) {
    text += '\n' + print(graph);
    for (const auto& [name, tensor] : graph.attributes) text += '\n' + name + ' ' + hash_of(tensor);
    for (const auto& [name, nested] : graph.subgraphs) add(text, *nested);
}

std::string Identity::hash_of(const Tensor& tensor) {
    constexpr std::int64_t small = 64;  // elements: quicker to hash than to look up
    if (tensor.numel() <= small) return content_hash(tensor);
    const std::string where = std::to_string(reinterpret_cast<std::uintptr_t>(tensor.storage().get())) + ' ' +
                              std::to_string(tensor.offset()) + std::string(name(tensor.dtype())) +
                              to_string(tensor.sizes()) + to_string(tensor.strides());
    const auto [entry, added] = known_.try_emplace(where);
    // Another storage may have come to lie where one has gone.
    if (added || entry->second.storage.expired()) entry->second = {tensor.storage(), content_hash(tensor)};
    return entry->second.hash;
}

}  // namespace whittle::reduce
