// Samples of lib/ops/aten/cast.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Every pair of dtypes, over special values too.
Samples conversions(DType dtype, bool keyword) {
    Samples result;
    for (const DType to : kAllDTypes)
        for (Sample& sample : unary(dtype, {}, " to " + std::string(name(to)))) {
            if (keyword)
                sample.kwargs.emplace_back("dtype", to);
            else
                sample.args.emplace_back(to);
            result.push_back(std::move(sample));
        }
    return result;
}
Samples to_copy_samples(DType dtype) {
    Samples result = conversions(dtype, true);
    result.push_back(call_of("no dtype", {transposed(ramp(dtype, {2, 3}))}));
    return result;
}
Samples to_samples(DType dtype) {
    Samples result = conversions(dtype, false);
    result.push_back(call_of("copy", {transposed(ramp(dtype, {2, 3})), Arg(dtype), Arg(false), Arg(true)}));
    return result;
}
Samples bytes_samples(DType dtype) {
    Samples result;
    for (const DType to : kAllDTypes) {
        if (!(kMoved & set_of(to)) || (to == DType::boolean && dtype != to)) continue;
        const std::string label = "to " + std::string(name(to));
        result.push_back(call_of(label, {ramp(dtype, {3, 16}), Arg(to)}));
        if (size_of(to) != size_of(dtype)) continue;
        for (auto& [layout, tensor] : layouts(ramp(dtype, {2, 3})))
            result.push_back(call_of(label + ", " + layout, {tensor, Arg(to)}));
        result.push_back(call_of(label + ", 0-d", {scalar(dtype, 1), Arg(to)}));
        result.push_back(call_of(label + ", empty", {ramp(dtype, {2, 0}), Arg(to)}));
    }
    return result;
}
Samples type_as_samples(DType dtype) {
    Samples result;
    for (const DType to : kAllDTypes)
        result.push_back(call_of("to " + std::string(name(to)), {special(dtype), scalar(to, 1)}));
    return result;
}
Samples fill_copy_samples(DType dtype) {
    Samples result;
    for (const DType from : kAllDTypes) {
        const Tensor self = transposed(ramp(dtype, {2, 3}));
        const std::string suffix = " from " + std::string(name(from));
        result.push_back(call_of(from == dtype ? "same dtype" : "same" + suffix, {self, random(from, {2, 3})}));
        result.push_back(call_of("broadcast" + suffix, {self, strided(ramp(from, {3}))}));
        result.push_back(call_of("0-d" + suffix, {self, scalar(from, 1)}));
    }
    return result;
}

}  // namespace

Table cast_table() {
    return {{{"aten._to_copy.default"}, to_copy_samples},
            {{"aten.to.dtype"}, to_samples},
            {{"aten.view.dtype"}, bytes_samples},
            {{"aten.type_as.default"}, type_as_samples},
            {{"aten.clone.default", "aten.contiguous.default", "aten.lift_fresh_copy.default", "aten.alias.default",
              "aten.detach.default"},
             unary},
            {{"aten.copy.default"}, fill_copy_samples}};
}

}  // namespace whittle::samples
