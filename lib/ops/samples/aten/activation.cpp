// Samples of lib/ops/aten/activation.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// The usual samples with default parameters, and some with each of `lists`.
Samples with_parameters(DType dtype, const std::vector<ArgList>& lists) {
    Samples result = unary(dtype);
    for (std::size_t i = 0; i < lists.size(); ++i)
        for (const Tensor& x : {special(dtype), ramp(dtype, {3, 4})}) {
            const std::string label = "parameters " + std::to_string(i) + (x.rank() == 1 ? " special" : "");
            result.push_back({label, {x}, joined({t(0)}, lists[i])});
        }
    return result;
}
Samples hardtanh_samples(DType dtype) {
    if (is_unsigned(dtype)) return unary(dtype, {Arg(1.7), Arg(5.5)}, " from 1.7 to 5.5");
    return with_parameters(dtype, {{Arg(-2), Arg(0.5)}, {Arg(0), Arg(0)}, {Arg(-1.5), Arg(2.5)}});
}

Samples gelu_samples(DType dtype) {
    Samples result = unary(dtype);
    for (Sample& sample : unary(dtype, {}, " tanh")) {
        sample.kwargs = {{"approximate", Arg("tanh")}};
        result.push_back(std::move(sample));
    }
    return result;
}

}  // namespace

Table activation_table() {
    return {{{"aten.relu.default", "aten.sigmoid.default", "aten.log_sigmoid.default", "aten.silu.default",
              "aten.mish.default", "aten.hardswish.default", "aten.hardsigmoid.default", "aten.relu6.default",
              "aten.selu.default"},
             unary},
            {{"aten.gelu.default"}, gelu_samples},
            {{"aten.elu.default"},
             [](DType dtype) {
                 return with_parameters(dtype, {{Arg(0.5)}, {Arg(1.5), Arg(2), Arg(0.5)}});
             }},
            {{"aten.leaky_relu.default"},
             [](DType dtype) {
                 return with_parameters(dtype, {{Arg(0.2)}, {Arg(-1)}, {Arg(0)}});
             }},
            {{"aten.softplus.default"},
             [](DType dtype) {
                 return with_parameters(dtype, {{Arg(2)}, {Arg(0.5), Arg(1)}});
             }},
            {{"aten.hardtanh.default"}, hardtanh_samples},
            {{"aten.celu.default"}, [](DType dtype) {
                 return with_parameters(dtype, {{Arg(0.5)}, {Arg(2)}});
             }}};
}

}  // namespace whittle::samples
