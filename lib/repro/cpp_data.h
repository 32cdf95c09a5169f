// Tensors as C++ text: arrays with exact values, or sidecar files when they are large.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/emitter.h"
#include "tensor/tensor.h"

namespace whittle::repro {

/// Values of a generated program: recorded ones, or others, of which all but `small` take no space: it makes them up by
/// itself.
enum class Data { real, random, small, ones, zeros };
std::string_view name(Data data);
/// The one of this name, if any.
std::optional<Data> data_called(std::string_view name);

/// What a tensor is to its graph: parameters are scales and variances, too, and no small number of theirs is negative.
enum class Role { input, parameter };

/// A tensor of the same dtype, sizes and strides with other contents: multiples of 1/64 below 2 (which every float
/// dtype holds), from splitmix64 with the seed, in the order of memory; in the same way, as `small`, whole numbers from
/// -4 to 4 that are not 0, and of a parameter those from 1 on; for integers, both times, 0 and 1; ones; or zeros.
/// Itself for Data::real.
Tensor made_up(const Tensor& tensor, Data data, std::uint64_t seed, Role role = Role::input);

class DataWriter {
  public:
    /// `stem`: first part of the sidecars' names.
    explicit DataWriter(std::string stem) : stem_(std::move(stem)) {}

    /// Defines `name` as a pointer to the first logical element of the tensor, whose memory keeps its strides: an
    /// array, a sidecar, or, where all elements are alike, a call of filled<T>().
    std::string define(const std::string& name, const Tensor& tensor);
    /// The tensor that made_up() gives for Data::random and this seed, as a call of random_values<T>().
    std::string define_random(const std::string& name, const Tensor& tensor, std::uint64_t seed);
    /// Whether the text needs the helper functions of the template repro_values.cpp.
    bool made_up() const { return made_up_; }
    /// Files that the program reads, named by their hashes.
    const std::vector<ReproProgram::File>& sidecars() const { return sidecars_; }

  private:
    std::string stem_;
    std::vector<ReproProgram::File> sidecars_;
    bool made_up_ = false;
};

}  // namespace whittle::repro
