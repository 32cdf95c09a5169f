// Groups to which rules of the schedule apply, and whether what the rules make of one computes what the group does.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "backends/halide/halide_text.h"
#include "backends/halide/planned.h"
#include "backends/kernel_runs.h"
#include "expr/builder.h"
#include "expr/interpret.h"
#include "expr/random/random_group.h"

namespace whittle::halide::rule_groups {

using expr::Directive;
using expr::Expr;
using expr::Group;
using expr::GroupBuilder;
using expr::Index;
using expr::Schedule;
using expr::Value;

inline constexpr Machine kMachines[] = {{.vector_bytes = 64, .accumulators = 26},
                                        {.vector_bytes = 32, .accumulators = 12}};

inline Value input(GroupBuilder& builder, const std::string& name, const Sizes& sizes, bool transposed = false) {
    Strides strides = contiguous_strides(sizes);
    if (transposed) {
        strides[sizes.size() - 1] = sizes[sizes.size() - 2];
        strides[sizes.size() - 2] = 1;
    }
    return builder.input(name, DType::f32, sizes, strides);
}

inline Expr zero() { return expr::constant(DType::f32, Scalar(0.0)); }

inline Value relu(const Value& x) {
    return {DType::f32, x.sizes(), [x](const Index& i) { return expr::select(x(i) < zero(), zero(), x(i)); }};
}

/// a b, with a dimension before both where `batch` is not 0.
inline Value product(GroupBuilder& builder, std::int64_t batch, std::int64_t m, std::int64_t k, std::int64_t n,
                     bool transposed = false) {
    const Sizes head = batch ? Sizes{batch} : Sizes{};
    const auto with_head = [&](std::int64_t a, std::int64_t b) {
        Sizes sizes = head;
        sizes.insert(sizes.end(), {a, b});
        return sizes;
    };
    const Value a = input(builder, "a", with_head(m, k)), b = input(builder, "b", with_head(k, n), transposed);
    const auto at = [](const Index& i, const Expr& row, const Expr& column) {
        Index index(i.begin(), i.end() - 2);
        index.insert(index.end(), {row, column});
        return index;
    };
    return builder.reduce(
        DType::f32, with_head(m, n), {k}, [](const Index&) { return zero(); },
        [=](const Index& i, const Index& r, const Expr& self) {
            return self + a(at(i, i[i.size() - 2], r[0])) * b(at(i, r[0], i.back()));
        },
        "product");
}

/// a transposed(b), b as it lies: along the sum.
inline Value product_along(GroupBuilder& builder, std::int64_t m, std::int64_t k, std::int64_t n) {
    const Value a = input(builder, "a", {m, k}), b = input(builder, "b", {n, k});
    return builder.reduce(
        DType::f32, {m, n}, {k}, [](const Index&) { return zero(); },
        [=](const Index& i, const Index& r, const Expr& self) {
            return self + a({i[0], r[0]}) * b({i[1], r[0]});
        },
        "product");
}

inline Value convolution(GroupBuilder& builder, const Value& x, std::int64_t out, std::int64_t kernel,
                         std::int64_t stride, bool wide = false) {
    const std::int64_t in = x.sizes()[1], result = (x.sizes()[2] - kernel) / stride + 1;
    const Value w = input(builder, "w", {out, in, kernel, kernel}), bias = input(builder, "bias", {out});
    const DType sum = wide ? DType::f64 : DType::f32;
    const Value sums = builder.reduce(
        sum, {x.sizes()[0], out, result, result}, {in, kernel, kernel},
        [=](const Index& i) { return expr::cast(sum, bias({i[1]})); },
        [=](const Index& i, const Index& r, const Expr& self) {
            const Expr s = expr::index(stride);
            return self + expr::cast(sum, x({i[0], r[0], i[2] * s + r[1], i[3] * s + r[2]})) *
                              expr::cast(sum, w({i[1], r[0], r[1], r[2]}));
        },
        "sums");
    return {DType::f32, sums.sizes(), [sums](const Index& i) { return expr::cast(DType::f32, sums(i)); }};
}
inline Value convolution(GroupBuilder& builder, std::int64_t in, std::int64_t out, std::int64_t size,
                         std::int64_t kernel, std::int64_t stride, bool wide = false) {
    return convolution(builder, input(builder, "x", {2, in, size, size}), out, kernel, stride, wide);
}

struct Grouped {
    std::int64_t groups = 1, in = 1, out = 1;  ///< channels of one group
    std::int64_t rows = 1, columns = 1, kernel = 3, stride = 1;
    bool wide = false;
};

/// As the op lowers it: the image's channel is a quotient of the result's.
inline Value convolution(GroupBuilder& builder, const Grouped& c) {
    const auto image = [&](std::int64_t size) { return (size - 1) * c.stride + c.kernel; };
    const Value x = input(builder, "x", {2, c.groups * c.in, image(c.rows), image(c.columns)});
    const Value w = input(builder, "w", {c.groups * c.out, c.in, c.kernel, c.kernel});
    const Value bias = input(builder, "bias", {c.groups * c.out});
    const DType sum = c.wide ? DType::f64 : DType::f32;
    const Value sums = builder.reduce(
        sum, {2, c.groups * c.out, c.rows, c.columns}, {c.in, c.kernel, c.kernel},
        [=](const Index& i) { return expr::cast(sum, bias({i[1]})); },
        [=](const Index& i, const Index& r, const Expr& self) {
            const Expr s = expr::index(c.stride);
            const Expr channel = i[1] / expr::index(c.out) * expr::index(c.in) + r[0];
            return self + expr::cast(sum, x({i[0], channel, i[2] * s + r[1], i[3] * s + r[2]})) *
                              expr::cast(sum, w({i[1], r[0], r[1], r[2]}));
        },
        "sums");
    return {DType::f32, sums.sizes(), [sums](const Index& i) { return expr::cast(DType::f32, sums(i)); }};
}

inline Value depthwise(GroupBuilder& builder, const Value& x, std::int64_t kernel, std::int64_t stride = 1) {
    const Sizes& image = x.sizes();
    const Value w = input(builder, "w", {image[1], kernel, kernel});
    return builder.reduce(
        DType::f32, {image[0], image[1], (image[2] - kernel) / stride + 1, (image[3] - kernel) / stride + 1},
        {kernel, kernel}, [](const Index&) { return zero(); },
        [=](const Index& i, const Index& r, const Expr& self) {
            const Expr s = expr::index(stride);
            return self + x({i[0], i[1], i[2] * s + r[0], i[3] * s + r[1]}) * w({i[1], r[0], r[1]});
        },
        "sums");
}

inline Value stored(GroupBuilder& builder, const Value& x) {
    const Value doubled(DType::f32, x.sizes(), [x](const Index& i) { return x(i) + x(i); });
    return builder.materialize(doubled, "image");
}

/// With a border of a zero, stored.
inline Value padded(GroupBuilder& builder, const Value& x) {
    Sizes sizes = x.sizes();
    sizes[2] += 2, sizes[3] += 2;
    const Value border(DType::f32, sizes, [x](const Index& i) {
        const auto clamped = [&](std::size_t d) {
            return expr::binary(expr::Op::max,
                                expr::binary(expr::Op::min, i[d] - expr::index(1), expr::index(x.sizes()[d] - 1)),
                                expr::index(0));
        };
        const auto inside = [&](std::size_t d) {
            const Expr at = i[d] - expr::index(1);
            return expr::index(0) <= at && at <= expr::index(x.sizes()[d] - 1);
        };
        return expr::select(inside(2) && inside(3), x({i[0], i[1], clamped(2), clamped(3)}), zero());
    });
    return builder.materialize(border, "padded");
}

/// Of 3 x 3, every second, as max_pool2d has it: the last NaN stays.
inline Value window_maximum(GroupBuilder& builder, const Value& x, std::int64_t rows, std::int64_t columns) {
    return builder.reduce(
        DType::f32, {x.sizes()[0], x.sizes()[1], rows, columns}, {3, 3},
        [](const Index&) { return expr::constant(DType::f32, Scalar(-std::numeric_limits<double>::infinity())); },
        [=](const Index& i, const Index& r, const Expr& self) {
            const Expr two = expr::index(2);
            const Expr element = x({i[0], i[1], i[2] * two + r[0], i[3] * two + r[1]});
            return expr::select(self < element || expr::unary(expr::Op::is_nan, element), element, self);
        },
        "most");
}

inline Value row_sum(GroupBuilder& builder, const Value& x, DType dtype = DType::f32) {
    Sizes sizes = x.sizes();
    const std::int64_t length = sizes.back();
    sizes.back() = 1;
    return builder.reduce(
        dtype, sizes, {length}, [dtype](const Index&) { return expr::constant(dtype, Scalar(0.0)); },
        [=](const Index& i, const Index& r, const Expr& self) {
            Index at = i;
            at.back() = r[0];
            return self + expr::cast(dtype, x(at));
        },
        "sum");
}

/// Of the last two dimensions.
inline Value image_sum(GroupBuilder& builder, const Value& x, DType dtype = DType::f32) {
    const Sizes& sizes = x.sizes();
    return builder.reduce(
        dtype, {sizes[0], sizes[1], 1, 1}, {sizes[2], sizes[3]},
        [dtype](const Index&) { return expr::constant(dtype, Scalar(0.0)); },
        [=](const Index& i, const Index& r, const Expr& self) {
            return self + expr::cast(dtype, x({i[0], i[1], r[0], r[1]}));
        },
        "sum");
}

inline Value row_maximum(GroupBuilder& builder, const Value& x) {
    Sizes sizes = x.sizes();
    const std::int64_t length = sizes.back();
    sizes.back() = 1;
    return builder.reduce(
        DType::f32, sizes, {length},
        [](const Index&) { return expr::constant(DType::f32, Scalar(-std::numeric_limits<double>::infinity())); },
        [=](const Index& i, const Index& r, const Expr& self) {
            Index at = i;
            at.back() = r[0];
            const Expr keeps = expr::unary(expr::Op::is_nan, self) || x(at) <= self;
            return expr::select(keeps, self, x(at));
        },
        "max");
}

inline Value softmax(GroupBuilder& builder, const Sizes& sizes) {
    const Value x = input(builder, "x", sizes), most = row_maximum(builder, x);
    const auto of_row = [](Index i) {
        i.back() = expr::index(0);
        return i;
    };
    const Value exps = builder.materialize(
        Value(DType::f32, sizes, [=](const Index& i) { return expr::unary(expr::Op::exp, x(i) - most(of_row(i))); }),
        "exps");
    const Value sum = row_sum(builder, exps);
    return {DType::f32, sizes, [=](const Index& i) { return exps(i) / sum(of_row(i)); }};
}

/// Random; every 97th is NaN or infinite, if wanted, which so spoil some of the sums, not all.
inline std::vector<Tensor> inputs_of(const Group& group, bool special) {
    Random random(11);
    std::vector<Tensor> tensors = expr::random_inputs(group, random);
    std::vector<Tensor> result;
    std::size_t count = 0;
    for (std::size_t i = 0; i < tensors.size(); i++) {
        Tensor tensor = tensors[i].clone();
        std::vector<float> values;
        for (std::int64_t e = 0; e < tensor.numel(); e++)
            values.push_back(static_cast<float>(static_cast<int>(random.below(2001)) - 1000) / 512.0F);
        if (special && i == 0)
            for (std::size_t e = 0; e < values.size(); e += 977)
                values[e] =
                    ++count % 2 ? std::numeric_limits<float>::quiet_NaN() : -std::numeric_limits<float>::infinity();
        const Tensor filled = Tensor::of(values, tensor.sizes());
        // Under the strides of the input.
        std::vector<float> laid(values.size());
        const Strides dense = contiguous_strides(tensor.sizes());
        for (std::size_t e = 0; e < values.size(); e++) {
            std::int64_t at = 0;
            for (std::size_t d = 0; d < dense.size(); d++)
                at += static_cast<std::int64_t>(e) / dense[d] % tensor.sizes()[d] * group.inputs[i].strides[d];
            laid[static_cast<std::size_t>(at)] = values[e];
        }
        result.push_back(Tensor::of(laid, {static_cast<std::int64_t>(laid.size())})
                             .as_strided(tensor.sizes(), group.inputs[i].strides, 0));
    }
    return result;
}

/// "" or where they differ by more than another order of summing gives.
inline std::string differing_beyond_order(const Tensor& got, const Tensor& expected) {
    const auto a = got.values<double>(), b = expected.values<double>();
    double largest = 0;
    for (const double value : b)
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    for (std::size_t i = 0; i < a.size(); i++) {
        const bool same = std::isfinite(b[i]) ? std::fabs(a[i] - b[i]) <= 2e-6 * largest
                                              : (std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]);
        if (!same)
            return "element " + std::to_string(i) + ": " + std::to_string(a[i]) + ", not " + std::to_string(b[i]);
    }
    return {};
}

inline void check_kernel(const Group& group, const Schedule& schedule, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& expected) {
    std::string error;
    const auto kernel = compile(group, schedule, error);
    CHECK(error == "");
    if (!kernel) return;
    const std::vector<Tensor> got = run(*kernel, group, inputs, error);
    CHECK(error == "");
    if (error.empty()) CHECK(differing_beyond_order(got.at(0), expected.at(0)) == "");
}

}  // namespace whittle::halide::rule_groups
