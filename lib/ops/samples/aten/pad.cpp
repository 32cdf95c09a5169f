// Samples of lib/ops/aten/pad.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

template <std::size_t N>
Samples border_samples(DType dtype) {
    Sizes batch = {2, 2}, single = {2};
    std::vector<std::int64_t> uneven, cropped;
    for (std::size_t d = 0; d < N; ++d) {
        const auto k = static_cast<std::int64_t>(d);
        batch.push_back(3 + (k + 1) % 2);
        single.push_back(3 + k);
        uneven.push_back(1 + k % 2);
        uneven.push_back(k == 0 ? 2 : 0);
        cropped.insert(cropped.end(), {-1, 1});
    }
    return moved(dtype, "uneven", batch, {Arg::ints(uneven)}) +
           Samples{once(dtype, "cropped", single, {Arg::ints(cropped)}),
                   once(dtype, "none", single, {Arg::ints(std::vector<std::int64_t>(2 * N, 0))})};
}

/// The gradients of those.
template <std::size_t N>
Samples border_gradient_samples(DType dtype) {
    Samples result;
    for (const Sample& sample : border_samples<N>(dtype)) {
        const Tensor& self = sample.tensors[0];
        Sizes sizes = self.sizes();
        const ArgList& amounts = *sample.args[1].list();  // of the last dimension first
        for (std::size_t i = 0; i < amounts.size(); ++i)
            sizes[sizes.size() - 1 - i / 2] += std::get<std::int64_t>(amounts[i].value);
        const Tensor grad = random(dtype, sizes);
        result.push_back(call_of(
            sample.label, {sample.label.ends_with("transposed") ? transposed(grad) : grad, self, sample.args[1]}));
    }
    return result;
}

}  // namespace

Table pad_table() {
    return {{{"aten.constant_pad_nd.default"},
             [](DType dtype) {
                 return moved(dtype, "both dims", {3, 4}, {Arg::ints({1, 2, 0, 1}), 1}) +
                        Samples{once(dtype, "last dim", {2, 3}, {Arg::ints({2, 0})}),
                                once(dtype, "cropped", {4, 5}, {Arg::ints({-1, 2, 1, -2}), 2.5}),
                                once(dtype, "cropped to nothing", {2, 3}, {Arg::ints({-1, -2})}),
                                once(dtype, "none", {2}, {Arg::ints({})}),
                                once(dtype, "0-d", {}, {Arg::ints({})}),
                                once(dtype, "empty", {0, 2}, {Arg::ints({0, 0, 1, 1}), true})};
             }},
            {{"aten.reflection_pad1d.default", "aten.replication_pad1d.default"}, border_samples<1>},
            {{"aten.reflection_pad2d.default", "aten.replication_pad2d.default"}, border_samples<2>},
            {{"aten.reflection_pad3d.default", "aten.replication_pad3d.default"}, border_samples<3>},
            {{"aten.reflection_pad1d_backward.default", "aten.replication_pad1d_backward.default"},
             border_gradient_samples<1>},
            {{"aten.reflection_pad2d_backward.default", "aten.replication_pad2d_backward.default"},
             border_gradient_samples<2>},
            {{"aten.reflection_pad3d_backward.default", "aten.replication_pad3d_backward.default"},
             border_gradient_samples<3>},
            {{"aten.pad.default"}, [](DType dtype) -> Samples {
                 return {once(dtype, "constant", {2, 3}, {Arg::ints({1, 0, 2, 1}), "constant", -1.5}),
                         once(dtype, "default value", {2, 3}, {Arg::ints({1, 1})}),
                         once(dtype, "reflect", {1, 2, 4}, {Arg::ints({2, 1}), "reflect"}),
                         once(dtype, "replicate", {1, 2, 4, 3}, {Arg::ints({2, 1, 0, 1}), "replicate"}),
                         once(dtype, "circular", {1, 2, 4, 3}, {Arg::ints({2, 1, 0, 3}), "circular"})};
             }}};
}

}  // namespace whittle::samples
