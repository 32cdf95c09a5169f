#include "ops/samples/samples.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tensor/limits.h"
#include "tensor/random.h"

namespace whittle::samples {
namespace {

/// The elements of `tensor`, copied to memory of `elements` elements where they lie at `strides` from `offset`.
Tensor relaid(const Tensor& tensor, std::int64_t elements, const Strides& strides, std::int64_t offset) {
    Tensor memory(tensor.dtype(), {elements});
    const Tensor source = tensor.contiguous();
    const std::size_t size = size_of(tensor.dtype());
    const auto* from = static_cast<const std::byte*>(source.raw());
    auto* to = static_cast<std::byte*>(memory.mutable_raw());
    Sizes index(tensor.sizes().size(), 0);
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        std::int64_t at = offset;
        for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
        std::memcpy(to + static_cast<std::size_t>(at) * size, from + static_cast<std::size_t>(i) * size, size);
        for (std::size_t d = index.size(); d-- > 0;) {
            if (++index[d] < tensor.sizes()[d]) break;
            index[d] = 0;
        }
    }
    return memory.as_strided(tensor.sizes(), strides, offset);
}

std::vector<std::int64_t> extreme_integers(DType dtype) {
    const int bits = static_cast<int>(size_of(dtype)) * 8;
    const auto largest = static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1);
    if (is_unsigned(dtype))
        return {0, 1, 2, 3, largest, -largest - 1, -2, -1};  // wrapped: around the middle and the end
    return {0, 1, -1, 2, -2, 7, -7, largest, -largest, -largest - 1};
}

using Complexes = std::vector<Complex128>;

Tensor complexes(DType dtype, const Complexes& list, Sizes sizes) {
    return Tensor::of(list, std::move(sizes)).to(dtype);
}
Tensor complexes(DType dtype, const Complexes& list) {
    return complexes(dtype, list, {static_cast<std::int64_t>(list.size())});
}

/// Every sign of zero in both parts, the axes, the quadrants, large and small numbers.
Tensor special_complex(DType dtype) {
    const FloatLimits limits = float_limits(real_of(dtype));
    return complexes(dtype, {{0.0, 0.0},
                             {-0.0, 0.0},
                             {0.0, -0.0},
                             {-0.0, -0.0},
                             {1, 0.0},
                             {-1, 0.0},
                             {1, -0.0},
                             {-1, -0.0},
                             {0.0, 1},
                             {-0.0, -1},
                             {0.5, -1.5},
                             {-2.5, 3.75},
                             {-7, -0.25},
                             {20, 3},
                             {limits.normal, 0.0},
                             {0.0, limits.denormal}});
}

}  // namespace

Tensor values(DType dtype, const std::vector<double>& values, Sizes sizes) {
    return Tensor::of(values, std::move(sizes)).to(dtype);
}

Tensor values(DType dtype, const std::vector<double>& list) {
    return values(dtype, list, {static_cast<std::int64_t>(list.size())});
}

Tensor scalar(DType dtype, double value) { return values(dtype, {value}, {}); }
Tensor integers(const std::vector<std::int64_t>& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())});
}

Tensor ramp(DType dtype, Sizes sizes) {
    const std::int64_t count = element_count(sizes);
    if (is_complex(dtype)) {
        Complexes list;
        for (std::int64_t i = 0; i < count; ++i)
            list.emplace_back(static_cast<double>(i - count / 2) * 0.5, static_cast<double>(count - i) * 0.25);
        return complexes(dtype, list, std::move(sizes));
    }
    std::vector<double> list;
    for (std::int64_t i = 0; i < count; ++i) {
        if (dtype == DType::boolean)
            list.push_back(static_cast<double>(i % 2));
        else if (is_unsigned(dtype))
            list.push_back(static_cast<double>(i % 256));
        else
            list.push_back(static_cast<double>(i - count / 2) * (is_floating(dtype) ? 0.5 : 1.0));
    }
    return values(dtype, list, std::move(sizes));
}

Tensor random(DType dtype, Sizes sizes, std::uint64_t seed) {
    Random random(seed);
    if (is_complex(dtype)) return random_tensor(dtype, std::move(sizes), random);
    std::vector<double> list(static_cast<std::size_t>(element_count(sizes)));
    for (double& value : list) {
        if (is_floating(dtype))
            value = random.normal();
        else
            value = static_cast<double>(random.below(dtype == DType::boolean ? 2 : 19) - (is_integer(dtype) ? 9 : 0));
        if (is_unsigned(dtype)) value += 9;
    }
    return values(dtype, list, std::move(sizes));
}

