// Tensors made from a formula: arange, linspace, eye, meshgrid.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/tensor_options.h"
#include "ops/core/elements.h"
#include "ops/core/integer.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

// --- arange ----------------------------------------------------------------------------------------------------------

struct Range {
    Scalar start = Scalar(0), end = Scalar(0), step = Scalar(1);
    DType dtype = DType::i64;
    std::int64_t count = 0;
};

/// at::arange: ceil((end - start) / step) elements, counted in i64 for i64 results and in double for others.
Range range_of(const AnyArguments auto& a) {
    check_options(a);
    Range range{.end = a.scalar("end")};
    if (a.schema().param("start")) range.start = a.scalar("start");
    if (a.schema().param("step")) range.step = a.scalar("step");
    const bool floating = range.start.is_floating() || range.end.is_floating() || range.step.is_floating();
    range.dtype = a.dtype("dtype").value_or(floating ? DType::f32 : DType::i64);
    const double start = range.start.to_double(), end = range.end.to_double(), step = range.step.to_double();
    const std::string text =
        number_text(range.start) + " to " + number_text(range.end) + " by " + number_text(range.step);
    if (range.dtype == DType::boolean)
        throw Error("arange: found dtype bool, expected an integer or floating-point dtype");
    if (!std::isfinite(start) || !std::isfinite(end) || step == 0 || std::isnan(step) || (end - start) / step < 0)
        throw Error("arange: found " + text + ", expected finite bounds and a step that leads from start to end");
    const double count = std::ceil((end - start) / step);
    if (!(count <= 9e15)) throw Error("arange: found " + text + ", expected fewer than 2^53 elements");
    range.count = whole_number(count, "a number of elements");
    if (range.dtype == DType::i64) {  // fractions of bounds and step are dropped before, not after
        const std::int64_t by = range.step.to_integer();
        if (by == 0)
            throw Error("arange: found " + text + ", expected a step of at least 1 or at most -1 for an integer dtype");
        std::int64_t distance = 0;
        if (__builtin_sub_overflow(range.end.to_integer(), range.start.to_integer(), &distance))
            throw Error("arange: found " + text + ", expected a distance of less than 2^63 between the bounds");
        range.count = distance == 0 || (distance > 0) != (by > 0) ? 0 : (distance - (by > 0 ? 1 : -1)) / by + 1;
    }
    return range;
}

std::vector<ValueMeta> infer_arange(const Arguments<ValueMeta>& a) {
    const Range range = range_of(a);
    return {ValueMeta::contiguous(range.dtype, {range.count})};
}

std::vector<Tensor> eval_arange(const Arguments<Tensor>& a) {
    const Range range = range_of(a);
    const DType work = is_floating(range.dtype) ? DType::f64 : DType::i64;
    Tensor result(work, {range.count});
    for (std::int64_t i = 0; i < range.count; ++i) {
        if (work == DType::f64)
            result.mutable_data<double>()[i] =
                range.start.to_double() + range.step.to_double() * static_cast<double>(i);
        else
            result.mutable_data<std::int64_t>()[i] = range.start.to_integer() + range.step.to_integer() * i;
    }
    return {result.to(range.dtype)};
}

std::vector<expr::Value> lower_arange(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const Range range = range_of(a);
    const DType work = is_floating(range.dtype) ? DType::f64 : DType::i64;
    const expr::Value result(work, {range.count}, [=](const expr::Index& i) {
        return expr::constant(work, range.start) + expr::constant(work, range.step) * expr::cast(work, i[0]);
    });
    return {convert(range.dtype, result)};
}

// --- linspace, eye ---------------------------------------------------------------------------------------------------

struct Linspace {
    double start, end;
    std::int64_t steps;
    DType dtype, work;  ///< work: f64 for f64 and integers, else f32, as at::native::linspace_kernel
};

Linspace linspace_of(const AnyArguments auto& a) {
    check_options(a);
    const DType dtype = a.dtype("dtype").value_or(DType::f32);
    const std::int64_t steps = a.integer("steps");
    if (steps < 0) throw Error("linspace: found steps=" + std::to_string(steps) + ", expected 0 or more");
    if (dtype == DType::boolean) throw Error("linspace: found dtype bool, expected an integer or floating-point dtype");
    const bool wide = dtype == DType::f64 || !is_floating(dtype);
    return {a.scalar("start").to_double(), a.scalar("end").to_double(), steps, dtype, wide ? DType::f64 : DType::f32};
}

std::vector<ValueMeta> infer_linspace(const Arguments<ValueMeta>& a) {
    const Linspace l = linspace_of(a);
    return {ValueMeta::contiguous(l.dtype, {l.steps})};
}

/// The first half counts from the start and the second from the end, so that both are exact.
std::vector<Tensor> eval_linspace(const Arguments<Tensor>& a) {
    const Linspace l = linspace_of(a);
    return {visit_compute(l.work, [&]<class T>(T) -> Tensor {
        if constexpr (std::is_floating_point_v<T>) {
            const T start = static_cast<T>(l.start), end = static_cast<T>(l.end);
            const T step = l.steps > 1 ? (end - start) / static_cast<T>(l.steps - 1) : T(0);
            Tensor result(l.work, {l.steps});
            for (std::int64_t i = 0; i < l.steps; ++i)
                result.mutable_data<T>()[i] = i < l.steps / 2 || l.steps == 1
                                                  ? start + step * static_cast<T>(i)
                                                  : end - step * static_cast<T>(l.steps - 1 - i);
            return result.to(l.dtype);
        } else {
            throw Error("linspace: found dtype " + std::string(name(l.work)) + ", expected f32 or f64");
        }
    })};
}

