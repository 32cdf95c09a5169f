// ONNX TensorProto files: how the ONNX ecosystem stores the inputs and outputs of a test (input_0.pb, output_0.pb).
// Entry points: load_tensor_proto(), save_tensor_proto(), load_test_data_set().
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tensor/tensor.h"

namespace whittle {

struct NamedTensor {
    std::string name;  ///< as the file says; may be empty
    Tensor tensor;
    std::optional<ValueMeta> opaque = {};  ///< of a tensor of an OpaqueType: `tensor` is the bytes of its TensorProto
};

/// Reads a file that holds one TensorProto. Throws Error naming the file for anything else and for truncated data.
NamedTensor load_tensor_proto(const std::filesystem::path& path);

/// Writes the tensor, made contiguous, as raw little-endian data; atomically.
void save_tensor_proto(const std::filesystem::path& path, const Tensor& tensor, const std::string& name = {});

/// What a model declares its inputs and outputs to be, in order.
struct DeclaredValue {
    std::string name;
    bool optional = false, sequence = false;  ///< both: an optional sequence; neither: a tensor
};
struct DeclaredValues {
    std::vector<DeclaredValue> inputs, outputs;
};
/// Inputs that are initializers, too, are none.
DeclaredValues declared_values(const std::filesystem::path& model);

/// A folder of the ONNX backend tests' layout: input_0.pb, input_1.pb …, output_0.pb …, numbered from 0 without gaps.
/// A file that holds a sequence gives as many tensors, for x named x.0, x.1 …; one that holds nothing gives none.
struct TestDataSet {
    std::vector<NamedTensor> inputs, outputs;
    /// Of the inputs that are sequences or optionals; nothing for one that holds nothing (LoadOptions::lengths).
    std::map<std::string, std::optional<std::size_t>> lengths = {};
};

/// Writes such a folder of tensors without names.
void save_test_data_set(const std::filesystem::path& folder, std::span<const Tensor> inputs,
                        std::span<const Tensor> outputs);

/// The files do not say whether they hold a sequence: `declared` does, of the model that they belong to. Throws Error
/// for a folder with neither, and whatever load_tensor_proto throws.
TestDataSet load_test_data_set(const std::filesystem::path& folder, const DeclaredValues& declared = {});

}  // namespace whittle
