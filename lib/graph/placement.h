// Placement: where and as what a value lies that Whittle does not compute with: on another device, sparse, quantized.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"

namespace whittle {

/// In LibTorch's words.
struct Placement {
    std::string device = "cpu";      ///< "cuda:0"
    std::string layout = "Strided";  ///< "Sparse", "SparseCsr", "Mkldnn"
    std::string elements = {};       ///< their type, where DType has none: "quint8"; ValueMeta::dtype is f32 then

    /// "a sparse tensor (CSR) on the device cuda:0".
    std::string text() const;
    bool operator==(const Placement&) const = default;
    auto operator<=>(const Placement&) const = default;
};

/// One object for all equal ones, for ValueMeta::placement; null for what is usual. It stays for good.
const Placement* placed(Placement placement);

/// The first value of the graph, nested graphs included, that no backend takes; with its kind: "%to_sparse, a sparse
/// tensor".
std::optional<std::string> misplaced_value(const Graph& graph);
/// The call reads or makes such a value: what Whittle infers does not bind LibTorch.
bool touches_misplaced(const Graph& graph, const Node& call);

}  // namespace whittle
