// Tensors in JSON files, shared by graph and record files: small ones inline, others in a safetensors file beside the
// JSON, keyed by content hash. Exact in both places.
//   {"dtype": "f32", "sizes": [2], "data": [1.5, "nan"]}
//   {"dtype": "f32", "sizes": [64, 3, 3, 3], "hash": "0f…", "strides": [27, 1, 9, 3], "requires_grad": true}
// Floats that JSON has no numbers for are texts: "nan", "inf", "-inf", and other NaNs by their bits, "0xffc00000".
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "formats/document.h"
#include "tensor/tensor.h"

namespace whittle {

/// Up to this many elements a tensor is written inline.
inline constexpr std::int64_t kInlineElements = 8;

class TensorWriter {
  public:
    /// With `hash_all` inline tensors carry their hash too.
    explicit TensorWriter(bool hash_all = false) : hash_all_(hash_all) {}

    /// The tensor's JSON, on one line. Throws Error for strides with gaps that load_graph would refuse.
    std::string json(const Tensor& tensor);
    /// What belongs into the sidecar, by hash.
    const std::map<std::string, Tensor>& sidecar() const { return sidecar_; }

  private:
    const bool hash_all_;
    std::map<std::string, Tensor> sidecar_;
};

/// Reads what TensorWriter wrote. The sidecar is the file named by the root's member "tensors", in the same folder.
class TensorReader {
  public:
    explicit TensorReader(const Document& document) : document_(document) {}
    /// With the sidecar's contents in memory instead.
    TensorReader(const Document& document, std::map<std::string, Tensor> sidecar);

    /// A view of the mapped sidecar where strides are contiguous. Throws Error for a tensor that is missing, does not
    /// fit its dtype and sizes, or has another hash than recorded.
    Tensor read(const Document::Json& value);

  private:
    const std::map<std::string, Tensor>& sidecar(const Document::Json& at);
    Tensor inline_data(const Document::Json& data, DType dtype, const Sizes& sizes) const;

    const Document& document_;
    std::unique_ptr<std::map<std::string, Tensor>> sidecar_;
    std::set<std::string> checked_;  ///< hashes in the sidecar: each is computed once
};

/// DType by its name.
DType read_dtype(const Document& document, const Document::Json& value);
/// Sizes of a tensor whose element count fits 63 bits.
Sizes read_sizes(const Document& document, const Document::Json& value);

}  // namespace whittle
