// Gradients of pooling and interpolation, by the backward ops that LibTorch's autograd calls, where it has them.
#include "ops/aten/layer_grad.h"
#include "ops/aten/resize.h"

namespace whittle {

namespace {

/// By the backward op, or where that looks at the sizes before it looks at a factor and the op itself did not, by the
/// op's own maps, the other way round.
void resized_grad(GraphBuilder& b, CallGradients& c, Interpolation how) {
    const Rule r(b, c);
    const std::string& operand = c.args().schema().params[0].name;
    const Resize resize = resize_of(c.args(), r.tensor(operand).meta.sizes.size() - 2);
    std::vector<LinearMap> maps = resize_maps(resize, how);
    for (LinearMap& map : maps) map = map.transposed();
    if (maps == resize_gradient_maps(resize, how)) return upsample_grad(b, c);
    r.set(operand, apply_all(r, r.grad(), maps));
}

}  // namespace

void max_pool_with_indices_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const auto ints = [&](const char* name) { return Arg::ints(c.args().integers(name)); };
    r.set(r.call("aten." + c.args().schema().name + "_backward.default",
                 {arg(r.g), arg(r.x), ints("kernel_size"), ints("stride"), ints("padding"), ints("dilation"),
                  c.args().boolean("ceil_mode"), arg(c.result(1))}));
}
void adaptive_max_pool_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten." + c.args().schema().name + "_backward.default", {arg(r.g), arg(r.x), arg(c.result(1))}));
}
/// Of rows: each gradient is added where the maximum was.
void max_pool1d_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const NodeValue zeros = r.zeros(r.x.meta.sizes, r.g.meta.dtype), at = c.result(1);
    r.set(r.call("aten.scatter_add.default", {arg(zeros), rank_of(r.x) - 1, arg(at), arg(r.g)}));
}
void avg_pool2d_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const auto ints = [&](const char* name) { return Arg::ints(c.args().integers(name)); };
    const std::optional<std::int64_t> divisor = c.args().optional_integer("divisor_override");
    r.set(
        r.call("aten.avg_pool2d_backward.default",
               {arg(r.g), arg(r.x), ints("kernel_size"), ints("stride"), ints("padding"), c.args().boolean("ceil_mode"),
                c.args().boolean("count_include_pad"), divisor ? Arg(*divisor) : Arg()}));
}
/// Of images of height 1.
void avg_pool1d_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const auto image = [&](const NodeValue& v) { return arg(r.call("aten.unsqueeze.default", {arg(v), -2})); };
    const auto row = [&](const char* name, std::int64_t height) {
        const Ints given = c.args().integers(name);
        return given.empty() ? Arg::ints({}) : Arg::ints({height, given[0]});
    };
    const NodeValue gradient =
        r.call("aten.avg_pool2d_backward.default",
               {image(r.g), image(r.x), row("kernel_size", 1), row("stride", 1), row("padding", 0),
                c.args().boolean("ceil_mode"), c.args().boolean("count_include_pad"), Arg()});
    r.set(r.call("aten.squeeze.dim", {arg(gradient), -2}));
}
void avg_pool3d_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const auto ints = [&](const char* name) { return Arg::ints(c.args().integers(name)); };
    const std::optional<std::int64_t> divisor = c.args().optional_integer("divisor_override");
    r.set(
        r.call("aten.avg_pool3d_backward.default",
               {arg(r.g), arg(r.x), ints("kernel_size"), ints("stride"), ints("padding"), c.args().boolean("ceil_mode"),
                c.args().boolean("count_include_pad"), divisor ? Arg(*divisor) : Arg()}));
}
void adaptive_avg_pool_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten." + c.args().schema().name + "_backward.default", {arg(r.g), arg(r.x)}));
}
/// Of images of height 1.
void adaptive_avg_pool1d_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const auto image = [&](const NodeValue& v) { return arg(r.call("aten.unsqueeze.default", {arg(v), -2})); };
    const NodeValue gradient = r.call("aten._adaptive_avg_pool2d_backward.default", {image(r.g), image(r.x)});
    r.set(r.call("aten.squeeze.dim", {arg(gradient), -2}));
}
/// op_backward(grad, output_size, input_size, …) of the same overload.
void upsample_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const Schema& schema = c.args().schema();
    const ArgList& given = c.args().bound();
    const std::string& operand = schema.params[0].name;
    const std::size_t dot = schema.name.find('.');
    ArgList args = {arg(r.grad()), given[1], Arg::ints(r.tensor(operand).meta.sizes)};
    args.insert(args.end(), given.begin() + 2, given.end());
    r.set(operand, r.call("aten." + schema.name.substr(0, dot) + "_backward" +
                              (dot == std::string::npos ? ".default" : schema.name.substr(dot)),
                          std::move(args)));
}
void upsample_nearest_grad(GraphBuilder& b, CallGradients& c) { resized_grad(b, c, Interpolation::nearest); }
void upsample_cubic_grad(GraphBuilder& b, CallGradients& c) { resized_grad(b, c, Interpolation::cubic); }

}  // namespace whittle