std::vector<expr::Value> lower_linspace(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const Linspace l = linspace_of(a);
    const Expr start = expr::constant(l.work, Scalar(l.start)), end = expr::constant(l.work, Scalar(l.end));
    const Expr gaps = expr::constant(l.work, Scalar(static_cast<double>(std::max<std::int64_t>(l.steps - 1, 1))));
    const Expr step = (end - start) / gaps;
    const expr::Value result(l.work, {l.steps}, [=](const expr::Index& i) {
        const Expr from_start = start + step * expr::cast(l.work, i[0]);
        if (l.steps == 1) return from_start;
        const Expr from_end = end - step * expr::cast(l.work, expr::index(l.steps - 1) - i[0]);
        return expr::select(i[0] < expr::index(l.steps / 2), from_start, from_end);
    });
    return {convert(l.dtype, result)};
}

OperandInfo eye_info(const AnyArguments auto& a) {
    check_options(a);
    const std::int64_t rows = a.integer("n"), columns = a.schema().param("m") ? a.integer("m") : rows;
    element_count(Sizes{rows, columns});
    return {a.dtype("dtype").value_or(DType::f32), {rows, columns}};
}

std::vector<ValueMeta> infer_eye(const Arguments<ValueMeta>& a) { return {result_meta(eye_info(a))}; }

std::vector<Tensor> eval_eye(const Arguments<Tensor>& a) {
    const OperandInfo info = eye_info(a);
    Tensor result(info.dtype, info.sizes);
    const Tensor one = Tensor::of(Scalar(1), info.dtype);
    for (std::int64_t i = 0; i < std::min(info.sizes[0], info.sizes[1]); ++i)
        copy_into(result, {}, i * (info.sizes[1] + 1), one);
    return {result};
}

std::vector<expr::Value> lower_eye(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const OperandInfo info = eye_info(a);
    return {expr::Value(info.dtype, info.sizes, [dtype = info.dtype](const expr::Index& i) {
        return expr::select(equal(i[0], i[1]), expr::constant(dtype, Scalar(1)), expr::constant(dtype, Scalar(0)));
    })};
}

// --- meshgrid --------------------------------------------------------------------------------------------------------

/// Every tensor along its own dimension, expanded along the others. "xy" swaps the first two dimensions of the results.
CallResults decompose_meshgrid(const Call& c) {
    const Vs tensors = c.tensors("tensors");
    const std::string indexing = c.schema().param("indexing") ? c.text("indexing") : "ij";
    if (tensors.empty() || tensors.size() > 16)
        throw Error("meshgrid: found " + std::to_string(tensors.size()) + " tensors, expected 1 to 16");
    if (indexing != "ij" && indexing != "xy")
        throw Error("meshgrid: found indexing='" + indexing + "', expected 'ij' or 'xy'");
    std::vector<std::size_t> dims(tensors.size());
    for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = d;
    if (indexing == "xy" && dims.size() > 1) std::swap(dims[0], dims[1]);
    Sizes sizes(tensors.size());
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        if (tensors[k].sizes().size() > 1 || tensors[k].dtype() != tensors[0].dtype())
            throw Error("meshgrid: found a tensor of " + std::string(name(tensors[k].dtype())) +
                        to_string(tensors[k].sizes()) +
                        ", expected tensors of at most 1 dimension and of equal dtypes");
        sizes[dims[k]] = tensors[k].numel();
    }
    Vs results;
    for (std::size_t k = 0; k < tensors.size(); ++k) {
        Sizes line(tensors.size(), 1);
        line[dims[k]] = tensors[k].numel();
        const V along = reshape(tensors[k], line);
        results.push_back(expand(along, sizes));
    }
    return results;
}

}  // namespace

std::span<const OpDef> range_ops() {
    static const OpDef ops[] = {
        primitive("arange{|.start|.start_step}({|Scalar start, |Scalar start, }Scalar end{||, Scalar step=1}, "
                  "*, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
                  "a range of numbers, from 0 or start, in steps of 1 or step", kNumbers,
                  {infer_arange, eval_arange, lower_arange}, no_gradient, rounds_by(4)),
        primitive("linspace(Scalar start, Scalar end, int steps, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
                  "evenly spaced numbers, both ends included", kNumbers,
                  {infer_linspace, eval_linspace, lower_linspace}, no_gradient, rounds_by(4, Bound::Rule::terms)),
        primitive("eye{|.m}(SymInt n{|, SymInt m}, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
                  "ones on the diagonal of a square or a rectangle", kAnyDType, {infer_eye, eval_eye, lower_eye},
                  no_gradient, kBoundExact),
        composite("meshgrid{|.indexing}(Tensor[] tensors{|, *, str indexing}) -> Tensor[]",
                  "coordinates of a grid, rows first (ij) or columns first (xy)", kAnyDType, decompose_meshgrid),
    };
    return ops;
}

}  // namespace whittle
