// Samples of lib/ops/aten/conv_forms.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Input, weight and bias of 4 input and 6 output channels, and all the forms' arguments after them.
template <int Rank>
Sample sample_form(DType dtype, const std::string& label, bool batched, bool bias, std::int64_t groups,
                   const ArgList& rest, bool transposed = false) {
    Sizes input = {2, 4}, weight = transposed ? Sizes{4, 6 / groups} : Sizes{6, 4 / groups};
    for (int d = 0; d < Rank; d++) {
        input.push_back(4 + d);
        weight.push_back(2 + d % 2);
    }
    if (!batched) input.erase(input.begin());
    std::vector<Tensor> tensors = {random(dtype, input, 1), random(dtype, weight, 2)};
    if (bias) tensors.push_back(random(dtype, {6}, 3));
    return {label, std::move(tensors), joined({t(0), t(1), bias ? t(2) : Arg()}, rest)};
}

template <int Rank>
Samples sample_plain(DType dtype) {
    return {sample_form<Rank>(dtype, "defaults", true, true, 1, {}),
            sample_form<Rank>(dtype, "one value for all", true, true, 2, {2, 1, 2, 2}),
            sample_form<Rank>(dtype, "unbatched", false, false, 1, {Arg::ints({1}), Arg::ints(Sizes(Rank, 1))})};
}

template <int Rank>
Samples sample_transposed(DType dtype) {
    return {sample_form<Rank>(dtype, "defaults", true, true, 1, {}, true),
            sample_form<Rank>(dtype, "strided", true, true, 2, {2, 1, 1, 2, 1}, true),
            sample_form<Rank>(dtype, "unbatched", false, false, 1, {3}, true)};
}

template <int Rank>
Samples sample_padding(DType dtype) {
    return {sample_form<Rank>(dtype, "defaults", true, true, 1, {}),
            sample_form<Rank>(dtype, "valid", true, false, 1, {2, "valid", 1}),
            sample_form<Rank>(dtype, "same, one more on the right", true, true, 1, {1, "same"}),
            sample_form<Rank>(dtype, "same", true, true, 2, {1, "same", 2, 2}),
            sample_form<Rank>(dtype, "same, unbatched", false, true, 1, {1, "same"})};
}

Samples flagged_samples(DType dtype, int flags) {
    const auto call = [&](const char* label, const Sizes& stride, bool transposed, std::int64_t groups) {
        ArgList rest = {Arg::ints(stride), Arg::ints({1, 0}), Arg::ints({1, 1}), transposed, Arg::ints({0, 0}), groups};
        for (int i = 0; i < flags; ++i) rest.emplace_back(i == flags - 1);
        return sample_form<2>(dtype, label, true, true, groups, rest, transposed);
    };
    return {call("plain", {1, 1}, false, 1), call("groups, strided", {2, 1}, false, 2),
            call("transposed", {2, 2}, true, 1)};
}
Samples sample_flagged(DType dtype) { return flagged_samples(dtype, 4); }
Samples sample_deprecated(DType dtype) { return flagged_samples(dtype, 3); }

}  // namespace

Table conv_form_table() {
    return {{{"aten.conv1d.default"}, sample_plain<1>},
            {{"aten.conv2d.default"}, sample_plain<2>},
            {{"aten.conv3d.default"}, sample_plain<3>},
            {{"aten.conv1d.padding"}, sample_padding<1>},
            {{"aten.conv2d.padding"}, sample_padding<2>},
            {{"aten.conv3d.padding"}, sample_padding<3>},
            {{"aten.conv_transpose1d.default"}, sample_transposed<1>},
            {{"aten.conv_transpose2d.input"}, sample_transposed<2>},
            {{"aten.conv_transpose3d.input"}, sample_transposed<3>},
            {{"aten._convolution.default"}, sample_flagged},
            {{"aten._convolution.deprecated"}, sample_deprecated}};
}

}  // namespace whittle::samples
