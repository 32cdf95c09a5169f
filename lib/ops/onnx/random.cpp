// ONNX's random ops. Seeds are a runtime's own affair: no two draw the same, and this one does not look at them.
#include "base/number_text.h"
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// What the attribute says, else `otherwise`.
DType drawn_dtype(const Rewrite& op, DType otherwise) {
    const DType dtype = op.has("dtype") ? dtype_of_code(op.integer("dtype")) : otherwise;
    if (!is_floating(dtype))
        throw Error("found dtype " + std::string(name(dtype)) + ", expected a floating-point dtype");
    return dtype;
}

NodeValue affine(const Rewrite& op, const NodeValue& drawn, double scale, double offset) {
    return op("aten.add.Tensor", op("aten.mul.Tensor", drawn, scale), offset);
}

template <Name Target>
NodeValue drawn_like(const Rewrite& op) {
    const NodeValue input = op.tensor("input");
    return op.builder().call(Target, {arg(input)}, {{"dtype", drawn_dtype(op, input.meta.dtype)}});
}

template <Name Target>
NodeValue drawn(const Rewrite& op) {
    return op.builder().call(Target, {Arg::ints(op.arguments().integers("shape"))},
                             {{"dtype", drawn_dtype(op, DType::f32)}});
}

template <NodeValue (*Draw)(const Rewrite&)>
Results uniform(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const double low = op.number("low"), high = op.number("high");
    if (!(low <= high))
        throw Error("found low=" + shortest(low) + " and high=" + shortest(high) + ", expected low to be at most high");
    return {affine(op, Draw(op), high - low, low).ref};
}

template <NodeValue (*Draw)(const Rewrite&)>
Results normal(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const double scale = op.number("scale");
    if (!(scale >= 0)) throw Error("found scale=" + shortest(scale) + ", expected a standard deviation of at least 0");
    return {affine(op, Draw(op), scale, op.number("mean")).ref};
}

Results bernoulli(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("input");
    const DType dtype = op.has("dtype") ? dtype_of_code(op.integer("dtype")) : input.meta.dtype;
    return {op.cast(op("aten.bernoulli.default", input), dtype).ref};
}

constexpr OpDef kRandomOps[] = {
    {.name = "onnx.RandomUniform",
     .doc = "Uniform between low and high. onnx Operators.md#RandomUniform",
     .schema = "RandomUniform(*, int dtype=1, float high=1.0, float low=0.0, float? seed=None, int[] shape) -> Tensor",
     .dtypes = kFloating,
     .decompose = uniform<drawn<"aten.rand.default">>,
     .random = true},
    {.name = "onnx.RandomUniformLike",
     .doc = "Uniform between low and high, of another tensor's sizes. onnx Operators.md#RandomUniformLike",
     .schema = "RandomUniformLike(Tensor input, *, int? dtype=None, float high=1.0, float low=0.0, float? seed=None) "
               "-> Tensor",
     .dtypes = kFloating,
     .decompose = uniform<drawn_like<"aten.rand_like.default">>,
     .random = true},
    {.name = "onnx.RandomNormal",
     .doc = "Normal of a mean and a standard deviation. onnx Operators.md#RandomNormal",
     .schema = "RandomNormal(*, int dtype=1, float mean=0.0, float scale=1.0, float? seed=None, int[] shape) -> Tensor",
     .dtypes = kFloating,
     .decompose = normal<drawn<"aten.randn.default">>,
     .random = true},
    {.name = "onnx.RandomNormalLike",
     .doc = "Normal of a mean and a standard deviation, of another tensor's sizes. onnx Operators.md#RandomNormalLike",
     .schema = "RandomNormalLike(Tensor input, *, int? dtype=None, float mean=0.0, float scale=1.0, float? seed=None) "
               "-> Tensor",
     .dtypes = kFloating,
     .decompose = normal<drawn_like<"aten.randn_like.default">>,
     .random = true},
    {.name = "onnx.Bernoulli",
     .doc = "1 with the probabilities given, else 0. onnx Operators.md#Bernoulli",
     .schema = "Bernoulli(Tensor input, *, int? dtype=None, float? seed=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = bernoulli,
     .random = true},
};

}  // namespace

std::span<const OpDef> onnx_random_ops() { return kRandomOps; }

}  // namespace whittle
