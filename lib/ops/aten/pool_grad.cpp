// Gradients of pooling and interpolation, by the backward ops that LibTorch's autograd calls, where it has them.
#include "ops/aten/formulas.h"
#include "ops/aten/layer_grad.h"
#include "ops/aten/resize.h"

namespace whittle {

namespace {

using namespace aten;

/// By the backward op, or where that looks at the sizes before it looks at a factor and the op itself did not, by the
/// op's own maps, the other way round.
void resized_grad(Gradients& c, Interpolation how) {
    const std::string& operand = c.schema().params[0].name;
    const Resize resize = resize_of(c, c.tensor(operand).sizes().size() - 2);
    std::vector<LinearMap> maps = resize_maps(resize, how);
    for (LinearMap& map : maps) map = map.transposed();
    if (maps == resize_gradient_maps(resize, how)) return upsample_grad(c);
    c.set(operand, apply_all(c.grad(), maps));
}

/// Of the op's backward op: that of each rank, of the same name.
V backward_op(const OfSelf& r, ArgList rest = {}) {
    ArgList args = {r.g, r.x};
    args.insert(args.end(), rest.begin(), rest.end());
    return r.call.builder().call("aten." + r.call.schema().name + "_backward.default", std::move(args));
}

}  // namespace

V max_pool_with_indices_grad(const OfSelf& r) {
    const auto ints = [&](const char* name) { return Arg::ints(r.call.integers(name)); };
    return backward_op(r, {ints("kernel_size"), ints("stride"), ints("padding"), ints("dilation"),
                           r.call.boolean("ceil_mode"), r.call.result(1)});
}
V adaptive_max_pool_grad(const OfSelf& r) { return backward_op(r, {r.call.result(1)}); }
/// Of rows: each gradient is added where the maximum was.
V max_pool1d_grad(const OfSelf& r) {
    const V start = zeros(r.call.builder(), r.x.sizes(), r.g.dtype());
    return scatter_add(start, r.x.rank() - 1, r.call.result(1), r.g);
}
V avg_pool_grad(const OfSelf& r) {
    const auto ints = [&](const char* name) { return Arg::ints(r.call.integers(name)); };
    const std::optional<std::int64_t> divisor = r.call.optional_integer("divisor_override");
    return backward_op(r, {ints("kernel_size"), ints("stride"), ints("padding"), r.call.boolean("ceil_mode"),
                           r.call.boolean("count_include_pad"), divisor ? Arg(*divisor) : Arg()});
}
/// Of images of height 1.
V avg_pool1d_grad(const OfSelf& r) {
    const auto image = [](const V& v) { return unsqueeze(v, -2); };
    const auto row = [&](const char* name, std::int64_t height) {
        const Ints given = r.call.integers(name);
        return given.empty() ? Ints() : Ints{height, given[0]};
    };
    const V gradient =
        avg_pool2d_backward(image(r.g), image(r.x), row("kernel_size", 1), row("stride", 1), row("padding", 0),
                            r.call.boolean("ceil_mode"), r.call.boolean("count_include_pad"), {});
    return squeeze(gradient, -2);
}
V adaptive_avg_pool_grad(const OfSelf& r) { return backward_op(r); }
/// Of images of height 1.
V adaptive_avg_pool1d_grad(const OfSelf& r) {
    const auto image = [](const V& v) { return unsqueeze(v, -2); };
    const V gradient = _adaptive_avg_pool2d_backward(image(r.g), image(r.x));
    return squeeze(gradient, -2);
}
/// op_backward(grad, output_size, input_size, …) of the same overload.
void upsample_grad(Gradients& c) {
    const Schema& schema = c.schema();
    const ArgList& given = c.bound();
    const std::string& operand = schema.params[0].name;
    const std::size_t dot = schema.name.find('.');
    ArgList args = {c.grad(), given[1], Arg::ints(c.tensor(operand).sizes())};
    args.insert(args.end(), given.begin() + 2, given.end());
    c.set(operand, c.builder().call("aten." + schema.name.substr(0, dot) + "_backward" +
                                        (dot == std::string::npos ? ".default" : schema.name.substr(dot)),
                                    std::move(args)));
}
void upsample_nearest_grad(Gradients& c) { resized_grad(c, Interpolation::nearest); }
void upsample_cubic_grad(Gradients& c) { resized_grad(c, Interpolation::cubic); }

}  // namespace whittle
