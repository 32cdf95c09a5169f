// Gradients of pooling and interpolation. A maximum's goes where it was. Averages and interpolations are linear maps,
// one for each dimension: a rule computes the map's matrix by the op itself, of the unit vectors, and applies it the
// other way round.
#include "ops/aten/layer_grad.h"

namespace whittle {

namespace {

using B = GraphBuilder;
using C = CallGradients;
using Ints = std::vector<std::int64_t>;

std::int64_t rank(const NodeValue& x) { return static_cast<std::int64_t>(x.meta.sizes.size()); }

/// Of "int[2]", which may be one number for all dimensions.
std::int64_t of_dim(const Ints& values, std::size_t d) { return values.size() == 1 ? values[0] : values.at(d); }

NodeValue unit_vectors(B& b, std::int64_t count, DType dtype) {
    return b.call("aten.eye.default", {count}, {{"dtype", dtype}});
}

/// The gradient of the operand of a linear map that has the matrix [in, out] of its sizes along dimension `dim`.
NodeValue through(const Rule& r, const NodeValue& grad, std::int64_t dim, const NodeValue& matrix) {
    const auto swapped = [&](const NodeValue& x) {
        return dim == rank(x) - 1 ? x : r.call("aten.transpose.int", {arg(x), dim, -1});
    };
    return swapped(r.call("aten.matmul.default", {arg(swapped(grad)), arg(r.of("aten.t.default", matrix))}));
}

/// Each of the last `dims` dimensions, where matrix(d, size) is the map of the d-th of them.
template <class Matrix>
NodeValue through_all(const Rule& r, const NodeValue& x, std::int64_t dims, const Matrix& matrix) {
    NodeValue gradient = r.grad();
    for (std::int64_t d = 0; d < dims; ++d) {
        const std::int64_t dim = rank(x) - dims + d, size = x.meta.sizes.at(static_cast<std::size_t>(dim));
        gradient = through(r, gradient, dim, matrix(static_cast<std::size_t>(d), size));
    }
    return gradient;
}

/// The digit in "avg_pool3d", "upsample_nearest2d.vec".
std::int64_t dims_of(const std::string& op) { return op[op.rfind('d') - 1] - '0'; }

}  // namespace

void max_pool2d_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const auto ints = [&](const char* name) { return Arg::ints(c.args().integers(name)); };
    r.set(r.call("aten.max_pool2d_with_indices_backward.default",
                 {arg(r.g), arg(r.x), ints("kernel_size"), ints("stride"), ints("padding"), ints("dilation"),
                  c.args().boolean("ceil_mode"), arg(c.result(1))}));
}
/// Indices count the elements of an image.
void max_pool_grad(B& b, C& c) {
    const OfSelf r(b, c);
    std::string op = c.args().schema().name;
    if (const std::size_t end = op.find("_with_indices"); end != std::string::npos) op.resize(end);
    const auto batch = static_cast<std::ptrdiff_t>(rank(r.x) - dims_of(op));
    const auto flat = [&](const NodeValue& v) {
        Sizes sizes(v.meta.sizes.begin(), v.meta.sizes.begin() + batch);
        sizes.push_back(element_count(std::span(v.meta.sizes).subspan(static_cast<std::size_t>(batch))));
        return sizes;
    };
    const NodeValue zeros = r.zeros(flat(r.x), r.g.meta.dtype), at = c.result(1);
    const NodeValue added = r.call("aten.scatter_add.default",
                                   {arg(zeros), batch, arg(r.reshape(at, flat(at))), arg(r.reshape(r.g, flat(r.g)))});
    r.set(r.reshape(added, r.x.meta.sizes));
}
void avg_pool2d_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const auto ints = [&](const char* name) { return Arg::ints(c.args().integers(name)); };
    const std::optional<std::int64_t> divisor = c.args().optional_integer("divisor_override");
    r.set(
        r.call("aten.avg_pool2d_backward.default",
               {arg(r.g), arg(r.x), ints("kernel_size"), ints("stride"), ints("padding"), c.args().boolean("ceil_mode"),
                c.args().boolean("count_include_pad"), divisor ? Arg(*divisor) : Arg()}));
}
/// Of images of height 1.
void avg_pool1d_grad(B& b, C& c) {
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
void avg_pool3d_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const Ints kernel = c.args().integers("kernel_size"), padding = c.args().integers("padding");
    const Ints stride = c.args().integers("stride").empty() ? kernel : c.args().integers("stride");
    const std::optional<std::int64_t> divisor = c.args().optional_integer("divisor_override");
    const NodeValue gradient = through_all(r, r.x, 3, [&](std::size_t d, std::int64_t size) {
        const NodeValue means = r.call(
            "aten.avg_pool1d.default",
            {arg(unit_vectors(b, size, r.g.meta.dtype)), Arg::ints({of_dim(kernel, d)}), Arg::ints({of_dim(stride, d)}),
             Arg::ints({of_dim(padding, d)}), c.args().boolean("ceil_mode"), c.args().boolean("count_include_pad")});
        if (!divisor) return means;
        return b.convert(r.call("aten.ne.Scalar", {arg(means), 0}), r.g.meta.dtype);  // the windows
    });
    r.set(divisor ? r.div(gradient, Arg(static_cast<double>(*divisor))) : gradient);
}
void adaptive_avg_pool_grad(B& b, C& c) {
    const OfSelf r(b, c);
    const Ints out = c.args().integers("output_size");
    r.set(through_all(r, r.x, dims_of(c.args().schema().name), [&](std::size_t d, std::int64_t size) {
        return r.call("aten.adaptive_avg_pool1d.default",
                      {arg(unit_vectors(b, size, r.g.meta.dtype)), Arg::ints({of_dim(out, d)})});
    }));
}
/// The nearest elements of images of one channel are others than those of several, see upsample.cpp: the matrix is
/// that of rows, images of height 1.
void upsample_grad(B& b, C& c) {
    const Rule r(b, c);
    const NodeValue x = r.tensor("input");
    const Arguments<NodeValue>& a = c.args();
    const bool linear = a.schema().param("align_corners"), rows = !linear && rank(x) > 3 && x.meta.sizes[1] == 1;
    const std::string op = linear ? "aten.upsample_linear1d.vec"
                           : rows ? "aten.upsample_nearest2d.vec"
                                  : "aten.upsample_nearest1d.vec";
    r.set("input", through_all(r, x, dims_of(a.schema().name), [&](std::size_t d, std::int64_t size) {
              const NodeValue units = unit_vectors(b, size, r.grad().meta.dtype);
              ArgList args = {arg(r.reshape(units, rows ? Sizes{size, 1, 1, size} : Sizes{1, size, size}))};
              std::vector<std::int64_t> sizes(rows ? 1 : 0, 1);
              ArgList factors(rows ? 1 : 0, Arg(1.0));
              if (a.has("output_size")) sizes.push_back(of_dim(a.integers("output_size"), d));
              if (a.has("scale_factors")) factors.emplace_back(a.numbers("scale_factors").at(d));
              args.push_back(a.has("output_size") ? Arg::ints(sizes) : Arg());
              if (linear) args.emplace_back(a.boolean("align_corners"));
              args.push_back(a.has("scale_factors") ? Arg(factors) : Arg());
              const NodeValue matrix = b.call(op, std::move(args));
              return r.reshape(matrix, {size, matrix.meta.sizes.back()});
          }));
}

}  // namespace whittle
