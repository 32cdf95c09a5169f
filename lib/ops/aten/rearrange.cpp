// Ops that rearrange a tensor's own elements in a copy: flip, roll, pixel_shuffle.
#include "base/checked.h"
#include "base/error.h"
#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"

namespace whittle {
namespace {

using namespace aten;

// --- flip ------------------------------------------------------------------------------------------------------------

View flip_plan(const Geometry& self, const AnyArguments auto& a) {
    return flip_view(self, wrap_dims(a.integers("dims"), self.rank(), "flip"));
}

// --- roll ------------------------------------------------------------------------------------------------------------

/// How far each dimension moves, within its size. Without dims the tensor is rolled flattened.
std::vector<std::int64_t> plan_roll(const Sizes& sizes, const AnyArguments auto& a) {
    const std::vector<std::int64_t> shifts = a.integers("shifts"), dims = a.integers("dims");
    if (shifts.empty() || (shifts.size() != dims.size() && !(dims.empty() && shifts.size() == 1)))
        throw Error("roll: found shifts=" + to_string(shifts) + " and dims=" + to_string(dims) +
                    ", expected one shift for each entry of dims, or one shift and empty dims");
    std::vector<std::int64_t> result(sizes.size(), 0);
    for (std::size_t i = 0; i < shifts.size(); ++i) {
        if (sizes.empty()) throw Error("roll: found a 0-d tensor, expected at least 1 dimension");
        const auto d = static_cast<std::size_t>(dims.empty() ? 0 : wrap_dim(dims[i], sizes));
        if (sizes[d] > 0) result[d] = ((result[d] + shifts[i] % sizes[d]) % sizes[d] + sizes[d]) % sizes[d];
    }
    return result;
}

std::vector<ValueMeta> infer_roll(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self");
    plan_roll(a.integers("dims").empty() ? Sizes{self.numel()} : self.sizes, a);
    return {ValueMeta::contiguous(self.dtype, self.sizes)};
}

std::vector<Tensor> eval_roll(const Arguments<Tensor>& a) {
    Tensor self = a.tensor("self");
    const Sizes sizes = self.sizes();
    if (a.integers("dims").empty()) self = reshape_tensor(self, {self.numel()});
    const std::vector<std::int64_t> shifts = plan_roll(self.sizes(), a);
    const Tensor rolled = pick(self, self.sizes(), [&](const std::vector<std::int64_t>& i) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < i.size(); ++d)
            offset += (i[d] + self.sizes()[d] - shifts[d]) % self.sizes()[d] * self.strides()[d];
        return offset;
    });
    return {reshape_tensor(rolled, sizes)};
}

std::vector<expr::Value> lower_roll(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    expr::Value self = a.tensor("self");
    const Sizes sizes = self.sizes();
    if (a.integers("dims").empty()) self = reshape_value(self, {element_count(sizes)});
    const std::vector<std::int64_t> shifts = plan_roll(self.sizes(), a);
    const expr::Value rolled(self.dtype(), self.sizes(), [self, shifts](const expr::Index& i) {
        expr::Index from = i;
        for (std::size_t d = 0; d < i.size(); ++d)
            if (shifts[d] != 0)
                from[d] = (i[d] + expr::index(self.sizes()[d] - shifts[d])) % expr::index(self.sizes()[d]);
        return self(from);
    });
    return {reshape_value(rolled, sizes)};
}

// --- pixel_shuffle ---------------------------------------------------------------------------------------------------

/// Sizes of the leading dimensions, then channels, height and width. Throws Error unless they are there.
std::pair<Sizes, Sizes> batch_and_image_sizes(const Sizes& sizes, std::int64_t factor, const std::string& op) {
    if (sizes.size() < 3 || factor <= 0 || factor > (1 << 15))
        throw Error(op + ": found a tensor of sizes " + to_string(sizes) + " and factor " + std::to_string(factor) +
                    ", expected sizes [..., C, H, W] and a factor from 1 to 2^15");
    return {Sizes(sizes.begin(), sizes.end() - 3), Sizes(sizes.end() - 3, sizes.end())};
}

/// reshape to batch + split, permute the split dimensions, reshape to batch + merged.
V regroup(const V& self, const Sizes& batch, const Sizes& split, const std::vector<std::int64_t>& order,
          const Sizes& merged) {
    const auto rank = static_cast<std::int64_t>(batch.size());
    std::vector<std::int64_t> dims;
    for (std::int64_t d = 0; d < rank; ++d) dims.push_back(d);
    for (const std::int64_t d : order) dims.push_back(rank + d);
    const V apart = reshape(self, joined(batch, split));
    const V permuted = permute(apart, dims);
    return reshape(own_copy(permuted), joined(batch, merged));
}

CallResults decompose_pixel_shuffle(const Call& c) {
    const V self = c.tensor("self");
    const std::int64_t r = c.integer("upscale_factor");
    const auto [batch, image] = batch_and_image_sizes(self.sizes(), r, "pixel_shuffle");
    const std::int64_t area = (Checked(r) * r).value();
    if (image[0] % area != 0)
        throw Error("pixel_shuffle: found " + std::to_string(image[0]) + " channels, expected a multiple of " +
                    std::to_string(area));
    const std::int64_t channels = image[0] / area;
    return regroup(self, batch, {channels, r, r, image[1], image[2]}, {0, 3, 1, 4, 2},
                   {channels, (Checked(image[1]) * r).value(), (Checked(image[2]) * r).value()});
}

