// Placement: where and as what a value lies that Whittle does not compute with: on another device, sparse, quantized,
// of elements that DType does not have, or of a type that is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace whittle {

/// In LibTorch's words.
struct Placement {
    std::string device = "cpu";      ///< "cuda:0"
    std::string layout = "Strided";  ///< "Sparse", "SparseCsr", "Mkldnn"; kUnknown
    /// Their type, where DType has none: "quint8", the name of an OpaqueType; of an unknown layout what is known of the
    /// type: "sequence(f32)". ValueMeta::dtype is f32 then.
    std::string elements = {};

    /// The layout of a value whose dtype and sizes are not known.
    static constexpr const char* kUnknown = "Unknown";

    /// "a sparse tensor (CSR) on the device cuda:0".
    std::string text() const;
    bool operator==(const Placement&) const = default;
    auto operator<=>(const Placement&) const = default;
};

/// One object for all equal ones, for ValueMeta::placement; null for what is usual. It stays for good.
const Placement* placed(Placement placement);

/// The meta of a value of unknown dtype and sizes. `type` is what is known of it, "sequence(f32)", if anything is.
ValueMeta unknown_meta(std::string type = {});
/// The meta of a tensor of an OpaqueType, by its name. The attribute of a get_attr of it is the file's own record of
/// the tensor, as bytes: u8[N].
ValueMeta opaque_meta(std::string_view elements, Sizes sizes);

inline bool is_unknown(const ValueMeta& meta) {
    return meta.placement && meta.placement->layout == Placement::kUnknown;
}
/// Dense, on the CPU, of elements that DType does not have.
bool is_opaque(const ValueMeta& meta);
/// "unknown", "sequence(f32)", "string[2]": how printed graphs show the types above; empty for any other.
std::string unusual_type(const ValueMeta& meta);

/// Why nobody can compare what compilers make of the graph with a reference, nested graphs included: "the type of %r is
/// unknown (the result of onnx.If)", "the input x holds strings". Nothing where every value has a type.
std::optional<std::string> unknown_value(const Graph& graph);

/// The first value of the graph, nested graphs included, that no backend takes; with its kind: "%to_sparse, a sparse
/// tensor".
std::optional<std::string> misplaced_value(const Graph& graph);
/// The call reads or makes such a value: what Whittle infers does not bind LibTorch.
bool touches_misplaced(const Graph& graph, const Node& call);
/// … or one of unknown type.
bool touches_unknown(const Graph& graph, const Node& call);

/// A node that capture cannot go through.
struct Break {
    std::string reason;
    std::string node;  ///< name of the call in the graph; in a nested graph after the words that lead there
    std::string op;    ///< "onnx.NonMaxSuppression"
    std::int64_t opset = 0;
};

}  // namespace whittle
