// Samples of lib/ops/aten/select.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// The same pairs as for a binary op, under conditions of several shapes.
Samples where_samples(DType dtype) {
    Samples result = binary(dtype, kAnyDType | kComplex);
    for (Sample& sample : result) {
        const Sizes sizes = broadcast_sizes(sample.tensors[0].sizes(), sample.tensors[1].sizes());
        const Tensor condition = random(DType::boolean, sizes);
        sample.tensors.insert(sample.tensors.begin(), sizes.size() > 1 ? transposed(condition) : condition);
        sample.args = {t(0), t(1), t(2)};
    }
    const Tensor column = ramp(DType::boolean, {2, 1});
    result.push_back(call_of("condition broadcast", {column, ramp(dtype, {3}), random(dtype, {2, 3})}));
    result.push_back(call_of("condition widens", {column, scalar(dtype, 1), scalar(dtype, 2)}));
    return result;
}
Samples where_other_samples(DType dtype) {
    const Tensor condition = random(DType::boolean, {2, 3}), x = ramp(dtype, {2, 3});
    const double inf = std::numeric_limits<double>::infinity();
    return {call_of("integer", {condition, x, Arg(7)}), call_of("floating", {condition, x, Arg(0.1)}),
            call_of("-inf", {condition, x, Arg(-inf)}),
            call_of("empty", {condition.as_strided({0, 3}, {3, 1}, 0), x.as_strided({0, 3}, {3, 1}, 0), Arg(7)})};
}

/// The condition is the main operand: the tensors of every dtype come with it.
Samples where_self_samples(DType condition) {
    Samples result;
    for (const DType dtype : kAllDTypes) {
        if (!is_computed(dtype)) continue;
        for (Sample& sample : where_other_samples(dtype)) {
            sample.label += ' ' + std::string(name(dtype));
            sample.tensors[0] = sample.tensors[0].to(condition);
            std::swap(sample.args[1], sample.args[2]);
            result.push_back(std::move(sample));
        }
    }
    return result;
}
Samples where_scalar_samples(DType dtype) {
    const Tensor condition = ramp(dtype, {2, 3});
    return {call_of("integers", {condition, Arg(1), Arg(0)}), call_of("mixed", {condition, Arg(1), Arg(0.5)}),
            call_of("bools", {condition, Arg(true), Arg(false)})};
}

Samples masked_fill_samples(DType dtype) {
    Samples result;
    for (auto& [label, tensor] : inputs(dtype))
        result.push_back(call_of(label, {tensor, random(DType::boolean, tensor.sizes()), Arg(1)}));
    const Tensor x = ramp(dtype, {2, 3});
    const double inf = std::numeric_limits<double>::infinity();
    result.push_back(call_of("mask broadcast", {x, ramp(DType::boolean, {3}), Arg(2)}));
    result.push_back(call_of("self broadcast", {ramp(dtype, {3}), ramp(DType::boolean, {2, 1}), Arg(2)}));
    if (is_floating(dtype)) {
        result.push_back(call_of("-inf", {x, ramp(DType::boolean, {2, 3}), Arg(-inf)}));
        result.push_back(call_of("0.1", {x, ramp(DType::boolean, {2, 3}), Arg(0.1)}));
    }
    return result;
}
Samples fill_tensor_samples(DType dtype) {
    Samples result = masked_fill_samples(dtype);
    for (Sample& sample : result) {
        const auto* number = std::get_if<double>(&sample.args[2].value);
        sample.tensors.push_back(number ? scalar(DType::f64, *number) : scalar(DType::i64, 2));
        sample.args[2] = t(2);
    }
    return result;
}

Samples masked_scatter_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3}), source = random(dtype, {4, 2}, 3);
    const auto mask = [](const std::vector<double>& values, Sizes sizes) {
        return samples::values(DType::boolean, values, std::move(sizes));
    };
    const auto call = [](const std::string& label, const Tensor& self, const Tensor& mask, const Tensor& source) {
        return call_of(label, {self, mask, source});
    };
    return {call("some", x, mask({0, 1, 1, 0, 0, 1}, {2, 3}), source),
            call("all that there are", x, mask({0, 1, 1, 0, 0, 1}, {2, 3}), random(dtype, {3}, 3)),
            call("mask broadcast", x, mask({1, 0, 1}, {3}), source),
            call("self broadcast", ramp(dtype, {3}), mask({1, 0}, {2, 1}), source),
            call("transposed", transposed(x), mask({1, 0, 1, 1, 0, 1}, {2, 3}), transposed(source)),
            call("special", special(dtype), mask({1}, {1}), negative(random(dtype, {40}))),
            call("none", x, mask({0}, {}), random(dtype, {0})),
            call("0-d", ramp(dtype, {}), mask({1}, {}), random(dtype, {1})),
            call("empty", ramp(dtype, {0, 3}), mask({1, 0, 1}, {3}), source)};
}

}  // namespace

Table select_table() {
    return {{{"aten.where.self"}, where_samples},
            {{"aten.where.ScalarOther"}, where_other_samples},
            {{"aten.where.ScalarSelf"}, where_self_samples},
            {{"aten.where.Scalar"}, where_scalar_samples},
            {{"aten.masked_fill.Scalar"}, masked_fill_samples},
            {{"aten.masked_fill.Tensor"}, fill_tensor_samples},
            {{"aten.masked_scatter.default"}, masked_scatter_samples}};
}

}  // namespace whittle::samples
