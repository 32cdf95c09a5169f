// The functions of torch.fft, stft and istft: they cut, pad and call the transforms of fft.cpp.
// Definitions: https://pytorch.org/docs/stable/fft.html
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/core/pointwise.h"

namespace whittle {

namespace {

// --- torch.fft: fft(self, n, dim, norm) and their like over several dimensions ---

enum class Kind { c2c, r2c, c2r };

/// norm: "backward" (none) scales the inverse by 1/n, "forward" the transform, "ortho" both by 1/sqrt(n).
template <class T>
std::int64_t normalization_of(const Arguments<T>& arguments, bool forward) {
    const std::string norm = arguments.has("norm") ? arguments.text("norm") : "backward";
    if (norm == "ortho") return 1;
    if (norm != "backward" && norm != "forward")
        throw Error(arguments.schema().name + ": found norm='" + norm + "', expected 'backward', 'forward' or 'ortho'");
    return (norm == "forward") == forward ? 2 : 0;
}

/// The dimension cut or filled up with zeros at its end.
NodeValue resized(GraphBuilder& b, const NodeValue& value, std::int64_t dim, std::int64_t size) {
    const auto d = static_cast<std::size_t>(dim);
    const std::int64_t has = value.meta.sizes[d];
    if (has == size) return value;
    if (has > size) return b.call("aten.slice.Tensor", {arg(value), dim, 0, size});
    Sizes padding(2 * (value.meta.sizes.size() - d), 0);
    padding.back() = size - has;
    return b.call("aten.constant_pad_nd.default", {arg(value), Arg::ints(padding), 0});
}

/// What is transformed, and how long each dimension is then.
struct Call {
    std::vector<std::int64_t> dims, lengths;
};
template <class T>
Call call_of(const Arguments<T>& arguments, const Sizes& sizes, Kind kind) {
    const auto rank = static_cast<std::int64_t>(sizes.size());
    Call call;
    std::vector<std::int64_t> given;
    if (arguments.schema().param("n")) {
        call.dims = {wrap_dim(arguments.integer("dim"), rank)};
        if (arguments.has("n")) given = {arguments.integer("n")};
    } else {
        given = arguments.integers("s");
        call.dims = arguments.integers("dim");
        const std::int64_t count = !given.empty() ? static_cast<std::int64_t>(given.size()) : rank;
        if (call.dims.empty())
            for (std::int64_t d = std::max<std::int64_t>(rank - count, 0); d < rank; ++d) call.dims.push_back(d);
        for (std::int64_t& dim : call.dims) dim = wrap_dim(dim, rank);
    }
    if (!given.empty() && given.size() != call.dims.size())
        throw Error(arguments.schema().name + ": found " + std::to_string(given.size()) + " sizes for " +
                    std::to_string(call.dims.size()) + " dimensions, expected one size for each dimension");
    if (sizes.empty() || call.dims.empty())
        throw Error(arguments.schema().name + ": found no dimension to transform, expected one or more");
    for (std::size_t i = 0; i < call.dims.size(); ++i) {
        std::int64_t length = sizes[static_cast<std::size_t>(call.dims[i])];
        if (kind == Kind::c2r && i + 1 == call.dims.size()) length = 2 * (length - 1);
        if (!given.empty() && given[i] != -1) length = given[i];
        if (length < 1)
            throw Error(arguments.schema().name + ": found a transform of " + std::to_string(length) +
                        " elements, expected 1 or more");
        call.lengths.push_back(length);
    }
    return call;
}

template <Kind kKind, bool kForward>
std::vector<NodeRef> decompose_fft(GraphBuilder& b, const Arguments<NodeValue>& arguments) {
    NodeValue value = arguments.tensor("self");
    if (kKind == Kind::r2c && is_complex(value.meta.dtype))
        throw Error(arguments.schema().name + ": found a complex tensor, expected real numbers");
    // Integers become f32; real numbers become complex where the transform wants them.
    const DType real = floating_result(value.meta.dtype);
    const DType wanted = kKind == Kind::r2c ? real : complex_of(real);
    value = b.convert(value, wanted);
    const Call call = call_of(arguments, value.meta.sizes, kKind);
    for (std::size_t i = 0; i < call.dims.size(); ++i) {
        const bool half = kKind == Kind::c2r && i + 1 == call.dims.size();
        value = resized(b, value, call.dims[i], half ? call.lengths[i] / 2 + 1 : call.lengths[i]);
    }
    const std::int64_t normalization = normalization_of(arguments, kForward);
    const Arg dims = Arg::ints(call.dims);
    if (kKind == Kind::c2c) return {b.call("aten._fft_c2c.default", {arg(value), dims, normalization, kForward}).ref};
    if (kKind == Kind::r2c) return {b.call("aten._fft_r2c.default", {arg(value), dims, normalization, true}).ref};
    return {b.call("aten._fft_c2r.default", {arg(value), dims, normalization, call.lengths.back()}).ref};
}

/// Rolled by half of each dimension, so that frequency 0 is in the middle; inverse: back.
template <bool kInverse>
std::vector<NodeRef> decompose_shift(GraphBuilder& b, const Arguments<NodeValue>& arguments) {
    const NodeValue self = arguments.tensor("self");
    const auto rank = static_cast<std::int64_t>(self.meta.sizes.size());
    std::vector<std::int64_t> dims = arguments.integers("dim"), shifts;
    if (!arguments.has("dim"))
        for (std::int64_t d = 0; d < rank; ++d) dims.push_back(d);
    for (std::int64_t& dim : dims) {
        dim = wrap_dim(dim, rank);
        const std::int64_t size = self.meta.sizes[static_cast<std::size_t>(dim)];
        shifts.push_back(kInverse ? (size + 1) / 2 : size / 2);
    }
    return {b.call("aten.roll.default", {arg(self), Arg::ints(shifts), Arg::ints(dims)}).ref};
}

// --- stft: the transforms of overlapping frames ---

/// Ones, or the window given, in the middle of n_fft zeros; nothing where frames are taken as they are.
std::optional<NodeValue> stft_window(GraphBuilder& b, const Arguments<NodeValue>& arguments, std::int64_t n_fft) {
    const std::string& op = arguments.schema().name;
    const std::int64_t length = arguments.optional_integer("win_length").value_or(n_fft);
    std::optional<NodeValue> window = arguments.optional_tensor("window");
    if (length < 1 || length > n_fft)
        throw Error(op + ": found win_length=" + std::to_string(length) +
                    ", expected 1 to n_fft=" + std::to_string(n_fft));
    if (window && window->meta.sizes != Sizes{length})
        throw Error(op + ": found a window of sizes " + to_string(window->meta.sizes) + ", expected " +
                    to_string(Sizes{length}));
    if (length == n_fft) return window;
    const DType dtype = real_of(arguments.tensor("self").meta.dtype);
    if (!window) window = b.call("aten.ones.default", {Arg::ints({length})}, {{"dtype", dtype}});
    const std::int64_t left = (n_fft - length) / 2;
    return b.call("aten.constant_pad_nd.default", {arg(*window), Arg::ints({left, n_fft - length - left}), 0});
}

std::vector<NodeRef> decompose_stft(GraphBuilder& b, const Arguments<NodeValue>& arguments) {
    NodeValue signal = arguments.tensor("self");
    const bool batched = signal.meta.sizes.size() == 2;
    if (!batched && signal.meta.sizes.size() != 1)
        throw Error("stft: found a signal of sizes " + to_string(signal.meta.sizes) + ", expected 1 or 2 dimensions");
    const std::int64_t n_fft = arguments.integer("n_fft"), length = signal.meta.sizes.back();
    const std::int64_t hop = arguments.optional_integer("hop_length").value_or(n_fft / 4);
    if (n_fft < 1 || n_fft > length || hop < 1)
        throw Error("stft: found n_fft=" + std::to_string(n_fft) + " and hop_length=" + std::to_string(hop) +
                    " for a signal of " + std::to_string(length) + " elements, expected n_fft from 1 to " +
                    std::to_string(length) + " and hop_length of at least 1");
    NodeValue frames = b.call("aten.unfold.default", {arg(signal), -1, n_fft, hop});
    if (const std::optional<NodeValue> window = stft_window(b, arguments, n_fft))
        frames = b.call("aten.mul.Tensor", {arg(frames), arg(*window)});
    const bool complex = is_complex(frames.meta.dtype);
    const bool onesided = arguments.has("onesided") ? arguments.boolean("onesided") : !complex;
    if (complex && onesided)
        throw Error("stft: found a complex signal or window with onesided=true, expected real numbers",
                    "pass onesided=false");
    const std::int64_t normalization = arguments.boolean("normalized") ? 1 : 0;
    const Arg last = Arg::ints({static_cast<std::int64_t>(frames.meta.sizes.size()) - 1});
    const NodeValue spectrum = complex ? b.call("aten._fft_c2c.default", {arg(frames), last, normalization, true})
                                       : b.call("aten._fft_r2c.default", {arg(frames), last, normalization, onesided});
    NodeValue result = b.call("aten.transpose.int", {arg(spectrum), -2, -1});
    result = b.call("aten.clone.default", {arg(result)});
    const bool parts = arguments.has("return_complex") ? !arguments.boolean("return_complex") : !complex;
    return {parts ? b.call("aten.view_as_real.default", {arg(result)}).ref : result.ref};
}

// --- istft: frames transformed back, laid over each other and divided by how much of the window lies there ---

/// Each of the frames [N, frames, n_fft] `hop` behind the one before, added where they overlap: [N, length].
NodeValue overlapped(GraphBuilder& b, const NodeValue& frames, std::int64_t hop) {
    const std::int64_t count = frames.meta.sizes[1], n_fft = frames.meta.sizes[2], length = n_fft + hop * (count - 1);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < count * n_fft; ++i) places.push_back(i / n_fft * hop + i % n_fft);
    const NodeValue flat =
        b.call("aten.reshape.default", {arg(frames), Arg::ints({frames.meta.sizes[0], count * n_fft})});
    const NodeValue zeros =
        b.call("aten.zeros.default", {Arg::ints({frames.meta.sizes[0], length})}, {{"dtype", frames.meta.dtype}});
    const Tensor at = Tensor::of(places, {count * n_fft});
    return b.call("aten.index_add.default", {arg(zeros), 1, arg(b.constant(at, "places")), arg(flat)});
}

/// The signal of each frame, [N, frames, n_fft], by the window.
NodeValue frames_back(GraphBuilder& b, const Arguments<NodeValue>& arguments, const NodeValue& window) {
    const NodeValue self = arguments.tensor("self");
    const std::int64_t n_fft = window.meta.sizes[0], frequencies = self.meta.sizes[self.meta.sizes.size() - 2];
    const bool complex = arguments.boolean("return_complex");
    const bool onesided = arguments.has("onesided") ? arguments.boolean("onesided") : frequencies != n_fft;
    if (frequencies != (onesided ? n_fft / 2 + 1 : n_fft))
        throw Error("istft: found " + std::to_string(frequencies) + " frequencies, expected " +
                    std::to_string(onesided ? n_fft / 2 + 1 : n_fft) + " for n_fft=" + std::to_string(n_fft) +
                    " with onesided=" + (onesided ? "true" : "false"));
    if (complex && onesided)
        throw Error("istft: found onesided=true with return_complex=true, expected at most one of the two to be true",
                    "pass return_complex=false for a real signal");
    const Sizes sizes = {element_count(Sizes(self.meta.sizes.begin(), self.meta.sizes.end() - 2)), frequencies,
                         self.meta.sizes.back()};
    NodeValue spectrum = b.call("aten.reshape.default", {arg(self), Arg::ints(sizes)});
    spectrum = b.call("aten.transpose.int", {arg(spectrum), 1, 2});
    const std::int64_t normalization = arguments.boolean("normalized") ? 1 : 2;
    const Arg last = Arg::ints({2});
    if (!complex && !onesided) spectrum = b.call("aten.slice.Tensor", {arg(spectrum), 2, 0, n_fft / 2 + 1});
    const NodeValue frames = complex ? b.call("aten._fft_c2c.default", {arg(spectrum), last, normalization, false})
                                     : b.call("aten._fft_c2r.default", {arg(spectrum), last, normalization, n_fft});
    return b.call("aten.mul.Tensor", {arg(frames), arg(window)});
}

std::vector<NodeRef> decompose_istft(GraphBuilder& b, const Arguments<NodeValue>& arguments) {
    const NodeValue self = arguments.tensor("self");
    const Sizes& sizes = self.meta.sizes;
    const std::int64_t n_fft = arguments.integer("n_fft");
    const std::int64_t hop = arguments.optional_integer("hop_length").value_or(n_fft / 4);
    const std::optional<std::int64_t> wanted = arguments.optional_integer("length");
    if ((sizes.size() != 2 && sizes.size() != 3) || element_count(sizes) == 0)
        throw Error("istft: found a spectrum of sizes " + to_string(sizes) +
                    ", expected 2 or 3 dimensions, none of size 0");
    if (n_fft < 1 || hop < 1 || (wanted && *wanted < 1))
        throw Error("istft: found n_fft=" + std::to_string(n_fft) + ", hop_length=" + std::to_string(hop) +
                    " and length=" + std::to_string(wanted.value_or(1)) + ", expected each to be at least 1");
    std::optional<NodeValue> window = stft_window(b, arguments, n_fft);
    if (!window) window = b.call("aten.ones.default", {Arg::ints({n_fft})}, {{"dtype", real_of(self.meta.dtype)}});
    if (is_complex(window->meta.dtype) && !arguments.boolean("return_complex"))
        throw Error("istft: found a complex window with return_complex=false, expected a real window",
                    "pass return_complex=true: the signal of a complex window is complex");
    const NodeValue frames = frames_back(b, arguments, *window);
    NodeValue squares = b.call("aten.mul.Tensor", {arg(*window), arg(*window)});
    squares = b.call("aten.expand.default", {arg(squares), Arg::ints({1, frames.meta.sizes[1], n_fft})});
    NodeValue signal = overlapped(b, frames, hop), weight = overlapped(b, squares, hop);
    const bool center = arguments.boolean("center");
    const std::int64_t all = signal.meta.sizes[1], start = center ? n_fft / 2 : 0;
    const std::int64_t end = std::min(all, wanted ? start + *wanted : center ? all - n_fft / 2 : all);
    const auto cut = [&](const NodeValue& x) { return b.call("aten.slice.Tensor", {arg(x), 1, start, end}); };
    signal = b.call("aten.div.Tensor", {arg(cut(signal)), arg(cut(weight))});
    if (wanted && *wanted > signal.meta.sizes[1])
        signal =
            b.call("aten.constant_pad_nd.default", {arg(signal), Arg::ints({0, *wanted - signal.meta.sizes[1]}), 0});
    return {sizes.size() == 3 ? signal.ref : b.call("aten.select.int", {arg(signal), 0, 0}).ref};
}

// --- Records ---

constexpr DTypeSet kTransformed = set_of(DType::f32) | set_of(DType::f64);
constexpr DTypeSet kTaken = kTransformed | kIntegers | kBool;

template <Kind kKind, bool kForward>
constexpr OpDef fft_op(std::string_view name, std::string_view schema, std::string_view doc) {
    return {.name = name,
            .doc = doc,
            .schema = schema,
            .dtypes = kKind == Kind::r2c ? kTaken : kTaken | kComplex,
            .decompose = decompose_fft<kKind, kForward>};
}

constexpr OpDef kForms[] = {
    fft_op<Kind::c2c, true>("aten.fft_fft.default",
                            "fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.fft.html"),
    fft_op<Kind::c2c, false>("aten.fft_ifft.default",
                             "fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.ifft.html"),
    fft_op<Kind::r2c, true>("aten.fft_rfft.default",
                            "fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.rfft.html"),
    fft_op<Kind::c2r, false>("aten.fft_irfft.default",
                             "fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.irfft.html"),
    fft_op<Kind::c2c, true>("aten.fft_fft2.default",
                            "fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.fft2.html"),
    fft_op<Kind::c2c, false>("aten.fft_ifft2.default",
                             "fft_ifft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.ifft2.html"),
    fft_op<Kind::r2c, true>("aten.fft_rfft2.default",
                            "fft_rfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.rfft2.html"),
    fft_op<Kind::c2r, false>("aten.fft_irfft2.default",
                             "fft_irfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.irfft2.html"),
    fft_op<Kind::c2c, true>("aten.fft_fftn.default",
                            "fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.fftn.html"),
    fft_op<Kind::c2c, false>("aten.fft_ifftn.default",
                             "fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.ifftn.html"),
    fft_op<Kind::r2c, true>("aten.fft_rfftn.default",
                            "fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.rfftn.html"),
    fft_op<Kind::c2r, false>("aten.fft_irfftn.default",
                             "fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.irfftn.html"),
    {.name = "aten.stft.default",
     .doc = "transforms of overlapping frames: https://pytorch.org/docs/stable/generated/torch.stft.html",
     .schema = "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
               "normalized=False, bool? onesided=None, bool? return_complex=None) -> Tensor",
     .dtypes = kTransformed | kComplex,
     .decompose = decompose_stft},
    {.name = "aten.istft.default",
     .doc = "the signal of transforms of its frames: https://pytorch.org/docs/stable/generated/torch.istft.html",
     .schema = "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
               "center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) "
               "-> Tensor",
     .dtypes = kComplex,
     .decompose = decompose_istft},
    {.name = "aten.fft_fftshift.default",
     .doc = "https://pytorch.org/docs/stable/generated/torch.fft.fftshift.html",
     .schema = "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
     .dtypes = kMoved,
     .decompose = decompose_shift<false>},
    {.name = "aten.fft_ifftshift.default",
     .doc = "https://pytorch.org/docs/stable/generated/torch.fft.ifftshift.html",
     .schema = "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
     .dtypes = kMoved,
     .decompose = decompose_shift<true>},
};

}  // namespace

std::span<const OpDef> fft_form_ops() { return kForms; }

}  // namespace whittle
