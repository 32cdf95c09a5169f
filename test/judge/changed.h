// Tensors that differ in one element.
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/tensor.h"

namespace whittle::test {

inline Tensor with(const Tensor& tensor, std::size_t at, double value) {
    std::vector<double> values = tensor.values<double>();
    values.at(at) = value;
    return Tensor::of(values, tensor.sizes()).to(tensor.dtype());
}

}  // namespace whittle::test
