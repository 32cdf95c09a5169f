// Samples of lib/ops/aten/reduction.cpp.
#include <cmath>
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// A dtype as keyword, for those of `to` that differ.
void add_dtypes(Samples& samples, DType dtype, std::initializer_list<DType> to, const ArgList& args) {
    for (const DType target : to)
        if (target != dtype)
            samples.push_back(
                {"dtype " + std::string(name(target)), {random(dtype, {2, 3})}, args, {{"dtype", target}}});
}

Samples sum_dim_samples(DType dtype) {
    Samples result = dim_lists(dtype);
    result.push_back(call_of("dim none", {random(dtype, {2, 3}), Arg()}));
    result.push_back(call_of("wraps", {special(dtype), Arg::ints({0})}));
    if (is_floating(dtype)) result.pop_back();  // the largest values overflow in f32 but not in the kernel's double
    add_dtypes(result, dtype, {DType::f64, DType::f32, DType::i64, DType::i32, DType::u8}, {t(0), Arg::ints({1})});
    return result;
}
Samples sum_samples(DType dtype) {
    Samples result = whole(dtype);
    add_dtypes(result, dtype, {DType::f64, DType::f32, DType::i64}, {t(0)});
    return result;
}
Samples prod_dim_samples(DType dtype) {
    Samples result = single_dims(dtype);
    add_dtypes(result, dtype, {DType::f64, DType::i32}, {t(0), Arg(1)});
    return result;
}

/// The mean of integers needs a dtype.
Samples as_means(DType dtype, Samples list) {
    if (!is_inexact(dtype))
        for (Sample& sample : list) sample.kwargs.emplace_back("dtype", DType::f32);
    return list;
}
Samples mean_samples(DType dtype) {
    Samples result = as_means(dtype, whole(dtype));
    add_dtypes(result, dtype, {DType::f64, DType::f16}, {t(0)});
    return result;
}
Samples mean_dim_samples(DType dtype) {
    Samples result = as_means(dtype, dim_lists(dtype));
    add_dtypes(result, dtype, {DType::f64, DType::f16}, {t(0), Arg::ints({1})});
    return result;
}

const double kOrders[] = {
    2, 1, 0, 3, 0.5, -1, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

Samples vector_norm_samples(DType dtype) {
    Samples result;
    for (const double order : kOrders)
        for (Sample& sample : dim_lists(dtype, {}, order >= 0 && !std::isinf(order))) {
            sample.args.insert(sample.args.begin() + 1, Arg(order));
            sample.label += " ord " + std::to_string(order);
            result.push_back(std::move(sample));
        }
    if (dtype != DType::f64)
        result.push_back(call_of("dtype f64", {random(dtype, {3, 4})}, {{"dtype", Arg(DType::f64)}}));
    return result;
}
Samples norm_samples(DType dtype) {
    Samples result;
    for (const double order : kOrders)
        result.push_back(call_of("p " + std::to_string(order), {random(dtype, {3, 4}), Arg(order)}));
    return result;
}
Samples norm_dim_samples(DType dtype) {
    Samples result = dim_lists(dtype);
    for (Sample& sample : result) sample.args.insert(sample.args.begin() + 1, Arg());
    return result;
}
Samples count_samples(DType dtype) {
    Samples result;
    for (Sample& sample : dim_lists(dtype)) {
        if (std::get<bool>(sample.args[2].value)) continue;  // no keepdim
        sample.args.pop_back();
        result.push_back(std::move(sample));
    }
    return result;
}

Samples count_over_samples(DType dtype) {
    return whole(dtype) + Samples{call_of("rows", {random(dtype, {3, 4}), -1}),
                                  call_of("columns", {transposed(random(dtype, {3, 4})), 0})};
}

}  // namespace

Table reduction_table() {
    return {{{"aten.sum.default", "aten.prod.default"}, sum_samples},
            {{"aten.sum.dim_IntList"}, sum_dim_samples},
            {{"aten.prod.dim_int"}, prod_dim_samples},
            {{"aten.mean.default"}, mean_samples},
            {{"aten.mean.dim"}, mean_dim_samples},
            {{"aten.any.default", "aten.all.default"}, [](DType dtype) { return whole(dtype); }},
            {{"aten.any.dim", "aten.all.dim"}, [](DType dtype) { return single_dims(dtype); }},
            {{"aten.any.dims", "aten.all.dims"}, [](DType dtype) { return dim_lists(dtype); }},
            {{"aten.linalg_vector_norm.default"}, vector_norm_samples},
            {{"aten.norm.Scalar"}, norm_samples},
            {{"aten.norm.ScalarOpt_dim"}, norm_dim_samples},
            {{"aten.count_nonzero.dim_IntList"}, count_samples},
            {{"aten.count_nonzero.default"}, count_over_samples},
            {{"aten.nansum.default"}, [](DType dtype) { return whole(dtype) + dim_lists(dtype); }}};
}

}  // namespace whittle::samples
