// Tensors as C++ text: arrays with exact values, or sidecar files when they are large.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace whittle::repro {

/// A file that the generated program reads, named by its hash.
struct Sidecar {
    std::string file;
    std::string bytes;
};

class DataWriter {
  public:
    /// `stem`: first part of the sidecars' names.
    explicit DataWriter(std::string stem) : stem_(std::move(stem)) {}

    /// Defines `name` as a pointer to the first logical element of the tensor, whose memory keeps its strides.
    std::string define(const std::string& name, const Tensor& tensor);
    const std::vector<Sidecar>& sidecars() const { return sidecars_; }

  private:
    std::string stem_;
    std::vector<Sidecar> sidecars_;
};

/// One element as a C++ literal of the dtype's type in generated code: exact; NAN and INFINITY for f32 and f64.
std::string literal(const Tensor& contiguous, std::int64_t element);

/// A C string literal of any length: one piece per line of `text`.
std::string string_literal(const std::string& text);

}  // namespace whittle::repro
