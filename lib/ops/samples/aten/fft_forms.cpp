// Samples of lib/ops/aten/fft_forms.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples one_dim_samples(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& label, const Tensor& x, ArgList rest) {
        rest.insert(rest.begin(), t(0));
        result.push_back({label, {x}, std::move(rest)});
    };
    for (const std::int64_t size : {2, 3, 8, 12, 15, 17, 64})
        add("length " + std::to_string(size), random(dtype, {3, size}, static_cast<std::uint64_t>(size)), {});
    for (auto& [layout, x] : layouts(random(dtype, {4, 6}))) add("dim 0, " + layout, x, {Arg(), 0});
    add("cut", random(dtype, {2, 9}), {6});
    add("padded", random(dtype, {2, 5}), {8});
    add("padded dim 0", random(dtype, {3, 5}), {7, 0});
    for (const char* norm : {"forward", "backward", "ortho"}) add(norm, random(dtype, {2, 10}), {Arg(), -1, norm});
    add("vector", random(dtype, {7}), {});
    add("no rows", ramp(dtype, {0, 4}), {});
    return result;
}

template <bool kAllDims>
Samples many_dim_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 6, 5}), y = transposed(random(dtype, {4, 3, 2}));
    Samples result = {
        call_of("last two", {x, Arg(), Arg::ints({-2, -1})}),
        call_of("outer two", {y, Arg(), Arg::ints({0, 2})}),
        call_of("sizes", {x, Arg::ints({4, 8}), Arg::ints({1, 2})}),
        call_of("ortho", {x, Arg(), Arg::ints({1, 2}), "ortho"}),
        call_of("forward", {x, Arg(), Arg::ints({2, 1}), "forward"}),
    };
    if (kAllDims) {
        result.push_back(call_of("all", {x}));
        result.push_back(call_of("sizes of the last", {x, Arg::ints({8})}));
    }
    return result;
}

Samples stft_samples(DType dtype) {
    const Tensor x = random(dtype, {40}), rows = random(dtype, {2, 33});
    const Arg complex = true;
    Samples result = {
        call_of("hop by default", {x, 8}, {{"return_complex", complex}}),
        call_of("rows", {rows, 10, 3}, {{"return_complex", complex}}),
        call_of("short window", {x, 8, 4, 5}, {{"return_complex", complex}}),
        call_of("window", {x, 9, 4, 6, random(real_of(dtype), {6})}, {{"return_complex", complex}}),
        call_of("normalized", {rows, 8, 4, Arg(), Arg(), true}, {{"return_complex", complex}}),
        call_of("both sides", {x, 8, 4, Arg(), Arg(), false, false}, {{"return_complex", complex}}),
        call_of("parts", {rows, 8, 4}, {{"return_complex", false}}),
    };
    return result;
}

Samples istft_samples(DType dtype) {
    const Tensor x = random(dtype, {5, 7}), rows = random(dtype, {2, 6, 5}), both = random(dtype, {8, 6});
    const Tensor window = uniform(real_of(dtype), {6}, 0.5, 1.5);
    return {call_of("hop by default", {x, 8}),
            call_of("rows", {rows, 10, 3}),
            call_of("window", {x, 8, 2, 6, window}),
            call_of("odd", {rows, 11, 4}),
            call_of("not in the middle", {x, 8, 4, Arg(), Arg(), false}),
            call_of("normalized", {rows, 10, 5, Arg(), Arg(), true, true}),
            call_of("both sides", {both, 8, 4}),
            call_of("cut", {x, 8, 2, Arg(), Arg(), true, false, Arg(), 9}),
            call_of("filled up", {x, 8, 2, Arg(), Arg(), true, false, Arg(), 30}),
            call_of("complex", {both, 8, 4, Arg(), Arg(), true, false, false, Arg(), true})};
}

Samples shift_samples(DType dtype) {
    return moved(dtype, "all", {3, 4}) +
           Samples{once(dtype, "rows", {3, 4}, {Arg::ints({0})}), once(dtype, "last", {2, 5}, {Arg::ints({-1})})};
}

}  // namespace

Table fft_form_table() {
    return {{{"aten.fft_fft.default", "aten.fft_ifft.default", "aten.fft_rfft.default", "aten.fft_irfft.default",
              "aten.fft_hfft.default", "aten.fft_ihfft.default"},
             one_dim_samples},
            {{"aten.fft_fft2.default", "aten.fft_ifft2.default", "aten.fft_rfft2.default", "aten.fft_irfft2.default",
              "aten.fft_hfft2.default", "aten.fft_ihfft2.default"},
             many_dim_samples<false>},
            {{"aten.fft_fftn.default", "aten.fft_ifftn.default", "aten.fft_rfftn.default", "aten.fft_irfftn.default",
              "aten.fft_hfftn.default", "aten.fft_ihfftn.default"},
             many_dim_samples<true>},
            {{"aten.fft_fftfreq.default", "aten.fft_rfftfreq.default"},
             [](DType dtype) {
                 Samples result;
                 for (const std::int64_t size : {1, 2, 5, 8})
                     result.push_back({"of " + std::to_string(size), {}, {size, 0.5}, {{"dtype", dtype}}});
                 return result;
             }},
            {{"aten.stft.default"}, stft_samples},
            {{"aten.istft.default"}, istft_samples},
            {{"aten.fft_fftshift.default", "aten.fft_ifftshift.default"}, shift_samples}};
}

}  // namespace whittle::samples
