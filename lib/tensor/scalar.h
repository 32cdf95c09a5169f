// A host number: what ATen calls Scalar. Its kind takes part in type promotion as a wrapped number.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "tensor/dtype.h"

namespace whittle {

class Scalar {
  public:
    Scalar(std::int64_t value) : value_(value) {}
    Scalar(int value) : value_(std::int64_t{value}) {}
    Scalar(std::uint64_t value) {
        if (value >> 63)
            value_ = value;
        else
            value_ = static_cast<std::int64_t>(value);
    }
    Scalar(double value) : value_(value) {}
    Scalar(bool value) : value_(value) {}

    bool is_floating() const { return std::holds_alternative<double>(value_); }
    bool is_integer() const {
        return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_);
    }
    bool is_boolean() const { return std::holds_alternative<bool>(value_); }

    double to_double() const {
        return std::visit([](auto v) { return static_cast<double>(v); }, value_);
    }
    /// Floating values truncate; NaN and values beyond the range give the smallest integer, as x86 converts. Integers
    /// from 2^63 wrap.
    std::int64_t to_integer() const;
    /// The digits of an integer, those from 2^63 too.
    std::string integer_text() const;
    bool to_bool() const {
        return std::visit([](auto v) { return v != 0; }, value_);
    }
    /// The default dtype of the kind: f32 for floating (torch's default), i64, bool.
    DType dtype() const { return is_floating() ? DType::f32 : is_integer() ? DType::i64 : DType::boolean; }
    bool operator==(const Scalar&) const = default;

  private:
    /// std::uint64_t from 2^63 only: equal numbers are equal variants.
    std::variant<std::int64_t, std::uint64_t, double, bool> value_;
};

}  // namespace whittle
