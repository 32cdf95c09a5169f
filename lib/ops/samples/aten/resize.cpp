// Samples of resizing images and of its gradient (lib/ops/aten/upsample.cpp, backward_upsample.cpp).
#include <optional>

#include "ops/samples/aten/shared.h"

namespace whittle::samples {

Samples resize_samples(DType dtype, std::size_t rank, const ResizeForm& form) {
    Samples result;
    const auto add = [&](const std::string& label, const Sizes& in, std::optional<std::int64_t> size,
                         std::optional<double> factor, bool align = false) {
        Sizes out(rank, size.value_or(0));
        for (std::size_t d = 0; d < rank && !size; ++d)
            out[d] = static_cast<std::int64_t>(static_cast<double>(in[d + 2]) * *factor);
        Sample sample = call_of(label, {random(dtype, form.gradient ? joined({in[0], in[1]}, out) : in)});
        sample.args.push_back(size || !form.vec ? Arg::ints(out) : Arg());
        if (form.gradient) sample.args.push_back(Arg::ints(in));
        if (form.align_corners) sample.args.push_back(align);
        if (form.vec) sample.args.push_back(factor ? Arg(ArgList(rank, Arg(*factor))) : Arg());
        for (std::size_t d = 0; d < rank && !form.vec && factor; ++d) sample.args.push_back(Arg(*factor));
        result.push_back(std::move(sample));
    };
    Sizes sizes = {2, 2};
    for (std::size_t d = 0; d < rank; d++) sizes.push_back(3 + static_cast<std::int64_t>(d));
    for (const bool align : {false, true}) {
        if (align && !form.align_corners) break;
        const std::string suffix = align ? ", corners aligned" : "";
        if (!form.vec && form.tiny_factor) add("factor 1e-10" + suffix, sizes, 7, 1e-10, align);  // beyond an i32
        add("factor 2" + suffix, sizes, {}, 2.0, align);
        add("factor 1.7" + suffix, sizes, {}, 1.7, align);
        add("factor 1.2" + suffix, sizes, {}, 1.2, align);  // sizes stay, or nearly
        add("factor 1.01" + suffix, sizes, {}, 1.01, align);
        add("factor 2.1" + suffix, sizes, {}, 2.1, align);  // small sizes double
        add("factor 0.5" + suffix, sizes, {}, 0.5, align);
        add("size 5" + suffix, sizes, 5, {}, align);
        add("size 1" + suffix, sizes, 1, {}, align);
        add("size 3" + suffix, sizes, 3, {}, align);
    }
    Sizes channel = sizes, pixel = {1, 2}, none = sizes;
    channel[1] = 1;
    for (const double factor : {1.2, 2.1, 1.7})
        add("one channel, factor " + std::to_string(factor), channel, {}, factor);
    pixel.resize(rank + 2, 1);
    add("from one pixel", pixel, 3, {});
    none[0] = 0;
    add("empty batch", none, 4, {});
    add("contiguous", sizes, 4, {});
    const Sample contiguous = result.back();
    for (const auto& [label, tensor] : layouts(contiguous.tensors[0])) {
        if (label == "contiguous") continue;
        result.push_back(contiguous);
        result.back().label = label;
        result.back().tensors = {tensor};
    }
    return result;
}

}  // namespace whittle::samples
