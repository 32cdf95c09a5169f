// What the ops that resize images, and their gradients, share: their sizes, and what each result reads.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "ops/aten/linear_map.h"
#include "ops/core/dense.h"

// The schemas of both overloads of an op, and of its gradient, whose image has two dimensions more than the rank.
#define WHITTLE_RESIZE(name, rank, aligned)                                    \
    name "{.vec(Tensor input, SymInt[]? output_size, " WHITTLE_ALIGN_##aligned \
        "float[]? scale_factors|(Tensor self, "                                \
        "SymInt[" #rank "] output_size, " WHITTLE_ALIGN_##aligned WHITTLE_SCALES##rank "}) -> Tensor"
#define WHITTLE_RESIZE_BACKWARD(name, rank, image, aligned)                                                        \
    name "_backward{.vec(Tensor grad_output, SymInt[]? output_size, SymInt[] input_size, " WHITTLE_ALIGN_##aligned \
        "float[]? scale_factors|(Tensor grad_output, SymInt[" #rank "] output_size, SymInt[" #image                \
        "] input_size, " WHITTLE_ALIGN_##aligned WHITTLE_SCALES##rank "}) -> Tensor"
#define WHITTLE_ALIGN_true "bool align_corners, "
#define WHITTLE_ALIGN_false ""
#define WHITTLE_SCALES1 "float? scales=None"
#define WHITTLE_SCALES2 "float? scales_h=None, float? scales_w=None"
#define WHITTLE_SCALES3 "float? scales_d=None, float? scales_h=None, float? scales_w=None"

namespace whittle {

/// nearest: the element at floor(place * ratio); exact: whose area holds the place's centre; linear, cubic: between 2
/// and 4 neighbours in each dimension; the last two: between all neighbours within the distance of two results.
enum class Interpolation { nearest, exact, linear, cubic, linear_antialiased, cubic_antialiased };

/// Spatial sizes before and after; the leading dimensions (batch, channels) stay.
struct Resize {
    Sizes in = {}, out = {};
    std::vector<std::optional<double>> factors = {};  ///< as the caller gave them, one per dimension
    DType dtype = DType::f32;
    bool align_corners = false;
    std::int64_t planes = 1;
    Sizes sizes = {};  ///< of the result

    /// Of what is resized.
    Sizes operand_sizes() const;
};

/// Of the sizes and factors that a call gives, for a tensor of `operand`.
struct ResizeRequest {
    std::optional<std::vector<std::int64_t>> sizes;
    std::vector<std::optional<double>> factors;  ///< empty: none at all
    bool align_corners = false;
};
Resize resize_of(const std::string& op, const ValueMeta& operand, std::size_t rank, const ResizeRequest& request);

/// The request of an overload: "vec" has sizes or all factors, the other one sizes and maybe factors.
ResizeRequest resize_request(const AnyArguments auto& args, std::size_t rank) {
    const std::string& op = args.schema().name;
    ResizeRequest request;
    if (args.schema().param("align_corners")) request.align_corners = args.boolean("align_corners");
    if (args.schema().param("scale_factors")) {
        request.sizes = args.optional_integers("output_size");
        for (const double factor : args.numbers("scale_factors")) request.factors.emplace_back(factor);
        if (request.sizes.has_value() == args.has("scale_factors"))
            throw Error(
                op + ": found " +
                (request.sizes ? "both output_size and scale_factors" : "neither output_size nor scale_factors") +
                ", expected exactly one of the two");
        return request;
    }
    request.sizes = args.integers("output_size");
    for (const char* dim : {"_d", "_h", "_w"}) {
        const std::string name = rank == 1 ? "scales" : std::string("scales") + dim;
        if (args.schema().param(name) && request.factors.size() < rank)
            request.factors.push_back(args.optional_number(name));
    }
    return request;
}

/// Of one that resizes, or of a gradient, which has the sizes of what was resized.
Resize resize_of(const AnyArguments auto& args, std::size_t rank) {
    const bool gradient = args.schema().param("input_size") != nullptr;
    ValueMeta operand = meta_of(args.tensor(args.schema().params[0].name));
    const Sizes given = operand.sizes;
    if (gradient) operand.sizes = args.integers("input_size");
    const Resize resize = resize_of(args.schema().name, operand, rank, resize_request(args, rank));
    if (gradient && given != resize.sizes)
        throw Error(args.schema().name + ": found a gradient of sizes " + to_string(given) + ", expected " +
                    to_string(resize.sizes));
    return resize;
}

/// Input positions per output position: the inverse of the given factor, else the ratio of the sizes.
template <class T>
T inverse_factor(const Resize& r, std::size_t d) {
    if (r.factors[d] && *r.factors[d] > 0) return static_cast<T>(1 / *r.factors[d]);
    return static_cast<T>(r.in[d]) / static_cast<T>(r.out[d]);
}

/// Position = place * scale + shift, clamped to the image from below. Corner pixels are at the corners of both images
/// (align_corners), or pixels are areas and centres are at half steps.
struct PositionMap {
    double scale = 0, shift = 0;
};

template <class T>
PositionMap position_map(const Resize& r, std::size_t d) {
    if (!r.align_corners) return {inverse_factor<T>(r, d), 0.5};
    return {r.out[d] > 1 ? static_cast<T>(r.in[d] - 1) / static_cast<T>(r.out[d] - 1) : T{0}, 0};
}

template <class T>
struct Neighbours {
    std::int64_t first = 0, second = 0;
    T weight = 0;  ///< of the second
};

/// Of linear interpolation, which computes in T.
template <class T>
Neighbours<T> neighbours(const Resize& r, std::size_t d, std::int64_t place);

/// The element that nearest and exact take for a result.
std::int64_t nearest(const Resize& r, Interpolation how, std::size_t d, std::int64_t place);
/// LibTorch's kernel for channels that lie next to each other, which takes every image of one channel, looks at the
/// sizes before it looks at a factor.
inline bool looks_at_sizes(const Resize& r) { return r.in.size() > 1 && r.sizes[1] == 1; }

/// What the results read, dimension by dimension.
std::vector<LinearMap> resize_maps(const Resize& r, Interpolation how);
/// What LibTorch's gradient hands to the elements: the transposed maps, but that of nearest looks at the sizes before
/// it looks at a factor, and that of cubic copies where no size changes, whatever the forward kernel did.
std::vector<LinearMap> resize_gradient_maps(const Resize& r, Interpolation how);

}  // namespace whittle
