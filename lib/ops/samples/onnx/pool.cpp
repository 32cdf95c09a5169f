// Samples of lib/ops/onnx/pool.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Sample pool_sample(const std::string& label, const Tensor& x, const Sizes& kernel, Kwargs kwargs,
                   std::int64_t opset = 12) {
    kwargs.emplace_back("kernel_shape", Arg::ints(kernel));
    return at_opset(opset, label, {x}, std::move(kwargs));
}

Samples pool_window_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 2, 5, 6});
    return {pool_sample("plain", x, {2, 3}, {}),
            pool_sample("strided", x, {3, 3}, {{"pads", Arg::ints({1, 1, 1, 1})}, {"strides", Arg::ints({2, 2})}}),
            pool_sample("uneven pads", x, {2, 2}, {{"pads", Arg::ints({0, 1, 1, 0})}}),
            pool_sample("SAME_UPPER", x, {3, 2}, {{"auto_pad", "SAME_UPPER"}, {"strides", Arg::ints({2, 2})}}),
            pool_sample("1-d", random(dtype, {1, 2, 7}), {3}, {})};
}

Samples max_pool_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 2, 5, 6});
    return pool_window_samples(dtype) +
           Samples{pool_sample("ceil", x, {2, 2}, {{"ceil_mode", 1}, {"strides", Arg::ints({2, 2})}}),
                   pool_sample("dilated", x, {2, 2}, {{"dilations", Arg::ints({2, 3})}}),
                   pool_sample("indices", x, {2, 2}, {{"num_outputs", 2}}),
                   pool_sample("indices in columns", x, {2, 2},
                               {{"pads", Arg::ints({0, 1, 1, 0})}, {"storage_order", 1}, {"num_outputs", 2}})};
}

Samples dilated_pool_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 2, 5, 6});
    return {
        pool_sample("dilated", x, {2, 2}, {{"dilations", Arg::ints({2, 3})}, {"pads", Arg::ints({0, 1, 1, 0})}}, 19),
        pool_sample("dilated, rounded up", x, {2, 2},
                    {{"ceil_mode", 1}, {"dilations", Arg::ints({2, 2})}, {"strides", Arg::ints({2, 2})}}, 19)};
}

Samples average_pool_samples(DType dtype) {
    Samples counted;
    for (const Sizes& pads : {Sizes{1, 1, 1, 1}, Sizes{0, 0, 1, 1}})
        counted.push_back(pool_sample("counted pads " + to_string(pads), random(dtype, {2, 2, 5, 6}), {2, 2},
                                      {{"count_include_pad", 1}, {"pads", Arg::ints(pads)}}));
    return pool_window_samples(dtype) + counted + dilated_pool_samples(dtype);
}

Samples lp_pool_samples(DType dtype) { return pool_window_samples(dtype) + dilated_pool_samples(dtype); }

Samples global_pool_samples(DType dtype) { return {at_opset(11, "2-d", {random(dtype, {2, 3, 4, 5})})}; }
Samples global_max_pool_samples(DType dtype) { return {at_opset(11, "1-d", {random(dtype, {2, 3, 4})})}; }

}  // namespace

Table onnx_pool_table() {
    return {
        {{"onnx.AveragePool"}, average_pool_samples},
        {{"onnx.GlobalAveragePool", "onnx.GlobalLpPool"}, global_pool_samples},
        {{"onnx.GlobalMaxPool"}, global_max_pool_samples},
        {{"onnx.LpPool"}, lp_pool_samples},
        {{"onnx.MaxPool"}, max_pool_samples},
    };
}

}  // namespace whittle::samples
