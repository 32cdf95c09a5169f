// A tensor of one number, which is enough to be one.
#pragma once
#include <ostream>
#include <stdexcept>
class Tensor {
  public:
    Tensor(float value = 0) : value_(value) {}
    const void* whittle_identity() const { return this; }
    float item() const { return value_; }
    const float* data_ptr() const { return &value_; }
    explicit operator bool() const { return value_ != 0; }
    Tensor& operator*=(const Tensor& o) { return *this = Tensor(value_ * o.value_); }
    friend Tensor operator+(const Tensor& a, const Tensor& b) { return a.value_ + b.value_; }
    friend Tensor operator*(const Tensor& a, const Tensor& b) { return a.value_ * b.value_; }
    friend Tensor operator<(const Tensor& a, const Tensor& b) { return a.value_ < b.value_; }
    friend Tensor operator/(const Tensor& a, const Tensor& b) {
        if (b.value_ == 0) throw std::domain_error("division by zero");
        return a.value_ / b.value_;
    }
    friend std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << "[" << t.value_ << "]"; }
    Tensor sum() const { return *this; }

  private:
    float value_;
};
inline Tensor relu(const Tensor& t) { return t.item() < 0 ? Tensor(0) : t; }
