// ONNX's random ops. Seeds are a runtime's own affair: no two draw the same, and this one does not look at them.
#include "base/number_text.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// What the attribute says, else `otherwise`.
DType drawn_dtype(const Call& c, DType otherwise) {
    const DType dtype = c.has("dtype") ? dtype_of_code(c.integer("dtype")) : otherwise;
    if (!is_floating(dtype))
        throw Error("found dtype " + std::string(name(dtype)) + ", expected a floating-point dtype");
    return dtype;
}

V affine(const V& drawn, double scale, double offset) { return drawn * scale + offset; }

V drawn(const Call& c, V (*draw)(GraphBuilder&, const Ints&, std::optional<DType>)) {
    return draw(c.builder(), c.integers("shape"), drawn_dtype(c, DType::f32));
}

using DrawLike = V (*)(const V&, std::optional<DType>, const std::optional<std::string>&);
V drawn(const Call& c, DrawLike draw) {
    const V input = c.tensor("input");
    return draw(input, drawn_dtype(c, input.dtype()), {});
}

template <auto Draw>
CallResults uniform(const Call& c) {
    const double low = number32(c, "low"), high = number32(c, "high");
    if (!(low <= high))
        throw Error("found low=" + shortest(low) + " and high=" + shortest(high) + ", expected low to be at most high");
    return affine(drawn(c, Draw), high - low, low);
}

template <auto Draw>
CallResults normal(const Call& c) {
    const double scale = number32(c, "scale");
    if (!(scale >= 0)) throw Error("found scale=" + shortest(scale) + ", expected a standard deviation of at least 0");
    return affine(drawn(c, Draw), scale, number32(c, "mean"));
}

CallResults onnx_bernoulli(const Call& c) {
    const V input = c.tensor("input");
    const DType dtype = c.has("dtype") ? dtype_of_code(c.integer("dtype")) : input.dtype();
    return cast(bernoulli(input, OptionalV()), dtype);
}

/// Its results are not a function of its arguments.
constexpr OpDef draws(OpDef def) {
    def.random = true;
    return def;
}

constexpr OpDef kRandomOps[] = {
    draws(composite(
        "RandomUniform(*, int dtype=1, float high=1.0, float low=0.0, float? seed=None, int[] shape) -> Tensor",
        "Uniform between low and high", kFloating, uniform<aten::rand>)),
    draws(composite("RandomUniformLike(Tensor input, *, int? dtype=None, float high=1.0, float low=0.0, float? "
                    "seed=None) -> Tensor",
                    "Uniform between low and high, with the sizes of another tensor", kFloating,
                    uniform<aten::rand_like>)),
    draws(composite(
        "RandomNormal(*, int dtype=1, float mean=0.0, float scale=1.0, float? seed=None, int[] shape) -> Tensor",
        "Normally distributed, with a mean and a standard deviation", kFloating, normal<aten::randn>)),
    draws(composite("RandomNormalLike(Tensor input, *, int? dtype=None, float mean=0.0, float scale=1.0, float? "
                    "seed=None) -> Tensor",
                    "Normally distributed, with the sizes of another tensor", kFloating, normal<aten::randn_like>)),
    draws(composite("Bernoulli(Tensor input, *, int? dtype=None, float? seed=None) -> Tensor",
                    "1 with the probabilities given, else 0", kFloating, onnx_bernoulli)),
};

}  // namespace

std::span<const OpDef> onnx_random_ops() { return kRandomOps; }

}  // namespace whittle
