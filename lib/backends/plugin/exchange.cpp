#include "backends/plugin/exchange.h"

#include <iterator>

#include "base/error.h"
#include "formats/json.h"

namespace whittle {
namespace {

constexpr std::int32_t kMaxRank = 64;

constexpr int kLast = static_cast<int>(std::size(kAllDTypes)) - 1;

#define WHITTLE_DTYPE(dtype, aten, plugin, ...)                       \
    static_assert(static_cast<int>(DType::dtype) == WHITTLE_##plugin, \
                  "whittle_backend.h numbers element types in the order of dtypes.def");
#include "tensor/dtypes.def"

}  // namespace

whittle_tensor offer(const Tensor& tensor, const char* name, const char* hash) {
    return {static_cast<std::int32_t>(tensor.dtype()),
            static_cast<std::int32_t>(tensor.rank()),
            tensor.sizes().data(),
            tensor.strides().data(),
            tensor.raw(),
            name,
            hash};
}

Tensor receive(const whittle_tensor& tensor) {
    if (tensor.dtype < WHITTLE_F64 || tensor.dtype > kLast)
        throw Error("found dtype " + std::to_string(tensor.dtype) + ", expected 0 to " + std::to_string(kLast));
    if (tensor.rank < 0 || tensor.rank > kMaxRank || (tensor.rank > 0 && !tensor.sizes))
        throw Error("found rank " + std::to_string(tensor.rank) + (tensor.sizes ? "" : " and no sizes") +
                    ", expected rank 0 to " + std::to_string(kMaxRank) + " and a pointer to the sizes");
    const auto rank = static_cast<std::size_t>(tensor.rank);
    const auto dtype = static_cast<DType>(tensor.dtype);
    Sizes sizes(tensor.sizes, tensor.sizes + rank);
    const Strides strides = tensor.strides ? Strides(tensor.strides, tensor.strides + rank) : contiguous_strides(sizes);
    const bool empty = element_count(sizes) == 0;
    if (!empty && !tensor.data)
        throw Error("found no data for sizes " + to_string(sizes) + ", expected a pointer to the elements");
    if (reinterpret_cast<std::uintptr_t>(tensor.data) % alignment_of(dtype) != 0)
        throw Error("found data that is not aligned to the " + std::to_string(alignment_of(dtype)) + " bytes of " +
                    std::string(name(dtype)) + ", expected aligned data");
    return Tensor::copy_of(tensor.data, dtype, std::move(sizes), strides);
}

OfferedGraph::OfferedGraph(const Graph& graph, const BackendOptions& options) : options_(options) {
    Graph plain = graph;
    plain.failure.reset();  // none of a backend's business, and as large as the inputs
    std::map<std::string, Tensor> sidecar;
    json_ = graph_to_json(plain, sidecar);
    collect(plain, "", sidecar);
    for (const Attribute& attribute : attributes_)
        tensors_.push_back(
            offer(attribute.tensor, attribute.name.c_str(), attribute.hash.empty() ? nullptr : attribute.hash.c_str()));
    for (const auto& [key, value] : options_) option_pointers_.push_back({key.c_str(), value.c_str()});
    view_ = {sizeof view_,    json_.c_str(),           json_.size(),           tensors_.data(),
             tensors_.size(), option_pointers_.data(), option_pointers_.size()};
}

void OfferedGraph::collect(const Graph& graph, const std::string& prefix,
                           const std::map<std::string, Tensor>& sidecar) {
    for (const auto& [key, tensor] : graph.attributes) {
        std::string hash = content_hash(tensor);
        if (!sidecar.count(hash)) hash.clear();
        attributes_.push_back({prefix + key, std::move(hash), tensor});
    }
    for (const auto& [key, nested] : graph.subgraphs) collect(*nested, prefix + key + "/", sidecar);
}

Graph receive(const whittle_graph& graph) {
    std::map<std::string, Tensor> sidecar;
    for (std::size_t i = 0; i < graph.attribute_count; ++i) {
        const whittle_tensor& attribute = graph.attributes[i];
        if (attribute.hash) sidecar.emplace(attribute.hash, receive(attribute));
    }
    return graph_from_json(std::string(graph.json, graph.json_size), sidecar, "graph");
}

}  // namespace whittle
