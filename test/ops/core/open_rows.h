// The rows of open_rules_test.cpp.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ops/samples/samples.h"
#include "ops/samples/table.h"

namespace whittle::open_rules {

using samples::t;

/// A call twice: with operands for which the result is open, and with others. Without `args`, all tensors are operands.
struct Row {
    std::string target;
    std::vector<Tensor> open, defined;
    std::string reason;
    std::vector<std::pair<std::string, Arg>> kwargs = {};
    ArgList args = {};
    std::vector<std::size_t> constants = {};
    ArgList defined_args = {};  ///< of the second call, where they are others
};

inline const double kNaN = std::nan(""), kInf = std::numeric_limits<double>::infinity();

inline Tensor i64(const std::vector<std::int64_t>& values) { return samples::integers(values); }
inline Tensor i64(const std::vector<std::int64_t>& values, const Sizes& sizes) { return Tensor::of(values, sizes); }
inline Tensor i32(const std::vector<double>& values) { return samples::values(DType::i32, values); }
inline Tensor u8(const std::vector<double>& values) { return samples::values(DType::u8, values); }
inline Tensor f32(const std::vector<double>& values) { return samples::values(DType::f32, values); }
inline Tensor f32(const std::vector<double>& values, const Sizes& sizes) {
    return samples::values(DType::f32, values, sizes);
}
inline Tensor ramp(const Sizes& sizes) { return samples::ramp(DType::f32, sizes); }

/// Of ONNX ops.
const std::vector<Row>& onnx_rows();
/// Of ATen ops that read indices.
const std::vector<Row>& index_rows();

}  // namespace whittle::open_rules