Tensor uniform(DType dtype, Sizes sizes, double low, double high, std::uint64_t seed) {
    Random random(seed);
    if (is_complex(dtype)) {
        Complexes list(static_cast<std::size_t>(element_count(sizes)));
        for (Complex128& value : list) {
            const double real = low + random.uniform() * (high - low);
            value = {real, low + random.uniform() * (high - low)};
        }
        return complexes(dtype, list, std::move(sizes));
    }
    std::vector<double> list(static_cast<std::size_t>(element_count(sizes)));
    for (double& value : list) value = low + random.uniform() * (high - low);
    return values(dtype, list, std::move(sizes));
}

Tensor special(DType dtype) {
    if (dtype == DType::boolean) return values(dtype, {0, 1});
    if (is_complex(dtype)) return special_complex(dtype);
    if (!is_floating(dtype)) {
        const std::vector<std::int64_t> list = extreme_integers(dtype);
        return Tensor::of(list, {static_cast<std::int64_t>(list.size())}).to(dtype);
    }
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const FloatLimits limits = float_limits(dtype);
    return values(dtype, {nan,
                          inf,
                          -inf,
                          0.0,
                          -0.0,
                          1.0,
                          -1.0,
                          0.5,
                          -0.5,
                          1.5,
                          -1.5,
                          2.5,
                          -2.5,
                          3.75,
                          -7.0,
                          100.0,
                          limits.largest,
                          -limits.largest,
                          limits.normal,
                          -limits.normal,
                          limits.denormal,
                          -limits.denormal});
}

Tensor not_finite(DType dtype) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    return complexes(
        dtype,
        {{nan, 0.0}, {0.0, nan}, {nan, nan}, {inf, 0.0}, {-inf, 1}, {1, inf}, {0.0, -inf}, {inf, nan}, {inf, -inf}});
}

Tensor transposed(const Tensor& tensor) {
    Strides strides(tensor.sizes().size());
    std::int64_t step = 1;
    for (std::size_t d = 0; d < strides.size(); ++d) {
        strides[d] = step;
        step *= std::max<std::int64_t>(tensor.sizes()[d], 1);
    }
    return relaid(tensor, step, strides, 0);
}

Tensor strided(const Tensor& tensor) {
    Strides strides = contiguous_strides(tensor.sizes());
    for (std::int64_t& stride : strides) stride *= 2;
    return relaid(tensor, 2 * std::max<std::int64_t>(tensor.numel(), 1), strides, 1);
}

Tensor negative(const Tensor& tensor) {
    Strides strides = contiguous_strides(tensor.sizes());
    for (std::int64_t& stride : strides) stride = -stride;
    const std::int64_t elements = std::max<std::int64_t>(tensor.numel(), 1);
    return relaid(tensor, elements, strides, elements - 1);
}

Tensor expanded(const Tensor& tensor, Sizes sizes) {
    Strides strides = broadcast_strides(tensor.sizes(), tensor.strides(), sizes);
    return tensor.as_strided(std::move(sizes), std::move(strides), tensor.offset());
}

std::vector<std::pair<std::string, Tensor>> other_layouts(const Tensor& tensor) {
    return {{"transposed", transposed(tensor)}, {"strided", strided(tensor)}, {"negative stride", negative(tensor)}};
}
std::vector<std::pair<std::string, Tensor>> layouts(const Tensor& tensor) {
    return joined({{"contiguous", tensor}}, other_layouts(tensor));
}

std::vector<std::pair<std::string, Tensor>> inputs(DType dtype) {
    std::vector<std::pair<std::string, Tensor>> result = {{"ramp", ramp(dtype, {2, 3, 4})},
                                                          {"random", random(dtype, {3, 5})},
                                                          {"0-d", scalar(dtype, 3)},
                                                          {"empty", ramp(dtype, {0, 3})},
                                                          {"special", special(dtype)},
                                                          {"transposed", transposed(ramp(dtype, {3, 4}))},
                                                          {"strided", strided(ramp(dtype, {2, 3}))},
                                                          {"negative stride", negative(ramp(dtype, {2, 3}))},
                                                          {"expanded", expanded(ramp(dtype, {3, 1}), {2, 3, 4})}};
    if (is_complex(dtype)) result.emplace_back("not finite", not_finite(dtype));
    return result;
}

