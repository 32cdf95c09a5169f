// Tensor: a strided view of shared memory, which it owns or maps from a file. Copying a Tensor copies the view, as in
// ATen.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/scalar.h"
#include "tensor/shape.h"

namespace whittle {

/// Bytes that live as long as somebody views them.
class Storage {
  public:
    /// Zero-filled memory, aligned to 64 bytes. Throws Error when the size is beyond what the machine can give.
    static std::shared_ptr<Storage> allocate(std::size_t bytes);
    /// The check of allocate(), for memory that is not a Storage. Throws Error.
    static void check_size(std::size_t bytes);
    /// Somebody else's bytes (a mapped file), kept alive by `owner`. They are never written: see Tensor::mutable_data.
    static std::shared_ptr<Storage> borrow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

    std::span<const std::byte> bytes() const { return bytes_; }
    bool writable() const { return writable_; }

  private:
    std::span<const std::byte> bytes_;
    std::shared_ptr<const void> owner_;
    bool writable_ = false;
};

class Tensor {
  public:
    /// An f32 tensor of size [0].
    Tensor();
    /// Zeros, contiguous.
    Tensor(DType dtype, Sizes sizes);
    /// A view of `storage` starting at element `offset`. Throws Error when a reachable element lies outside the
    /// storage, or its bytes are not aligned to the element size. Empty tensors reach nothing; their offset becomes 0.
    Tensor(std::shared_ptr<Storage> storage, DType dtype, Sizes sizes, Strides strides, std::int64_t offset = 0);

    /// A contiguous tensor holding `values` in row-major order.
    template <class T>
    static Tensor of(const std::vector<T>& values, Sizes sizes);
    template <class T>
    static Tensor of(std::initializer_list<T> values) {
        return of(std::vector<T>(values), {static_cast<std::int64_t>(values.size())});
    }
    static Tensor of(const Scalar& value, DType dtype);  ///< 0-d
    /// A contiguous copy of somebody's memory: `data` is the first element of a view with these strides, aligned to its
    /// size, and every element can be read. Bools are any byte that is not 0.
    static Tensor copy_of(const void* data, DType dtype, Sizes sizes, std::span<const std::int64_t> strides);

    DType dtype() const { return dtype_; }
    const Sizes& sizes() const { return sizes_; }
    const Strides& strides() const { return strides_; }
    std::int64_t offset() const { return offset_; }
    std::int64_t rank() const { return static_cast<std::int64_t>(sizes_.size()); }
    std::int64_t numel() const { return numel_; }
    const std::shared_ptr<Storage>& storage() const { return storage_; }
    bool is_contiguous() const { return whittle::is_contiguous(sizes_, strides_); }

    bool requires_grad() const { return requires_grad_; }
    Tensor with_requires_grad(bool value) const;

    /// First element of the view; T must be the dtype's C++ type.
    template <class T>
    const T* data() const {
        check_type(dtype_of<T>);
        return static_cast<const T*>(raw());
    }
    /// As data(), to write through. Bug check: the storage must be writable.
    template <class T>
    T* mutable_data() {
        check_type(dtype_of<T>);
        return static_cast<T*>(mutable_raw());
    }
    const void* raw() const;
    void* mutable_raw();

    /// The same memory under other sizes and strides.
    Tensor as_strided(Sizes sizes, Strides strides, std::int64_t offset) const;
    /// Itself when contiguous (and then sharing memory), else a contiguous copy.
    Tensor contiguous() const;
    /// A contiguous copy with memory of its own.
    Tensor clone() const;
    /// Elements converted as ATen's `to` does (float to integer truncates, anything to bool is != 0). Shares memory
    /// when nothing changes.
    Tensor to(DType dtype) const;

    /// Row-major elements as the compute type T (float, double, int64_t, uint64_t, bool, Complex64, Complex128);
    /// converts.
    template <class T>
    std::vector<T> values() const;
    /// The element of a tensor with exactly one. Throws Error otherwise, and for a complex one, which no Scalar is.
    Scalar item() const;

    /// The bytes of the elements, for files and hashes. The tensor must be contiguous (bug check), and the span lives
    /// only as long as its storage: hold on to what contiguous() returns.
    std::span<const std::byte> contiguous_bytes() const;

  private:
    void check_type(DType dtype) const;

    std::shared_ptr<Storage> storage_;
    DType dtype_ = DType::f32;
    Sizes sizes_;
    Strides strides_;
    std::int64_t offset_ = 0;
    std::int64_t numel_ = 0;
    bool requires_grad_ = false;
};

/// Same dtype, sizes and element bytes (NaNs with equal bits are equal); strides may differ.
bool same_bits(const Tensor& a, const Tensor& b);

/// Hash of dtype, sizes and element bytes; equal for tensors with same_bits.
std::string content_hash(const Tensor& tensor);

}  // namespace whittle
