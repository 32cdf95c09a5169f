// Which samples the walks of the registry take, where all of them, of every dtype, take longer than they tell.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "ops/core/registry.h"
#include "ops/samples/table.h"

namespace whittle::test {

/// All samples of f32 (without it, of the op's first dtype), and a third of each other dtype's: of the next dtype the
/// next third. WHITTLE_TEST_ALL_SAMPLES=1 in the environment takes all.
inline std::vector<Sample> sparse_samples(const RegisteredOp& op, DType dtype) {
    std::vector<Sample> samples = samples_of(op, dtype);
    const auto takes = [&](DType d) { return (op.def->dtypes & set_of(d)) != 0; };
    const DType whole = takes(DType::f32) ? DType::f32 : *std::ranges::find_if(kAllDTypes, takes);
    if (dtype == whole || std::getenv("WHITTLE_TEST_ALL_SAMPLES")) return samples;
    const std::size_t parts = std::min<std::size_t>(3, samples.size());
    std::vector<Sample> taken;
    for (std::size_t i = 0; i < samples.size(); i++)
        if ((i + static_cast<std::size_t>(dtype)) % parts == 0) taken.push_back(std::move(samples[i]));
    return taken;
}

}  // namespace whittle::test
