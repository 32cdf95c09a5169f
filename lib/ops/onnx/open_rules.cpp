#include "ops/onnx/open_rules.h"

#include <algorithm>
#include <cmath>

#include "ops/core/elements.h"
#include "ops/core/open_rules.h"
#include "ops/core/pointwise.h"
#include "ops/onnx/rewrite.h"

namespace whittle::onnx_open {

namespace {

/// Tuples of indices: the last dimension of `indices`.
struct Tuples {
    std::int64_t width = 0;
    Ints values;

    std::size_t count() const { return width == 0 ? 0 : values.size() / static_cast<std::size_t>(width); }
    std::int64_t at(std::size_t tuple, std::int64_t k) const {
        return values[tuple * static_cast<std::size_t>(width) + static_cast<std::size_t>(k)];
    }
};

Tuples tuples_of(const Tensor& indices) { return {extent(indices, -1), indices.values<std::int64_t>()}; }

/// Element k of each tuple is an index into dimension first + k of `data`.
Answer bad_tuple(std::string_view op, const Tensor& data, const Tuples& tuples, std::int64_t first) {
    for (std::size_t i = 0; i < tuples.count(); ++i)
        for (std::int64_t k = 0; k < tuples.width; ++k)
            if (const std::int64_t index = tuples.at(i, k), size = extent(data, first + k);
                index < -size || index >= size)
                return bad_index(op, Tensor::of({index}), size, true);
    return std::nullopt;
}

Answer target(std::string_view op, const Tensor& classes, const Tensor& scores, const Operands& a) {
    return out_of_range(op, "target", classes, 0, extent(scores, 1) - 1, a.optional_integer("ignore_index"));
}

}  // namespace

Answer gathered(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("indices"), extent(a.tensor("data"), a.integer("axis")), true);
}

Answer gathered_tuples(std::string_view op, const Operands& a) {
    return bad_tuple(op, a.tensor("data"), tuples_of(a.tensor("indices")), a.integer("batch_dims"));
}

Answer scattered(std::string_view op, const Operands& a) {
    if (Answer reason = gathered(op, a)) return reason;
    if (a.text("reduction") != "none") return std::nullopt;
    const Tensor data = a.tensor("data"), indices = a.tensor("indices");
    if (data.rank() != indices.rank()) return std::nullopt;  // the decomposition refuses it
    const std::int64_t axis = wrap_dim(a.integer("axis"), data.rank()), size = extent(data, axis);
    const Ints values = indices.values<std::int64_t>();
    const Strides strides = contiguous_strides(data.sizes());
    Ints places;
    for_each_index(indices.sizes(), [&](std::vector<std::int64_t> i) {
        const std::int64_t index = values[places.size()];
        i[static_cast<std::size_t>(axis)] = index < 0 ? index + size : index;
        places.push_back(element_offset(i, strides));
    });
    return written_twice(op, places, a.tensor("updates"), indices);
}

Answer scattered_tuples(std::string_view op, const Operands& a) {
    const Tensor data = a.tensor("data");
    const Tuples tuples = tuples_of(a.tensor("indices"));
    if (Answer reason = bad_tuple(op, data, tuples, 0)) return reason;
    if (a.text("reduction") != "none") return std::nullopt;
    Ints places;
    for (std::size_t i = 0; i < tuples.count(); ++i) {
        std::int64_t place = 0;
        for (std::int64_t k = 0; k < tuples.width; ++k) {
            const std::int64_t size = extent(data, k), index = tuples.at(i, k);
            place = place * size + (index < 0 ? index + size : index);
        }
        places.push_back(place);
    }
    return written_twice(op, places, a.tensor("updates"), [&](std::size_t i) {
        Ints tuple;
        for (std::int64_t k = 0; k < tuples.width; ++k) tuple.push_back(tuples.at(i, k));
        return to_string(tuple);
    });
}

Answer written_rows(std::string_view op, const Operands& a) {
    if (!a.has("write_indices")) return std::nullopt;
    const bool linear = a.text("mode") == "linear";
    const std::int64_t axis = a.integer("axis"), size = extent(a.tensor("past_cache"), axis);
    return out_of_range(op, "index", a.tensor("write_indices"), 0,
                        linear ? size - extent(a.tensor("update"), axis) : size - 1);
}

