// Samples of lib/ops/aten/pool_average.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

template <int Rank>
Samples sample_average(DType dtype) {
    Samples result = pooling_samples(dtype, Rank);
    const auto variant = [&](const std::string& of, const std::string& label, bool count_padding, const Arg& divisor) {
        for (const Sample& sample : pooling_samples(dtype, Rank)) {
            if (sample.label != of) continue;
            result.push_back(sample);
            result.back().label = label;
            result.back().args.push_back(count_padding);
            if (!divisor.is_none()) result.back().args.push_back(divisor);
        }
    };
    variant("padded", "padding not counted", false, {});
    variant("ceil padded", "padding not counted, ceil", false, {});
    if (Rank > 1) variant("ceil padded", "divisor", true, 3);
    if (Rank > 1) variant("padded", "negative divisor", false, -2);
    return result;
}

}  // namespace

Table avg_pool_table() {
    return {{{"aten.avg_pool1d.default"}, sample_average<1>},
            {{"aten.avg_pool2d.default"}, sample_average<2>},
            {{"aten.avg_pool3d.default"}, sample_average<3>},
            {{"aten.adaptive_avg_pool1d.default"}, sample_adaptive<1>},
            {{"aten._adaptive_avg_pool2d.default", "aten.adaptive_avg_pool2d.default"}, sample_adaptive<2>},
            {{"aten._adaptive_avg_pool3d.default", "aten.adaptive_avg_pool3d.default"}, sample_adaptive<3>}};
}

}  // namespace whittle::samples
