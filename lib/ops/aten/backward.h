// What the backward ops and losses share: short names for the calls they are made of.
#pragma once

#include <string>

#include "ops/core/op.h"

namespace whittle {

using Refs = std::vector<NodeRef>;
using Ints = std::vector<std::int64_t>;

class Gradient {
  public:
    explicit Gradient(GraphBuilder& builder) : b_(builder) {}

    NodeValue call(std::string_view target, ArgList args) const { return b_.call(target, std::move(args)); }
    NodeValue mul(const NodeValue& x, const Arg& y) const { return call("aten.mul.Tensor", {arg(x), y}); }
    NodeValue mul(const NodeValue& x, const NodeValue& y) const { return mul(x, arg(y)); }
    NodeValue div(const NodeValue& x, const Arg& y) const { return call("aten.div.Tensor", {arg(x), y}); }
    NodeValue add(const NodeValue& x, const Arg& y) const { return call("aten.add.Tensor", {arg(x), y}); }
    NodeValue add(const NodeValue& x, const NodeValue& y) const { return add(x, arg(y)); }
    NodeValue sub(const NodeValue& x, const NodeValue& y) const { return call("aten.sub.Tensor", {arg(x), arg(y)}); }
    NodeValue neg(const NodeValue& x) const { return call("aten.neg.default", {arg(x)}); }
    /// 1 - x
    NodeValue complement(const NodeValue& x) const { return add(neg(x), 1); }
    NodeValue reshape(const NodeValue& x, const Sizes& sizes) const {
        return x.meta.sizes == sizes ? x : call("aten.reshape.default", {arg(x), Arg::ints(sizes)});
    }
    /// Over no dimensions it is x.
    NodeValue sum(const NodeValue& x, const std::vector<std::int64_t>& dims, bool keep = false) const {
        return dims.empty() ? x : call("aten.sum.dim_IntList", {arg(x), Arg::ints(dims), keep});
    }
    NodeValue slice(const NodeValue& x, std::int64_t dim, std::int64_t start, std::int64_t end) const {
        if (start == 0 && end == x.meta.sizes.at(static_cast<std::size_t>(dim))) return x;
        return call("aten.slice.Tensor", {arg(x), dim, start, end, 1});
    }
    NodeValue zeros(const Sizes& sizes, DType dtype) const {
        return b_.call("aten.zeros.default", {Arg::ints(sizes)}, {{"dtype", dtype}});
    }
    NodeValue full(const Sizes& sizes, const Arg& value, DType dtype) const {
        return b_.call("aten.full.default", {Arg::ints(sizes), value}, {{"dtype", dtype}});
    }
    NodeValue constant(const Tensor& value) const { return b_.constant(value); }
    NodeValue as(const NodeValue& x, DType dtype) const {
        return x.meta.dtype == dtype ? x : call("aten.to.dtype", {arg(x), Arg(dtype)});
    }
    NodeValue of(std::string_view function, const NodeValue& x) const { return call(function, {arg(x)}); }
    /// x, of complex numbers the conjugates.
    NodeValue conj(const NodeValue& x) const {
        return is_complex(x.meta.dtype) ? of("aten.conj_physical.default", x) : x;
    }
    /// A condition on x, x <= 0 as ("le", x, 0).
    NodeValue when(const std::string& comparison, const NodeValue& x, const Arg& bound) const {
        return call("aten." + comparison + ".Scalar", {arg(x), bound});
    }
    NodeValue either(const NodeValue& condition, const NodeValue& yes, const NodeValue& no) const {
        return call("aten.where.self", {arg(condition), arg(yes), arg(no)});
    }
    /// x where the condition holds, else 0.
    NodeValue keep(const NodeValue& condition, const NodeValue& x) const {
        return call("aten.where.ScalarOther", {arg(condition), arg(x), 0});
    }
    /// 0 where the condition holds, else x.
    NodeValue drop(const NodeValue& condition, const NodeValue& x) const {
        return call("aten.masked_fill.Scalar", {arg(x), arg(condition), 0});
    }
    /// What stands for a gradient that output_mask leaves out.
    NodeRef none(DType dtype) const { return zeros({0}, dtype).ref; }

  private:
    GraphBuilder& b_;
};

}  // namespace whittle