Answer token_positions(std::string_view op, const Operands& a) {
    if (!a.has("position_ids")) return std::nullopt;
    return out_of_range(op, "position", a.tensor("position_ids"), 0, extent(a.tensor("cos_cache"), 0) - 1);
}

Answer reversed_lengths(std::string_view op, const Operands& a) {
    return out_of_range(op, "length", a.tensor("sequence_lens"), 0, extent(a.tensor("input"), a.integer("time_axis")));
}

Answer recurrent_lengths(std::string_view op, const Operands& a) {
    if (!a.has("sequence_lens")) return std::nullopt;
    const bool batch_first = a.schema().param("layout") && a.integer("layout") == 1;
    return out_of_range(op, "length", a.tensor("sequence_lens"), 0, extent(a.tensor("X"), batch_first ? 1 : 0));
}

Answer target_class(std::string_view op, const Operands& a) {
    return target(op, a.tensor("target"), a.tensor("input"), a);
}
Answer label_class(std::string_view op, const Operands& a) {
    return target(op, a.tensor("labels"), a.tensor("scores"), a);
}

Answer unpooled(std::string_view op, const Operands& a) {
    if (a.has("output_shape"))
        return std::string(op) +
               " has an output_shape: the standard leaves open whether indices refer to it (onnx/onnx#2398)";
    const Tensor indices = a.tensor("I");
    if (Answer reason = out_of_range(op, "index", indices, 0, std::numeric_limits<std::int64_t>::max())) return reason;
    return written_twice(op, indices.values<std::int64_t>(), a.tensor("X"), indices);
}

Answer aligned_regions(std::string_view op, const Operands& a) {
    if (Answer reason = not_finite(op, "region (rois)", a.tensor("rois"))) return reason;
    return bad_index(op, a.tensor("batch_indices"), extent(a.tensor("X"), 0), false);
}

Answer resized_region(std::string_view op, const Operands& a) {
    if (a.has("scales"))
        for (const double scale : a.tensor("scales").values<double>())
            if (!(scale > 0) || std::isinf(scale))
                return std::string(op) + " has a scale that is not a positive number";
    if (a.text("coordinate_transformation_mode") != "tf_crop_and_resize" || !a.has("roi")) return std::nullopt;
    return not_finite(op, "region (roi)", a.tensor("roi"));
}

Answer divided(std::string_view op, const Operands& a) { return bad_division(op, a.tensor("A"), a.tensor("B")); }
Answer shifted(std::string_view op, const Operands& a) { return bad_shift(op, a.tensor("X"), a.tensor("Y")); }
Answer raised(std::string_view op, const Operands& a) { return negative_exponent(op, a.tensor("X"), a.tensor("Y")); }

Answer converted(std::string_view op, const Operands& a) {
    return bad_conversion(op, a.tensor("input"), onnx_dialect::dtype_of_code(a.integer("to")));
}
Answer converted_like(std::string_view op, const Operands& a) {
    return bad_conversion(op, a.tensor("input"), a.tensor("target_type").dtype());
}

Answer quantized(std::string_view op, const Operands& a) {
    const Tensor scale = a.tensor("y_scale");
    if (Answer reason = zero_scale(op, scale)) return reason;
    for (const Tensor& operand : {scale, a.tensor("x")})
        if (std::ranges::any_of(operand.values<double>(), [](double value) { return std::isnan(value); }))
            return std::string(op) + " rounds NaN to an integer";
    return std::nullopt;
}

Answer dequantized(std::string_view op, const Operands& a) { return zero_scale(op, a.tensor("x_scale")); }

Answer dynamically_quantized(std::string_view op, const Operands& a) {
    const Tensor x = a.tensor("x");
    if (Answer reason = not_finite(op, "data", x)) return reason;
    if (std::ranges::any_of(x.values<double>(), [](double value) { return value != 0; })) return std::nullopt;
    return std::string(op) + " has a scale of 0";
}

Answer requantized(std::string_view op, const Operands& a) { return zero_scale(op, a.tensor("y_scale")); }

}  // namespace whittle::onnx_open
