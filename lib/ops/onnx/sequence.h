// ONNX's ops on sequences and optionals. Graphs hold tensors only: whoever reads a model resolves these ops into the
// tensors that they list, pick and pass on, so that no call of them is left. That takes lengths, positions and
// conditions that are known while the model is read.
// https://github.com/onnx/onnx/blob/main/docs/Operators.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// A value of a model while it is read. An optional that holds something is what it holds.
struct OnnxValue {
    enum class Kind : std::uint8_t { tensor, sequence, nothing };

    Kind kind = Kind::nothing;
    std::vector<NodeRef> nodes = {};  ///< the tensor; the sequence's elements

    OnnxValue() = default;
    OnnxValue(NodeRef tensor) : kind(Kind::tensor), nodes{tensor} {}
    OnnxValue(std::vector<NodeRef> sequence) : kind(Kind::sequence), nodes(std::move(sequence)) {}

    bool is_tensor() const { return kind == Kind::tensor; }
};

/// "a tensor", "a sequence", "an optional that holds nothing"
std::string_view kind_name(const OnnxValue& value);

/// One node whose op is resolved, and the graph that grows while it is.
class OnnxReader {
  public:
    virtual ~OnnxReader() = default;

    /// The input at a position; nullptr for one that is missing.
    virtual const OnnxValue* input(std::size_t position) const = 0;
    virtual std::size_t input_count() const = 0;
    virtual std::size_t output_count() const = 0;
    virtual std::optional<std::int64_t> integer(std::string_view attribute) const = 0;
    virtual const ValueMeta& meta(NodeRef node) const = 0;
    /// The tensor's elements. Throws Error naming it when they are computed while the model runs.
    virtual const Tensor& known(NodeRef node, std::string_view what) = 0;
    virtual NodeRef constant(const Tensor& value) = 0;
    /// A node of ai.onnx with one result; attributes are integers or lists of them.
    virtual NodeRef call(std::string_view op_type, const std::vector<NodeRef>& inputs,
                         const std::vector<std::pair<std::string, Arg>>& attributes = {}) = 0;
    /// The results of the node's graph `body` for these inputs; its nodes join the graph that grows.
    virtual std::vector<OnnxValue> body(const std::vector<OnnxValue>& inputs) = 0;
    /// Version of ai.onnx.
    virtual std::int64_t opset() const = 0;
};

struct OnnxSequenceOp {
    std::string_view name;  ///< "onnx.SequenceAt"
    std::vector<OnnxValue> (*resolve)(OnnxReader& node);
};

/// Ops that list tensors, pick of a list or pass one on; nullptr for others.
const OnnxSequenceOp* onnx_sequence_op(std::string_view target);
/// The same for ops of tensors that may pass on other values, too: resolved where they do.
const OnnxSequenceOp* onnx_passing_op(std::string_view target);

}  // namespace whittle
