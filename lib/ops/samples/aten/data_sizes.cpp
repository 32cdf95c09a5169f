// Samples of lib/ops/aten/data_sizes.cpp.
#include <cmath>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples bincount_samples(DType dtype) {
    const Tensor x = values(dtype, {3, 0, 1, 3, 5, 3}), none = values(dtype, {});
    const auto call = [](const std::string& label, const std::vector<Tensor>& tensors, std::int64_t least) {
        return Sample{.label = label,
                      .tensors = tensors,
                      .args = {t(0), tensors.size() > 1 ? t(1) : Arg(), least},
                      .constants = {0}};
    };
    return {call("counts", {x}, 0),
            call("minlength", {x}, 8),
            call("strided, f32 weights", {strided(x), random(DType::f32, {6})}, 0),
            call("f64 weights", {x, random(DType::f64, {6})}, 7),
            call("i32 weights", {x, random(DType::i32, {6})}, 0),
            call("empty", {none}, 0),
            call("empty, weights, minlength", {none, random(DType::f32, {0})}, 3)};
}

Samples pack_samples(DType dtype) {
    const Tensor x = random(dtype, {4, 3, 2}), lengths = values(DType::i64, {4, 2, 1});
    const auto call = [](const std::string& label, const Tensor& input, const Tensor& lengths, bool batch_first) {
        return call_of(label, {input, lengths, batch_first}, {}, {1});
    };
    return {call("steps first", x, lengths, false), call("batch first", random(dtype, {3, 4, 2}), lengths, true),
            call("shorter, transposed", transposed(x), values(DType::i64, {3, 3, 3}), false),
            call("numbers", random(dtype, {4, 3}), values(DType::i64, {2, 2, 1}), false)};
}

Samples nonzero_samples(DType dtype) {
    const auto sample = [&](const char* label, const Tensor& x) { return call_of(label, {x}, {}, {0}); };
    return {sample("matrix", values(dtype, {1, 0, 0, 3, 0, 2}, {2, 3})),
            sample("transposed", transposed(values(dtype, {1, 0, 0, 3, 0, 2}, {2, 3}))),
            sample("none", values(dtype, {0, 0}, {2})), sample("0-d", values(dtype, {2}, {})),
            sample("empty", Tensor(dtype, {0, 3}))};
}

Samples masked_select_samples(DType dtype) {
    const Tensor x = ramp(dtype, {2, 3});
    const auto sample = [&](const char* label, const Tensor& self, const Tensor& mask) {
        return call_of(label, {self, mask}, {}, {1});
    };
    const auto mask = [](const std::vector<double>& values, Sizes sizes) {
        return samples::values(DType::boolean, values, std::move(sizes));
    };
    return {sample("same sizes", x, mask({1, 0, 1, 0, 0, 1}, {2, 3})),
            sample("broadcast mask", x, mask({0, 1}, {2, 1})),
            sample("broadcast self", ramp(dtype, {3}), mask({1, 0}, {2, 1})),
            sample("transposed", transposed(x), mask({1, 0, 1, 1, 0, 1}, {2, 3})),
            sample("none", x, mask({0}, {})),
            sample("0-d", values(dtype, {2}, {}), mask({1}, {}))};
}

Samples unique_samples(DType dtype) {
    const Tensor x = values(dtype, {2, 1, 1, 2, 0, 1}, {2, 3});
    const auto sample = [&](const char* label, const Tensor& self, bool inverse, bool counts) {
        return call_of(label, {self, Arg(true), Arg(inverse), Arg(counts)}, {}, {0});
    };
    Samples result = {sample("values", x, false, false),
                      sample("inverse", x, true, false),
                      sample("all", x, true, true),
                      sample("transposed", transposed(x), true, true),
                      sample("counts", x, false, true),
                      sample("empty", Tensor(dtype, {0, 3}), true, true),
                      sample("0-d", values(dtype, {2}, {}), true, true)};
    if (is_floating(dtype))
        result.push_back(sample("special", values(dtype, {NAN, INFINITY, 2, NAN, -INFINITY, 2}, {6}), false, false));
    return result;
}

Samples consecutive_samples(DType dtype) {
    const Tensor x = values(dtype, {1, 1, 2, 2, 1, 0}), rows = values(dtype, {1, 0, 1, 0, 0, 1, 1, 0}, {4, 2});
    const auto sample = [&](const char* label, const Tensor& self, bool inverse, bool counts, const Arg& dim) {
        return call_of(label, {self, Arg(inverse), Arg(counts), dim}, {}, {0});
    };
    return {sample("values", x, false, false, Arg()), sample("inverse", x, true, false, Arg()),
            sample("all", rows, true, true, Arg()),   sample("transposed", transposed(rows), true, true, Arg()),
            sample("rows", rows, true, true, Arg(0)), sample("strided", strided(x), false, true, Arg())};
}

Samples unique_dim_samples(DType dtype) {
    const Tensor rows = values(dtype, {1, 0, 1, 0, 0, 1, 1, 0}, {4, 2});
    const auto sample = [&](const char* label, const Tensor& self) {
        return call_of(label, {self, Arg(0), Arg(true), Arg(true), Arg(true)}, {}, {0});
    };
    return {sample("rows", rows), sample("transposed", transposed(rows)), sample("numbers", values(dtype, {1, 0, 1}))};
}

Samples repeated_samples(DType dtype) {
    const auto sample = [&](const char* label, const Tensor& repeats) { return call_of(label, {repeats}, {}, {0}); };
    const Tensor x = values(dtype, {2, 0, 3, 1});
    return {sample("numbers", x), sample("strided", strided(x)), sample("none", values(dtype, {0, 0}))};
}

}  // namespace

Table data_size_table() {
    return {{{"aten.nonzero.default"}, nonzero_samples},
            {{"aten.argwhere.default"}, nonzero_samples},
            {{"aten.unique_consecutive.default"}, consecutive_samples},
            {{"aten.unique_dim.default"}, unique_dim_samples},
            {{"aten.repeat_interleave.Tensor"}, repeated_samples},
            {{"aten.masked_select.default"}, masked_select_samples},
            {{"aten._unique2.default"}, unique_samples},
            {{"aten.bincount.default"}, bincount_samples},
            {{"aten._pack_padded_sequence.default"}, pack_samples}};
}

}  // namespace whittle::samples
