// Operators: ATen's ops under C++'s spellings.
#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/tensor.h>

#include "api/call.h"

namespace whittle::api {
namespace {

template <class A, class B>
Tensor binary(const char* target, const A& a, const B& b, void* pc) {
    Call call(target, pc);
    call.add(a);
    call.add(b);
    return call.one();
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) {
    return binary("aten.add.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator+(const Tensor& a, const Scalar& b) {
    return binary("aten.add.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator+(const Scalar& a, const Tensor& b) {
    return binary("aten.add.Tensor", b, a, __builtin_return_address(0));
}
Tensor operator-(const Tensor& a, const Tensor& b) {
    return binary("aten.sub.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator-(const Tensor& a, const Scalar& b) {
    return binary("aten.sub.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator-(const Scalar& a, const Tensor& b) {
    return binary("aten.rsub.Scalar", b, a, __builtin_return_address(0));
}
Tensor operator*(const Tensor& a, const Tensor& b) {
    return binary("aten.mul.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator*(const Tensor& a, const Scalar& b) {
    return binary("aten.mul.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator*(const Scalar& a, const Tensor& b) {
    return binary("aten.mul.Tensor", b, a, __builtin_return_address(0));
}
Tensor operator/(const Tensor& a, const Tensor& b) {
    return binary("aten.div.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator/(const Tensor& a, const Scalar& b) {
    return binary("aten.div.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator/(const Scalar& a, const Tensor& b) {
    void* const pc = __builtin_return_address(0);
    Call reciprocal("aten.reciprocal.default", pc);
    reciprocal.add(b);
    return binary("aten.mul.Tensor", reciprocal.one(), a, pc);
}
Tensor operator<(const Tensor& a, const Tensor& b) {
    return binary("aten.lt.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator<(const Tensor& a, const Scalar& b) {
    return binary("aten.lt.Scalar", a, b, __builtin_return_address(0));
}
Tensor operator<=(const Tensor& a, const Tensor& b) {
    return binary("aten.le.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator<=(const Tensor& a, const Scalar& b) {
    return binary("aten.le.Scalar", a, b, __builtin_return_address(0));
}
Tensor operator>(const Tensor& a, const Tensor& b) {
    return binary("aten.gt.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator>(const Tensor& a, const Scalar& b) {
    return binary("aten.gt.Scalar", a, b, __builtin_return_address(0));
}
Tensor operator>=(const Tensor& a, const Tensor& b) {
    return binary("aten.ge.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator>=(const Tensor& a, const Scalar& b) {
    return binary("aten.ge.Scalar", a, b, __builtin_return_address(0));
}
Tensor operator==(const Tensor& a, const Tensor& b) {
    return binary("aten.eq.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator==(const Tensor& a, const Scalar& b) {
    return binary("aten.eq.Scalar", a, b, __builtin_return_address(0));
}
Tensor operator!=(const Tensor& a, const Tensor& b) {
    return binary("aten.ne.Tensor", a, b, __builtin_return_address(0));
}
Tensor operator!=(const Tensor& a, const Scalar& b) {
    return binary("aten.ne.Scalar", a, b, __builtin_return_address(0));
}

Tensor Tensor::operator-() const {
    Call call("aten.neg.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}

}  // namespace whittle::api