CallResults decompose_pixel_unshuffle(const Call& c) {
    const V self = c.tensor("self");
    const std::int64_t r = c.integer("downscale_factor");
    const auto [batch, image] = batch_and_image_sizes(self.sizes(), r, "pixel_unshuffle");
    if (image[1] % r != 0 || image[2] % r != 0)
        throw Error("pixel_unshuffle: found height " + std::to_string(image[1]) + " and width " +
                    std::to_string(image[2]) + ", expected multiples of " + std::to_string(r));
    return regroup(self, batch, {image[0], image[1] / r, r, image[2] / r, r}, {0, 2, 4, 1, 3},
                   {(Checked(image[0]) * r * r).value(), image[1] / r, image[2] / r});
}

/// Channels [groups * n] as [n * groups]: the groups take turns.
CallResults decompose_channel_shuffle(const Call& c) {
    const V self = c.tensor("self");
    const Sizes& sizes = self.sizes();
    const std::int64_t groups = c.integer("groups");
    if (sizes.size() < 3 || groups < 1 || sizes[1] % groups != 0)
        throw Error(
            "channel_shuffle: found a tensor of sizes " + to_string(sizes) + " and " + std::to_string(groups) +
            " groups, expected at least 3 dimensions, and a number of channels that is a multiple of the groups");
    Sizes split = {sizes[0], groups, sizes[1] / groups};
    split.insert(split.end(), sizes.begin() + 2, sizes.end());
    const V apart = reshape(self, split);
    const V turned = transpose(apart, 1, 2);
    return reshape(own_copy(turned), sizes);
}

// --- rot90 -----------------------------------------------------------------------------------------------------------

/// k quarter turns from the first of two dimensions towards the second.
CallResults decompose_rot90(const Call& c) {
    const V self = c.tensor("self");
    const auto rank = static_cast<std::int64_t>(self.sizes().size());
    std::vector<std::int64_t> dims = c.integers("dims");
    if (rank < 2 || dims.size() != 2)
        throw Error("rot90: found dims=" + to_string(dims) + " for a tensor of sizes " + to_string(self.sizes()) +
                    ", expected two dims and a tensor of at least 2 dimensions");
    for (std::int64_t& d : dims) d = wrap_dim(d, rank);
    if (dims[0] == dims[1]) throw Error("rot90: found dims=" + to_string(dims) + ", expected two different dimensions");
    const auto flipped = [&](const V& x, const std::vector<std::int64_t>& along) { return flip(x, along); };
    const auto swapped = [&](const V& x) { return transpose(x, dims[0], dims[1]); };
    switch ((c.integer("k") % 4 + 4) % 4) {
        case 1:
            return own_copy(swapped(flipped(self, {dims[1]})));
        case 2:
            return flipped(self, dims);
        case 3:
            return own_copy(swapped(flipped(self, {dims[0]})));
        default:
            return clone(self);
    }
}

std::vector<ValueMeta> infer_flip(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self");
    return {ValueMeta::contiguous(self.dtype, flip_plan(geometry(self), a).sizes)};
}

std::vector<Tensor> eval_flip(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    return {apply_view(flip_plan(geometry(self), a), self).clone().with_requires_grad(false)};
}

std::vector<expr::Value> lower_flip(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self");
    return {apply_view(flip_plan(geometry(self), a), self)};
}

V flip_grad(const OfSelf& r) { return flip(r.g, r.call.integers("dims")); }
V roll_grad(const OfSelf& r) { return roll(r.g, all_negated(r.call.integers("shifts")), r.call.integers("dims")); }

}  // namespace

std::span<const OpDef> rearrange_ops() {
    static const OpDef ops[] = {
        primitive("flip(Tensor self, int[] dims) -> Tensor", "the elements in reverse order along dimensions", kMoved,
                  {infer_flip, eval_flip, lower_flip}, flip_grad, kBoundExact),
        primitive(
            "roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
            "elements shifted along dimensions; elements that leave a dimension at one end come in at the other end",
            kMoved, {infer_roll, eval_roll, lower_roll}, roll_grad, kBoundExact),
        composite(
            "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
            "channels spread over larger images: https://pytorch.org/docs/stable/generated/torch.nn.PixelShuffle.html",
            kMoved, decompose_pixel_shuffle),
        composite(
            "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
            "the reverse of pixel_shuffle: https://pytorch.org/docs/stable/generated/torch.nn.PixelUnshuffle.html",
            kMoved, decompose_pixel_unshuffle),
        composite("channel_shuffle(Tensor self, int groups) -> Tensor",
                  "channels reordered, one of each group in turn: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.ChannelShuffle.html",
                  kMoved, decompose_channel_shuffle),
        composite("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", "a rotation by k quarter turns", kMoved,
                  decompose_rot90),
    };
    return ops;
}

}  // namespace whittle
