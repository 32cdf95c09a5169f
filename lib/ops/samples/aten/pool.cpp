// Samples of lib/ops/aten/pool.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

template <int Rank>
Samples sample_max(DType dtype) {
    Samples result;
    for (Sample& sample : pooling_samples(dtype, Rank)) {
        // dilation comes before ceil_mode
        const Arg ceil = sample.args.back();
        sample.args.back() = Arg::ints(Sizes(Rank, 1));
        sample.args.push_back(ceil);
        result.push_back(std::move(sample));
    }
    Sizes sizes = {2, 2};
    sizes.resize(Rank + 2, 7);
    const auto dilated = [&](const std::string& label, std::int64_t padding, bool ceil) {
        result.push_back(call_of(
            label, {random(dtype, sizes), Arg::ints({2}), Arg::ints({2}), Arg::ints({padding}), Arg::ints({3}), ceil}));
    };
    dilated("dilated", 0, false);
    dilated("dilated padded ceil", 1, true);
    return result;
}

}  // namespace

Table pool_table() {
    return {{{"aten.max_pool1d_with_indices.default", "aten.max_pool1d.default"}, sample_max<1>},
            {{"aten.max_pool2d_with_indices.default", "aten.max_pool2d.default"}, sample_max<2>},
            {{"aten.max_pool3d_with_indices.default", "aten.max_pool3d.default"}, sample_max<3>},
            {{"aten.adaptive_max_pool1d.default"}, sample_adaptive<1>},
            {{"aten.adaptive_max_pool2d.default"}, sample_adaptive<2>},
            {{"aten.adaptive_max_pool3d.default"}, sample_adaptive<3>}};
}

}  // namespace whittle::samples
