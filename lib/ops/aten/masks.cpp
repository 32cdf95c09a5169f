#include "ops/aten/masks.h"

#include <algorithm>

#include "base/error.h"

namespace whittle {
namespace {

constexpr std::string_view kIndexing[] = {"aten.index.Tensor", "aten._unsafe_index.Tensor"};

}  // namespace

Arg& index_list(Node& call) {
    for (auto& [key, value] : call.kwargs)
        if (key == "indices") return value;
    if (call.args.size() < 2) throw Error(call.target + ": found no argument 'indices', expected a list of tensors");
    return call.args[1];
}

std::vector<NodeRef> index_masks(const Graph& graph, const Node& call) {
    if (std::ranges::find(kIndexing, call.target) == std::end(kIndexing)) return {};
    Node own = call;
    std::vector<NodeRef> masks;
    const ArgList* const indices = index_list(own).list();
    if (!indices) return masks;
    for (const Arg& index : *indices)
        if (const NodeRef* read = index.node()) {
            const DType dtype = graph.node(*read).meta().dtype;
            if (dtype == DType::boolean || dtype == DType::u8) masks.push_back(*read);
        }
    return masks;
}

}  // namespace whittle
