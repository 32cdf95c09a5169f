// The rules of the schedule: what they make of a group computes what the group does, as any subset of its directives;
// and the loops that they make are the ones that they are for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "backends/halide/halide_text.h"
#include "backends/halide/planned.h"
#include "backends/kernel_runs.h"
#include "expr/builder.h"
#include "expr/hoist.h"
#include "expr/interpret.h"
#include "expr/random/random_group.h"

using namespace whittle;
using namespace whittle::halide;
using expr::Directive;
using expr::Expr;
using expr::Group;
using expr::GroupBuilder;
using expr::Index;
using expr::Schedule;
using expr::Value;

namespace {

constexpr Machine kMachines[] = {{.vector_bytes = 64, .accumulators = 26}, {.vector_bytes = 32, .accumulators = 12}};

Value input(GroupBuilder& builder, const std::string& name, const Sizes& sizes, bool transposed = false) {
    Strides strides = contiguous_strides(sizes);
    if (transposed) {
        strides[sizes.size() - 1] = sizes[sizes.size() - 2];
        strides[sizes.size() - 2] = 1;
    }
    return builder.input(name, DType::f32, sizes, strides);
}

Expr zero() { return expr::constant(DType::f32, Scalar(0.0)); }

Value relu(const Value& x) {
    return {DType::f32, x.sizes(), [x](const Index& i) { return expr::select(x(i) < zero(), zero(), x(i)); }};
}

struct Shape {
    std::string name;
    std::function<Value(GroupBuilder&)> make;
};

/// a b, with a dimension before both where `batch` is not 0.
Value product(GroupBuilder& builder, std::int64_t batch, std::int64_t m, std::int64_t k, std::int64_t n,
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
Value product_along(GroupBuilder& builder, std::int64_t m, std::int64_t k, std::int64_t n) {
    const Value a = input(builder, "a", {m, k}), b = input(builder, "b", {n, k});
    return builder.reduce(
        DType::f32, {m, n}, {k}, [](const Index&) { return zero(); },
        [=](const Index& i, const Index& r, const Expr& self) {
            return self + a({i[0], r[0]}) * b({i[1], r[0]});
        },
        "product");
}

Value convolution(GroupBuilder& builder, const Value& x, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                  bool wide = false) {
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
Value convolution(GroupBuilder& builder, std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t kernel,
                  std::int64_t stride, bool wide = false) {
    return convolution(builder, input(builder, "x", {2, in, size, size}), out, kernel, stride, wide);
}

struct Grouped {
    std::int64_t groups = 1, in = 1, out = 1;  ///< channels of one group
    std::int64_t rows = 1, columns = 1, kernel = 3, stride = 1;
    bool wide = false;
};

/// As the op lowers it: the image's channel is a quotient of the result's.
Value convolution(GroupBuilder& builder, const Grouped& c) {
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

Value depthwise(GroupBuilder& builder, const Value& x, std::int64_t kernel, std::int64_t stride = 1) {
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

Value stored(GroupBuilder& builder, const Value& x) {
    const Value doubled(DType::f32, x.sizes(), [x](const Index& i) { return x(i) + x(i); });
    return builder.materialize(doubled, "image");
}

/// With a border of a zero, stored.
Value padded(GroupBuilder& builder, const Value& x) {
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
Value window_maximum(GroupBuilder& builder, const Value& x, std::int64_t rows, std::int64_t columns) {
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

Value row_sum(GroupBuilder& builder, const Value& x, DType dtype = DType::f32) {
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
Value image_sum(GroupBuilder& builder, const Value& x, DType dtype = DType::f32) {
    const Sizes& sizes = x.sizes();
    return builder.reduce(
        dtype, {sizes[0], sizes[1], 1, 1}, {sizes[2], sizes[3]},
        [dtype](const Index&) { return expr::constant(dtype, Scalar(0.0)); },
        [=](const Index& i, const Index& r, const Expr& self) {
            return self + expr::cast(dtype, x({i[0], i[1], r[0], r[1]}));
        },
        "sum");
}

Value row_maximum(GroupBuilder& builder, const Value& x) {
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

Value softmax(GroupBuilder& builder, const Sizes& sizes) {
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

const std::vector<Shape>& shapes() {
    static const std::vector<Shape> list = {
        {"product", [](GroupBuilder& b) { return product(b, 0, 37, 29, 71); }},
        {"product of whole tiles", [](GroupBuilder& b) { return product(b, 0, 48, 32, 64); }},
        {"product with relu", [](GroupBuilder& b) { return relu(product(b, 0, 37, 31, 67)); }},
        {"product, second transposed", [](GroupBuilder& b) { return product(b, 0, 35, 29, 70, true); }},
        {"product of a row", [](GroupBuilder& b) { return product(b, 0, 1, 211, 307); }},
        {"product of a row, transposed", [](GroupBuilder& b) { return relu(product(b, 0, 1, 211, 307, true)); }},
        {"products", [](GroupBuilder& b) { return product(b, 3, 19, 31, 33); }},
        {"narrow product", [](GroupBuilder& b) { return product(b, 0, 257, 33, 5); }},
        {"convolution", [](GroupBuilder& b) { return relu(convolution(b, 5, 18, 13, 3, 1)); }},
        {"convolution, every second", [](GroupBuilder& b) { return convolution(b, 3, 32, 19, 3, 2); }},
        {"convolution, 17 columns", [](GroupBuilder& b) { return convolution(b, 3, 16, 19, 3, 1); }},
        {"convolution of points", [](GroupBuilder& b) { return relu(convolution(b, 16, 24, 9, 1, 1)); }},
        {"convolution of points, along its columns",
         [](GroupBuilder& b) { return relu(convolution(b, 7, 12, 47, 1, 1)); }},
        {"convolution of points, along vectors that overlap",
         [](GroupBuilder& b) { return relu(convolution(b, 8, 48, 12, 1, 1)); }},
        {"convolution of points, 3 columns", [](GroupBuilder& b) { return relu(convolution(b, 80, 64, 3, 1, 1)); }},
        {"small product of a row, transposed", [](GroupBuilder& b) { return relu(product(b, 0, 1, 67, 129, true)); }},
        {"long sums in blocks", [](GroupBuilder& b) { return relu(convolution(b, 512, 16, 5, 3, 1, true)); }},
        {"convolution in groups",
         [](GroupBuilder& b) {
             return relu(convolution(b, {3, 6, 8, 11, 13}));
         }},
        {"convolution in groups, every second",
         [](GroupBuilder& b) {
             return convolution(b, {2, 5, 16, 9, 10, 3, 2});
         }},
        {"convolution in groups, lanes past the end",
         [](GroupBuilder& b) {
             return relu(convolution(b, {3, 4, 24, 7, 19}));
         }},
        {"convolution in groups, 5 lanes",
         [](GroupBuilder& b) {
             return convolution(b, {7, 7, 5, 12, 17});
         }},
        {"convolution in groups of many channels",
         [](GroupBuilder& b) {
             return relu(convolution(b, {2, 6, 67, 5, 14}));
         }},
        {"convolution of points in groups",
         [](GroupBuilder& b) {
             return relu(convolution(b, {4, 40, 12, 9, 9, 1}));
         }},
        {"convolution in groups, long sums in blocks",
         [](GroupBuilder& b) {
             return relu(convolution(b, {2, 512, 8, 2, 4, 3, 1, true}));
         }},
        {"depthwise convolution",
         [](GroupBuilder& b) {
             const Value x = input(b, "x", {2, 17, 19, 37}), w = input(b, "w", {17, 3, 3});
             return relu(b.reduce(
                 DType::f32, {2, 17, 9, 18}, {3, 3}, [](const Index&) { return zero(); },
                 [=](const Index& i, const Index& r, const Expr& self) {
                     const Expr two = expr::index(2);
                     return self + x({i[0], i[1], i[2] * two + r[0], i[3] * two + r[1]}) * w({i[1], r[0], r[1]});
                 },
                 "sums"));
         }},
        {"depthwise convolution of a padded image, few columns",
         [](GroupBuilder& b) {
             const Value x = padded(b, input(b, "x", {2, 140, 6, 6})), w = input(b, "w", {140, 3, 3});
             return relu(b.reduce(
                 DType::f32, {2, 140, 6, 6}, {3, 3}, [](const Index&) { return zero(); },
                 [=](const Index& i, const Index& r, const Expr& self) {
                     return self + x({i[0], i[1], i[2] + r[0], i[3] + r[1]}) * w({i[1], r[0], r[1]});
                 },
                 "sums"));
         }},
        {"depthwise convolution of many terms",
         [](GroupBuilder& b) {
             return relu(depthwise(b, input(b, "x", {2, 17, 25, 37}), 7));
         }},
        {"depthwise convolution of many terms, few columns",
         [](GroupBuilder& b) {
             return depthwise(b, input(b, "x", {1, 40, 13, 13}), 7);
         }},
        {"depthwise convolution of many terms, every second, of an image with a border",
         [](GroupBuilder& b) {
             return relu(depthwise(b, padded(b, input(b, "x", {2, 9, 20, 41})), 7, 2));
         }},
        {"convolution of many terms along rows alone",
         [](GroupBuilder& b) {
             const Value x = input(b, "x", {3, 11, 70}), w = input(b, "w", {11, 41});
             return b.reduce(
                 DType::f32, {3, 11, 30}, {41}, [](const Index&) { return zero(); },
                 [=](const Index& i, const Index& r, const Expr& self) {
                     return self + x({i[0], i[1], i[2] + r[0]}) * w({i[1], r[0]});
                 },
                 "sums");
         }},
        {"convolution in groups of too few channels for lanes",
         [](GroupBuilder& b) {
             return convolution(b, {5, 8, 2, 9, 21});
         }},
        {"convolution of an image that is stored, rows shared",
         [](GroupBuilder& b) {
             return convolution(b, stored(b, input(b, "x", {1, 48, 40, 40})), 40, 3, 1);
         }},
        {"maxima of windows in a padded image",
         [](GroupBuilder& b) {
             return window_maximum(b, padded(b, input(b, "x", {2, 11, 37, 32})), 19, 16);
         }},
        {"column sums",
         [](GroupBuilder& b) {
             const Value x = input(b, "x", {131, 307});
             return b.reduce(
                 DType::f32, {307}, {131}, [](const Index&) { return zero(); },
                 [x](const Index& i, const Index& r, const Expr& self) {
                     return self + x({r[0], i[0]});
                 },
                 "sum");
         }},
        {"row sums",
         [](GroupBuilder& b) {
             return row_sum(b, input(b, "x", {47, 307}));
         }},
        {"sums of images",
         [](GroupBuilder& b) {
             return image_sum(b, input(b, "x", {3, 17, 28, 28}));
         }},
        {"sums of small images",
         [](GroupBuilder& b) {
             return image_sum(b, input(b, "x", {3, 67, 7, 7}));
         }},
        {"sums of images in f64",
         [](GroupBuilder& b) {
             return image_sum(b, input(b, "x", {2, 31, 13, 19}), DType::f64);
         }},
        {"sums of short rows",
         [](GroupBuilder& b) {
             return row_sum(b, input(b, "x", {2, 177, 49}));
         }},
        {"row sums in f64",
         [](GroupBuilder& b) {
             return row_sum(b, input(b, "x", {3, 4099}), DType::f64);
         }},
        {"row maxima",
         [](GroupBuilder& b) {
             return row_maximum(b, input(b, "x", {3, 17, 211}));
         }},
        {"softmax",
         [](GroupBuilder& b) {
             return softmax(b, {5, 17, 131});
         }},
        {"product of few rows with what lies along the sum",
         [](GroupBuilder& b) { return product_along(b, 3, 131, 67); }},
        {"transpose",
         [](GroupBuilder& b) {
             const Value x = input(b, "x", {3, 131, 137});
             return Value(DType::f32, {3, 137, 131}, [x](const Index& i) { return x({i[0], i[2], i[1]}); });
         }},
        {"softmax of one row",
         [](GroupBuilder& b) {
             return softmax(b, {1, 9001});
         }},
    };
    return list;
}

Group group_of(const Shape& shape) {
    GroupBuilder builder("group");
    builder.output(shape.make(builder), "result");
    return builder.finish();
}

/// Random; every 97th is NaN or infinite, if wanted, which so spoil some of the sums, not all.
std::vector<Tensor> inputs_of(const Group& group, bool special) {
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
std::string differing_beyond_order(const Tensor& got, const Tensor& expected) {
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

void check_kernel(const Group& group, const Schedule& schedule, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& expected) {
    std::string error;
    const auto kernel = compile(group, schedule, error);
    CHECK(error == "");
    if (!kernel) return;
    const std::vector<Tensor> got = run(*kernel, group, inputs, error);
    CHECK(error == "");
    if (error.empty()) CHECK(differing_beyond_order(got.at(0), expected.at(0)) == "");
}

}  // namespace

TEST_CASE("what the rules make of a group computes the same") {
    for (const Shape& shape : shapes())
        for (const Machine& machine : kMachines) {
            const Group plain = group_of(shape);
            Group group = plain;
            const Schedule schedule = halide::schedule(group, machine);
            INFO(shape.name << ", vectors of " << machine.vector_bytes << " bytes\n" << print(group));
            // A rule had to do with it.
            CHECK((group.stages.size() > plain.stages.size() ||
                   std::ranges::count(schedule, Directive::Kind::reorder, &Directive::kind) > 0 ||
                   std::ranges::count(schedule, Directive::Kind::compute_at, &Directive::kind) > 0));
            expr::verify(group);
            const bool special = true;
            const std::vector<Tensor> inputs = inputs_of(plain, special), expected = interpret(plain, inputs);
            CHECK(differing_beyond_order(interpret(group, inputs).at(0), expected.at(0)) == "");
            check_kernel(group, schedule, inputs, expected);
        }
}

TEST_CASE("windows of many terms, of random sizes, compute the same by the rules") {
    Random random(51);
    const auto up_to = [&](int most) {
        return 1 + static_cast<std::int64_t>(random.below(static_cast<unsigned>(most)));
    };
    for (int count = 0; count < 6; count++) {
        const std::int64_t kernel = 5 + up_to(3), stride = up_to(3);
        const auto image = [&](std::int64_t size) { return (size - 1) * stride + kernel; };
        const Sizes sizes = {up_to(2), up_to(5), image(up_to(11)), image(3 + up_to(37))};
        GroupBuilder builder("group");
        builder.output(relu(depthwise(builder, input(builder, "x", sizes), kernel, stride)), "result");
        const Group plain = builder.finish();
        const std::vector<Tensor> inputs = inputs_of(plain, true), expected = interpret(plain, inputs);
        for (const Machine& machine : kMachines) {
            Group group = plain;
            const Schedule schedule = halide::schedule(group, machine, RuleUse::always);
            INFO("window " << count << ", vectors of " << machine.vector_bytes << " bytes\n" << print(group));
            CHECK(group.stage("sums_window_sum"));
            expr::verify(group);
            CHECK(differing_beyond_order(interpret(group, inputs).at(0), expected.at(0)) == "");
            check_kernel(group, schedule, inputs, expected);
        }
    }
}

TEST_CASE("a window of many terms keeps a tile in registers, and writes out the rows that the tile shares") {
    GroupBuilder builder("group");
    builder.output(relu(depthwise(builder, padded(builder, input(builder, "x", {1, 40, 32, 32})), 7)), "result");
    Group group = builder.finish();
    const Schedule schedule = halide::schedule(group, kMachines[0]);
    REQUIRE(group.stage("sums_window_sum"));
    const auto directive = [&](const std::string& stage, int update, Directive::Kind kind) {
        std::string text;
        for (const Directive& d : schedule)
            if (d.stage == stage && d.update == update && d.kind == kind) text += print(d) + "\n";
        return text;
    };
    CHECK(directive("sums_window_sum", 0, Directive::Kind::reorder) ==
          "sums_window_sum.update(0).reorder(l_i, k_i, r0, r1, k_o, l_o)\n");
    CHECK(directive("sums_window_sum", 0, Directive::Kind::unroll) ==
          "sums_window_sum.update(0).unroll(k_i)\nsums_window_sum.update(0).unroll(r0)\n");
    CHECK(directive("sums_window_sum", 0, Directive::Kind::contract) == "sums_window_sum.update(0).contract()\n");
    // Of a channel, in the loop of a thread.
    CHECK(directive("padded", -1, Directive::Kind::compute_at) == "padded.compute_at(result, j_c)\n");
}

TEST_CASE("convolutions in groups of random sizes compute the same by the rules") {
    Random random(50);
    const auto up_to = [&](int most) {
        return 1 + static_cast<std::int64_t>(random.below(static_cast<unsigned>(most)));
    };
    for (int count = 0; count < 8; count++) {
        const Grouped c{.groups = 1 + up_to(4),
                        .in = up_to(6),
                        .out = 1 + up_to(35),
                        .rows = up_to(7),
                        .columns = 1 + up_to(20),
                        .kernel = up_to(3),
                        .stride = up_to(2)};
        GroupBuilder builder("group");
        builder.output(relu(convolution(builder, c)), "result");
        const Group plain = builder.finish();
        const std::vector<Tensor> inputs = inputs_of(plain, true), expected = interpret(plain, inputs);
        for (const Machine& machine : kMachines) {
            Group group = plain;
            const Schedule schedule = halide::schedule(group, machine, RuleUse::always);
            INFO("convolution " << count << ", vectors of " << machine.vector_bytes << " bytes\n" << print(group));
            expr::verify(group);
            CHECK(differing_beyond_order(interpret(group, inputs).at(0), expected.at(0)) == "");
            check_kernel(group, schedule, inputs, expected);
        }
    }
}

TEST_CASE("a convolution in groups is a contraction in each, unless a window takes less") {
    const auto has_groups = [](const Grouped& c) {
        GroupBuilder builder("group");
        builder.output(relu(convolution(builder, c)), "result");
        Group group = builder.finish();
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        const bool found = group.stage("sums_group_sum") != nullptr;
        const bool contracts = std::ranges::any_of(schedule, [](const Directive& directive) {
            return directive.kind == Directive::Kind::contract && directive.stage == "sums_group_sum";
        });
        CHECK(contracts == found);
        return found;
    };
    CHECK(has_groups({4, 16, 16, 14, 14}));
    CHECK(has_groups({4, 16, 32, 14, 14}));
    CHECK(has_groups({2, 3, 64, 28, 28}));
    CHECK_FALSE(has_groups({16, 2, 4, 32, 32}));  // 4 lanes, sums of 18 products
    CHECK_FALSE(has_groups({16, 4, 4, 32, 32}));  // of 36
}

TEST_CASE("a convolution in groups computes one group's sums at a time, of one row") {
    GroupBuilder builder("group");
    builder.output(convolution(builder, {4, 8, 24, 14, 14}), "result");
    Group group = builder.finish();
    std::string text;
    for (const Directive& directive : halide::schedule(group, kMachines[0]))
        if (directive.stage == "result" || directive.kind == Directive::Kind::compute_at)
            text += print(directive) + "\n";
    CHECK(text ==
          "result.split(j, j_o, j_i, 24, ShiftInwards)\n"
          "result.reorder(l, j_i, j_o, k, i)\n"
          "result.vectorize(l, 8, ShiftInwards)\n"
          "result.parallel(k)\n"
          "sums_group_sum.compute_at(result, j_o)\n");
}

TEST_CASE("columns that are read at their quotients and remainders are computed apart, and interleaved") {
    const auto check = [](std::int64_t period, std::int64_t before, std::int64_t columns, const std::string& expected) {
        GroupBuilder builder("group");
        const Value parts = input(builder, "x", {period, 3, 24, (before + columns - 1) / period + 1});
        builder.output(relu({DType::f32,
                             {3, 24, columns},
                             [=](const Index& i) {
                                 const Expr at = i[2] + expr::index(before), size = expr::index(period);
                                 return parts({at % size, i[0], i[1], at / size});
                             }}),
                       "result");
        Group group = builder.finish();
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        INFO("period " << period << ", " << before << " before, " << columns << " columns\n" << print(group));
        std::string text;
        for (const Directive& directive : schedule) text += print(directive) + "\n";
        CHECK(text == expected);
        const std::vector<Tensor> inputs = inputs_of(group, true);
        check_kernel(group, schedule, inputs, interpret(group, inputs));
    };
    check(2, 0, 46,
          "result.split(k, k_o, k_i, 2, RoundUp)\n"
          "result.unroll(k_i)\n"
          "result.vectorize(k_o, 8, ShiftInwards)\n");
    check(2, 1, 46,
          "result.split(k, k_o, k_i, 2, RoundUp)\n"
          "result.unroll(k_i)\n"
          "result.vectorize(k_o, 8, ShiftInwards)\n");
    check(3, 2, 15,
          "result.split(k, k_o, k_i, 3, RoundUp)\n"
          "result.unroll(k_i)\n"
          "result.vectorize(k_o, 4, ShiftInwards)\n");
    check(4, 0, 64,
          "result.split(k, k_o, k_i, 4, RoundUp)\n"
          "result.unroll(k_i)\n"
          "result.vectorize(k_o, 8, ShiftInwards)\n");
    check(2, 0, 47, "result.vectorize(k, 8, ShiftInwards)\n");  // not of whole periods
}

TEST_CASE("each directive of the rules can be switched off alone") {
    for (const Shape& shape : shapes()) {
        if (shape.name != "product with relu" && shape.name != "convolution" && shape.name != "softmax" &&
            shape.name != "convolution in groups" && shape.name != "depthwise convolution of many terms")
            continue;
        const Group plain = group_of(shape);
        const std::vector<Tensor> inputs = inputs_of(plain, false), expected = interpret(plain, inputs);
        Group group = plain;
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        for (std::size_t i = 0; i < schedule.size(); i++) {
            Schedule without = schedule;
            without[i].enabled = false;
            INFO(shape.name << " without " << print(schedule[i]));
            // A stage with updates, or that is read in vectors, has to be stored somewhere.
            if (schedule[i].kind == Directive::Kind::compute_at || schedule[i].kind == Directive::Kind::compute_root)
                continue;
            check_kernel(group, without, inputs, expected);
        }
    }
}

TEST_CASE("what depends on constants alone is a kernel of its own") {
    GroupBuilder builder("group");
    Group group = [&] {
        const Value a = input(builder, "a", {37, 29}), b = input(builder, "b", {71, 29});
        builder.set_constant(b);
        builder.output(builder.reduce(
                           DType::f32, {37, 71}, {29}, [](const Index&) { return zero(); },
                           [=](const Index& i, const Index& r, const Expr& self) {
                               return self + a({i[0], r[0]}) * b({i[1], r[0]});
                           },
                           "product"),
                       "result");
        return builder.finish();
    }();
    const std::vector<Tensor> inputs = inputs_of(group, false), expected = interpret(group, inputs);
    const Schedule schedule = halide::schedule(group, kMachines[0]);
    const auto hoisted = expr::hoist(group, schedule);
    REQUIRE(hoisted);
    REQUIRE(hoisted->once.inputs.size() == 1);
    CHECK(hoisted->once.inputs[0].name == "b");
    CHECK(hoisted->rest.input("b") == nullptr);
    expr::verify(hoisted->once);
    expr::verify(hoisted->rest);
    const std::vector<Tensor> packed = interpret(hoisted->once, std::vector<Tensor>{inputs[1]});
    check_kernel(hoisted->rest, hoisted->rest_schedule, {inputs[0], packed.at(0)}, expected);
    check_kernel(hoisted->once, hoisted->once_schedule, {inputs[1]}, packed);
    group.inputs[1].constant = false;
    CHECK(!expr::hoist(group, schedule));
}

TEST_CASE("windows are written out, and what only they read is computed as they go") {
    for (const Shape& shape : shapes()) {
        if (shape.name.find("padded image") == std::string::npos) continue;
        INFO(shape.name);
        Group group = group_of(shape);
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        for (const expr::Stage& stage : group.stages) CHECK(stage.updates.empty() == (stage.name != "padded"));
        CHECK(group.stage("padded")->value->op == expr::Op::constant);  // the border, over which the image is copied
        const auto placed = std::ranges::find_if(schedule, [](const Directive& directive) {
            return directive.kind == Directive::Kind::compute_at && directive.stage == "padded";
        });
        REQUIRE(placed != schedule.end());
        CHECK(placed->args == std::vector<std::string>{"j"});  // of a channel
    }
}

TEST_CASE("a convolution of points takes the image's columns as lanes where that takes no longer") {
    const auto packed_lane = [](std::int64_t channels, std::int64_t size) {
        GroupBuilder builder("group");
        builder.output(convolution(builder, channels, 48, size, 1, 1), "result");
        Group group = builder.finish();
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        for (const Directive& directive : schedule)
            if (directive.kind == Directive::Kind::vectorize && directive.stage == "sums_sum")
                return directive.args.at(0).substr(0, 1);
        return std::string();
    };
    CHECK(packed_lane(512, 48) == "l");
    CHECK(packed_lane(512, 24) == "j");  // 8 lanes of 32 would be computed twice
    CHECK(packed_lane(8, 24) == "l");    // but of so short sums the result takes longer to write across
    CHECK(packed_lane(32, 11) == "j");
}

TEST_CASE("rows are folded in vectors where the lanes take less than what waits for each addition") {
    const auto lanes = [](std::int64_t rows, std::int64_t columns, const Machine& machine) {
        GroupBuilder builder("group");
        builder.output(image_sum(builder, input(builder, "x", {16, 128, rows, columns})), "result");
        Group group = builder.finish();
        halide::schedule(group, machine);
        const expr::Stage* stage = group.stage("sum_lanes");
        return stage ? stage->vars.back().extent : 0;
    };
    CHECK(lanes(28, 28, kMachines[0]) == 16);
    CHECK(lanes(28, 28, kMachines[1]) == 24);
    CHECK(lanes(14, 14, kMachines[0]) == 8);
    CHECK(lanes(7, 7, kMachines[0]) == 4);
    CHECK(lanes(1, 49, kMachines[0]) == 48);
    CHECK(lanes(12, 3, kMachines[0]) == 0);
    CHECK(lanes(1, 36, kMachines[1]) == 32);
    CHECK(lanes(4, 9, kMachines[0]) == 8);
}

namespace {

/// As a transposed convolution multiplies: [tap, channel, rows, columns] of an image and a weight by taps.
Value columns(GroupBuilder& builder, std::int64_t channels, std::int64_t width) {
    const Value x = input(builder, "x", {channels, 5, width}), w = input(builder, "w", {2, channels, 48});
    return builder.reduce(
        DType::f32, {2, 48, 5, width}, {channels}, [](const Index&) { return zero(); },
        [=](const Index& i, const Index& r, const Expr& self) {
            return self + x({r[0], i[2], i[3]}) * w({i[0], r[0], i[1]});
        },
        "columns");
}

}  // namespace

TEST_CASE("columns that are fewer than a vector's lanes leave the lanes to channels where that takes no longer") {
    const auto lane = [](std::int64_t channels, std::int64_t width) {
        GroupBuilder builder("group");
        builder.output(relu(columns(builder, channels, width)), "result");
        const Group plain = builder.finish();
        Group group = plain;
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        const std::vector<Tensor> inputs = inputs_of(plain, true);
        check_kernel(group, schedule, inputs, interpret(plain, inputs));
        for (const Directive& directive : schedule)
            if (directive.kind == Directive::Kind::vectorize && directive.stage == "columns_sum")
                return directive.args.at(0).substr(0, 1);
        return std::string();
    };
    CHECK(lane(96, 4) == "j");
    CHECK(lane(96, 7) == "j");
    CHECK(lane(24, 16) == "l");
    CHECK(lane(8, 7) == "l");  // of so short sums the result takes longer to write across
}

TEST_CASE("threads share an image's rows where the weights are few, and so do the stages around") {
    const auto shared = [](std::int64_t channels, std::int64_t size) {
        GroupBuilder builder("group");
        builder.output(
            convolution(builder, stored(builder, input(builder, "x", {1, channels, size, size})), channels, 3, 1),
            "result");
        Group group = builder.finish();
        std::string loops;
        for (const Directive& directive : halide::schedule(group, kMachines[0]))
            if (directive.kind == Directive::Kind::parallel && directive.stage != "sums_packed")
                loops += directive.stage + " " + directive.args.at(0).substr(0, 1) + "\n";
        return loops;
    };
    CHECK(shared(64, 40) == "result k\nimage k\n");
    CHECK(shared(512, 16) == "result j\nimage j\n");
}

TEST_CASE("few rows are no reason to pack what lies along the sum, unless it is constant") {
    const auto is_packed = [](std::int64_t rows, bool constant) {
        GroupBuilder builder("group");
        builder.output(product_along(builder, rows, 128, 256), "result");
        Group group = builder.finish();
        group.inputs[1].constant = constant;
        halide::schedule(group, kMachines[0]);
        return group.stage("product_packed") != nullptr;
    };
    CHECK_FALSE(is_packed(1, false));
    CHECK(is_packed(1, true));
    CHECK(is_packed(64, false));
}

TEST_CASE("a panel that the first cache has no room for is read for four rows or more at a time") {
    const auto rows = [](std::int64_t steps) {
        GroupBuilder builder("group");
        builder.output(product(builder, 0, 512, steps, 512), "result");
        Group group = builder.finish();
        for (const Directive& directive : halide::schedule(group, kMachines[1]))
            if (directive.kind == Directive::Kind::split && directive.args.at(0) == "i") return directive.factor;
        return std::int64_t{0};
    };
    CHECK(rows(128) == 3);  // beside four vectors, which fit
    CHECK(rows(512) >= 4);
}

TEST_CASE("a product's loops: panels of packed columns, tiles in registers") {
    GroupBuilder builder("group");
    builder.output(product(builder, 0, 96, 32, 128), "result");
    Group group = builder.finish();
    std::string text;
    for (const Directive& directive : halide::schedule(group, kMachines[0]))
        if (directive.update < 0) text += print(directive) + "\n";
    CHECK(text ==
          "product.split(j, j_o, j_i, 64, ShiftInwards)\n"
          "product.split(i, i_o, i_i, 6, ShiftInwards)\n"
          "product.reorder(j_i, i_i, i_o, j_o)\n"
          "product.vectorize(j_i, 16, ShiftInwards)\n"
          "product.unroll(j_i)\n"
          "product.unroll(i_i)\n"
          "product_sum.compute_at(product, i_o)\n"
          "product_sum.split(j, j_o, j_i, 64, RoundUp)\n"
          "product_sum.split(i, i_o, i_i, 6, RoundUp)\n"
          "product_sum.reorder(j_i, i_i, i_o, j_o)\n"
          "product_sum.vectorize(j_i, 16, GuardWithIf)\n"
          "product_sum.unroll(j_i)\n"
          "product_sum.unroll(i_i)\n"
          "product_packed.compute_at(product, j_o)\n"
          "product_packed.vectorize(j, 16, RoundUp)\n");
}

namespace {

/// Units in the last place of the right value, a float, that the other is away from it.
double ulp_distance(float got, double right) {
    const float nearest = static_cast<float>(right), size = std::fabs(nearest);
    if (std::isnan(right)) return std::isnan(got) ? 0 : INFINITY;
    if (std::isinf(nearest)) return got == nearest ? 0 : INFINITY;
    const double step = static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) - size;
    return std::fabs(got - right) / step;
}

/// Floats of every sign, exponent and the leading bits of every significand, NaN and infinities among them.
std::vector<float> all_kinds_of_floats() {
    std::vector<float> values;
    Random random(5);
    for (std::uint32_t high = 0; high < 1U << 16; high++) {
        const std::uint32_t bits =
            high << 16 | (high % 3 == 0 ? 0U : static_cast<std::uint32_t>(random.below(1 << 16)));
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        values.push_back(value);
    }
    return values;
}

}  // namespace

TEST_CASE("functions computed in vectors keep their bounds on floats of all kinds") {
    struct Function {
        expr::Op op;
        double (*right)(double);
        double bound;  ///< what kernel_helpers.h says, in units in the last place
    };
    const std::vector<float> values = all_kinds_of_floats();
    const Sizes sizes = {static_cast<std::int64_t>(values.size())};
    const Tensor x = Tensor::of(values, sizes);
    for (const Function& function :
         {Function{expr::Op::exp, std::exp, 1}, {expr::Op::tanh, std::tanh, 7}, {expr::Op::erf, std::erf, 8}}) {
        GroupBuilder builder("group");
        const Value in = input(builder, "x", sizes);
        builder.output(Value(DType::f32, sizes, [&](const Index& i) { return expr::unary(function.op, in(i)); }), "y");
        Group group = builder.finish();
        const Schedule schedule = halide::schedule(group);
        CHECK(std::ranges::count(schedule, Directive::Kind::vector_math, &Directive::kind) == 1);
        std::string error;
        const auto kernel = compile(group, schedule, error);
        REQUIRE(error == "");
        const std::vector<Tensor> got = run(*kernel, group, {x}, error);
        REQUIRE(error == "");
        const std::vector<float> results = got[0].values<float>();
        double most = 0;
        std::size_t where = 0;
        for (std::size_t i = 0; i < values.size(); i++) {
            const double distance = ulp_distance(results[i], function.right(values[i]));
            if (distance > most) most = distance, where = i;
            if (values[i] == 0 && function.op != expr::Op::exp)
                CHECK(std::signbit(results[i]) == std::signbit(values[i]));
        }
        INFO(expr::name(function.op) << " of " << values[where] << " gave " << results[where]);
        CHECK(most <= function.bound);
    }
}
