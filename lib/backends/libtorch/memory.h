// Memory: tensors of Whittle as LibTorch's and back, for the length of one call. Going there memory is shared, so that
// views and in-place writes mean the same on both sides; coming back it is shared where it was lent, else copied.
// Includes LibTorch's headers: for the files of this folder.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>  // which Clang 14 has to know before it reads ATen.h

#include <map>
#include <memory>

#include "tensor/tensor.h"

namespace whittle::aten {

/// Whether LibTorch has the element type.
bool has(DType dtype);
/// Throws Error where it has not.
at::ScalarType scalar_type(DType dtype);
/// Throws Error for an element type that Whittle has not.
DType dtype_of(at::ScalarType type);

class Memory {
  public:
    /// The same elements in the same memory. LibTorch has no negative strides: a tensor with one is lent as a
    /// contiguous copy.
    at::Tensor lend(const Tensor& tensor);
    /// A view of what was lent, or of a copy of the storage that it is a view of: dtype, sizes and strides are kept,
    /// and what shared memory in LibTorch does so here. The tensor must be defined. Throws Error for one that is not
    /// dense, strided and on the CPU.
    Tensor take(const at::Tensor& tensor);

    /// False for what was lent as a copy and for memory that nobody may write (a mapped file).
    static bool writable(const Tensor& tensor);

  private:
    std::map<const Storage*, at::Storage> lent_;
    std::map<const c10::StorageImpl*, std::shared_ptr<Storage>> taken_;
    std::vector<at::Storage> kept_;  ///< so that no address in taken_ is used twice
};

}  // namespace whittle::aten
