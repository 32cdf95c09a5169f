// Samples of lib/ops/aten/extremum.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples list_samples(DType dtype) {
    Samples result = dim_lists(dtype, {}, false);
    result.push_back(call_of("special", {special(dtype)}));
    return result;
}
Samples dim_samples(DType dtype) {
    Samples result = single_dims(dtype, false);
    result.push_back(call_of("special", {special(dtype), Arg(0)}));
    return result;
}
Samples whole_samples(DType dtype) {
    Samples result = whole(dtype, false);
    result.push_back(call_of("special", {special(dtype)}));
    return result;
}
Samples position_samples(DType dtype) {
    Samples result = dim_samples(dtype);
    for (Sample& sample : whole_samples(dtype)) {
        sample.label += " whole";
        result.push_back(std::move(sample));
    }
    result.push_back(call_of("whole kept", {transposed(random(dtype, {3, 4})), Arg(), Arg(true)}));
    return result;
}

/// The dimension, and whether it stays, go by name.
Samples extremes_samples(DType dtype) {
    Samples result;
    for (Sample& sample : position_samples(dtype)) {
        constexpr const char* kNames[] = {"dim", "keepdim"};
        for (std::size_t i = 1; i < sample.args.size(); ++i)
            sample.kwargs.emplace_back(kNames[i - 1], std::move(sample.args[i]));
        sample.args.resize(1);
        result.push_back(std::move(sample));
    }
    return result;
}

}  // namespace

Table extremum_table() {
    return {{{"aten.amax.default", "aten.amin.default"}, list_samples},
            {{"aten.max.default", "aten.min.default"}, whole_samples},
            {{"aten.argmax.default", "aten.argmin.default"}, position_samples},
            {{"aten.max.dim", "aten.min.dim"}, dim_samples},
            {{"aten.aminmax.default"}, extremes_samples}};
}

}  // namespace whittle::samples
