// ONNX TensorProto files: how the ONNX ecosystem stores the inputs and outputs of a test (input_0.pb, output_0.pb).
// Entry points: load_tensor_proto(), save_tensor_proto(), load_test_data_set().
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace whittle {

struct NamedTensor {
    std::string name;  ///< as the file says; may be empty
    Tensor tensor;
};

/// Reads a file that holds one TensorProto. Throws Error naming the file for anything else, for truncated data, and for
/// element types Whittle does not have (strings, unsigned 16 to 64 bit, complex).
NamedTensor load_tensor_proto(const std::filesystem::path& path);

/// Writes the tensor, made contiguous, as raw little-endian data; atomically.
void save_tensor_proto(const std::filesystem::path& path, const Tensor& tensor, const std::string& name = {});

/// A folder of the ONNX backend tests' layout: input_0.pb, input_1.pb …, output_0.pb …, numbered from 0 without gaps.
struct TestDataSet {
    std::vector<NamedTensor> inputs, outputs;
};

/// Throws Error for a folder without outputs, and whatever load_tensor_proto throws.
TestDataSet load_test_data_set(const std::filesystem::path& folder);

}  // namespace whittle