Sample call_of(std::string label, const std::vector<Given>& given, std::vector<std::pair<std::string, Arg>> kwargs,
               std::vector<std::size_t> constants) {
    Sample sample{
        .label = std::move(label), .tensors = {}, .kwargs = std::move(kwargs), .constants = std::move(constants)};
    for (const Given& one : given) {
        const auto* tensor = std::get_if<Tensor>(&one.value);
        sample.args.push_back(tensor ? t(static_cast<int>(sample.tensors.size())) : std::get<Arg>(one.value));
        if (tensor) sample.tensors.push_back(*tensor);
    }
    return sample;
}

Samples unary(DType dtype) { return unary(dtype, {}); }
Samples unary(DType dtype, const ArgList& rest, const std::string& suffix) {
    Samples result;
    for (const auto& [label, tensor] : inputs(dtype))
        result.push_back({label + suffix, {tensor}, joined({t(0)}, rest)});
    return result;
}

namespace {

/// The tensor with elements the right operand of an op may have.
Tensor made_right(const Tensor& tensor, Right right) {
    if (right == Right::any) return tensor;
    const DType dtype = tensor.dtype();
    if (right == Right::shift) {
        const auto bits = static_cast<std::int64_t>(size_of(dtype)) * 8;
        std::vector<std::int64_t> list = tensor.values<std::int64_t>();
        for (std::int64_t& value : list) value = dtype == DType::boolean ? value : ((value % bits) + bits) % bits;
        return Tensor::of(list, tensor.sizes()).to(dtype);
    }
    if (is_inexact(dtype)) return tensor;  // division by 0.0 is well defined
    std::vector<std::int64_t> list = tensor.values<std::int64_t>();
    for (std::int64_t& value : list) value = value == 0 ? 1 : value;
    return Tensor::of(list, tensor.sizes()).to(dtype);
}

}  // namespace

Samples binary(DType dtype, DTypeSet partners, Right right, const ArgList& rest, const std::string& suffix) {
    Samples result;
    const auto add = [&](const std::string& label, const Tensor& a, const Tensor& b) {
        // A layout is lost when the elements must change, so layouts are made after.
        result.push_back({label + suffix, {a, b}, joined({t(0), t(1)}, rest)});
    };
    const auto of = [&](const Tensor& b) { return made_right(b, right); };
    const Tensor pairs = special(dtype);
    add("ramp", ramp(dtype, {2, 3, 4}), of(random(dtype, {2, 3, 4})));
    add("broadcast", ramp(dtype, {2, 1, 3}), of(random(dtype, {4, 1})));
    add("0-d", scalar(dtype, 5), of(scalar(dtype, 3)));
    add("0-d right", ramp(dtype, {5}), of(scalar(dtype, 3)));
    add("0-d left", scalar(dtype, 5), of(ramp(dtype, {5})));
    add("empty", ramp(dtype, {0, 3}), of(ramp(dtype, {1, 3})));
    add("special", pairs.as_strided({pairs.numel(), 1}, {1, 1}, 0), of(special(dtype)));
    add("transposed", transposed(ramp(dtype, {3, 4})), of(random(dtype, {3, 4})));
    add("strided", strided(ramp(dtype, {2, 3})), transposed(of(random(dtype, {2, 3}))));
    add("negative stride", negative(ramp(dtype, {2, 3})), strided(of(random(dtype, {2, 3}))));
    add("expanded", expanded(ramp(dtype, {3, 1}), {2, 3, 4}), expanded(of(random(dtype, {4})), {2, 3, 4}));
    for (const DType partner : kAllDTypes) {
        if (partner == dtype || !(partners & set_of(partner))) continue;
        const bool limited = kLimited & (set_of(dtype) | set_of(partner));
        if (limited && !is_inexact(dtype) && !is_inexact(partner)) continue;  // they do not promote
        add("with " + std::string(name(partner)), ramp(dtype, {2, 3}), of(random(partner, {3})));
        if (dtype == DType::f16 && is_complex(partner)) continue;  // there are no complex numbers of 32 bits
        add("with 0-d " + std::string(name(partner)), ramp(dtype, {2, 3}), of(scalar(partner, 3)));
    }
    return result;
}

Samples operator+(Samples a, Samples b) {
    a.insert(a.end(), std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
    return a;
}

}  // namespace whittle::samples
