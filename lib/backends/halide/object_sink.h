// A group's expressions as Halide objects.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/halide/definitions.h"
#include "backends/halide/kernel_helpers.h"
#include "backends/halide/translate.h"
#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/scalar.h"

namespace whittle::halide {

inline Halide::Type halide_type(DType dtype) {
    const std::string_view text = info_of(dtype).halide, kind = text.substr(0, text.find('('));
    const int bits = static_cast<int>(8 * size_of(dtype));
    if (kind == "Bool") return Halide::Bool();
    if (kind == "Float") return Halide::Float(bits);
    if (kind == "BFloat") return Halide::BFloat(bits);
    if (kind == "Int") return Halide::Int(bits);
    WHITTLE_CHECK(kind == "UInt", std::string(name(dtype)) + " has no Halide type");
    return Halide::UInt(bits);
}

using Loads = std::map<std::string, std::function<Halide::Expr(const std::vector<Halide::Expr>&)>>;

/// Receives one definition.
class ObjectSink final : public Sink<Halide::Expr> {
  public:
    ObjectSink(const Loads& loads, std::map<std::string, Halide::Expr> variables, Functions functions)
        : loads_(loads), variables_(std::move(variables)), functions_(functions) {}

    using E = Halide::Expr;
    E variable(const std::string& name) override { return variables_.at(name); }
    E literal(DType dtype, const Scalar& value) override {
        const Halide::Type type = halide_type(dtype);
        return is_floating(dtype) ? Halide::Internal::make_const(type, value.to_double())
                                  : Halide::Internal::make_const(type, value.to_integer());
    }
    E from_bits(DType dtype, std::uint64_t bits) override {
        if (dtype == DType::f64) return double_bits(bits);
        if (dtype == DType::i64) return integer_bits(bits);
        if (dtype == DType::f32) return float_bits(static_cast<std::uint32_t>(bits));
        if (dtype == DType::i32)  // an integer alone would be folded
            return Halide::reinterpret(Halide::Int(32), float_bits(static_cast<std::uint32_t>(bits)));
        return Halide::reinterpret(halide_type(dtype), Halide::Expr(static_cast<std::uint16_t>(bits)));
    }
    E cast(DType dtype, bool as_unsigned, const E& a) override {
        const Halide::Type type = halide_type(dtype);
        return Halide::cast(as_unsigned ? type.with_code(halide_type_uint) : type, a);
    }
    E signed_bits(DType dtype, const E& a) override { return Halide::reinterpret(halide_type(dtype), a); }
    E infix(expr::Op op, const E& a, const E& b) override {
        switch (op) {
#define WHITTLE_EXPR_INFIX(op, symbol, ...) \
    case expr::Op::op:                      \
        return a symbol b;
#include "expr/expr_ops.def"
            default:
                WHITTLE_CHECK(false, "no infix operator " + std::string(expr::name(op)));
                return {};
        }
    }
    E prefix(expr::Op op, const E& a) override { return op == expr::Op::logical_not ? !a : ~a; }
    E call(const std::string& function, const std::vector<E>& in) override {
        if (function == "select") return Halide::select(in[0], in[1], in[2]);
        if (function == "min") return Halide::min(in[0], in[1]);
        if (function == "max") return Halide::max(in[0], in[1]);
        if (function == "clamp") return Halide::clamp(in[0], in[1], in[2]);
        if (function == "unsafe_promise_clamped") return Halide::unsafe_promise_clamped(in[0], in[1], in[2]);
        if (function == "strict_float") return Halide::strict_float(in[0]);
        if (function == "is_nan") return Halide::is_nan(in[0]);
        if (function == "abs") return Halide::abs(in[0]);
        if (function == "floor") return Halide::floor(in[0]);
        if (function == "ceil") return Halide::ceil(in[0]);
        if (function == "trunc") return Halide::trunc(in[0]);
        if (function == "round") return Halide::round(in[0]);
        WHITTLE_CHECK(function == "sqrt", "no function " + function);
        return Halide::sqrt(in[0]);
    }
    E to_half(DType dtype, const E& a) override { return halide::to_half(halide_type(dtype), a); }
    E libm(expr::Op op, DType dtype, const std::vector<E>& in) override {
        using expr::Op;
        if (functions_ == Functions::halide && has_halide_function(op, dtype))
            return op == Op::exp   ? Halide::exp(in[0])
                   : op == Op::log ? Halide::log(in[0])
                   : op == Op::pow ? Halide::pow(in[0], in[1])
                                   : Halide::erf(in[0]);
        if (functions_ == Functions::vectors && has_vector_function(op, dtype))
            return op == Op::exp ? exp_f32(in[0]) : op == Op::tanh ? tanh_f32(in[0]) : erf_f32(in[0]);
        return halide::libm(libm_name(op, dtype).c_str(), in);
    }
    E load(const std::string& name, const std::vector<E>& indices) override { return loads_.at(name)(indices); }
    E share(const expr::Expr&, E translated) override { return translated; }

  private:
    const Loads& loads_;
    std::map<std::string, Halide::Expr> variables_;
    const Functions functions_;
};

}  // namespace whittle::halide
