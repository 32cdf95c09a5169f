// The functions of torch.fft, stft and istft: they cut, pad and call the transforms of fft.cpp.
// Definitions: https://pytorch.org/docs/stable/fft.html
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/tensor_options.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

// --- torch.fft: fft(self, n, dim, norm) and their like over several dimensions ---

enum class Kind { c2c, r2c, c2r };

/// norm: "backward" (none) scales the inverse by 1/n, "forward" the transform, "ortho" both by 1/sqrt(n).
std::int64_t normalization_of(const AnyArguments auto& arguments, bool forward) {
    const std::string norm = arguments.has("norm") ? arguments.text("norm") : "backward";
    if (norm == "ortho") return 1;
    if (norm != "backward" && norm != "forward")
        throw Error(arguments.schema().name + ": found norm='" + norm + "', expected 'backward', 'forward' or 'ortho'");
    return (norm == "forward") == forward ? 2 : 0;
}

/// The dimension cut or filled up with zeros at its end.
V resized(const V& value, std::int64_t dim, std::int64_t size) {
    const auto d = static_cast<std::size_t>(dim);
    const std::int64_t has = value.sizes()[d];
    if (has == size) return value;
    if (has > size) return slice(value, dim, 0, size);
    Sizes padding(2 * (value.sizes().size() - d), 0);
    padding.back() = size - has;
    return constant_pad_nd(value, padding);
}

/// What is transformed, and how long each dimension is then.
struct Transform {
    std::vector<std::int64_t> dims, lengths;
};
Transform transform_of(const AnyArguments auto& arguments, const Sizes& sizes, Kind kind) {
    const auto rank = static_cast<std::int64_t>(sizes.size());
    Transform transform;
    std::vector<std::int64_t> given;
    if (arguments.schema().param("n")) {
        transform.dims = {wrap_dim(arguments.integer("dim"), rank)};
        if (arguments.has("n")) given = {arguments.integer("n")};
    } else {
        given = arguments.integers("s");
        transform.dims = arguments.integers("dim");
        const std::int64_t count = !given.empty() ? static_cast<std::int64_t>(given.size()) : rank;
        if (transform.dims.empty())
            for (std::int64_t d = std::max<std::int64_t>(rank - count, 0); d < rank; ++d) transform.dims.push_back(d);
        for (std::int64_t& dim : transform.dims) dim = wrap_dim(dim, rank);
    }
    if (!given.empty() && given.size() != transform.dims.size())
        throw Error(arguments.schema().name + ": found " + std::to_string(given.size()) + " sizes for " +
                    std::to_string(transform.dims.size()) + " dimensions, expected one size for each dimension");
    if (sizes.empty() || transform.dims.empty())
        throw Error(arguments.schema().name + ": found no dimension to transform, expected one or more");
    for (std::size_t i = 0; i < transform.dims.size(); ++i) {
        std::int64_t length = sizes[static_cast<std::size_t>(transform.dims[i])];
        if (kind == Kind::c2r && i + 1 == transform.dims.size()) length = 2 * (length - 1);
        if (!given.empty() && given[i] != -1) length = given[i];
        if (length < 1)
            throw Error(arguments.schema().name + ": found a transform of " + std::to_string(length) +
                        " elements, expected 1 or more");
        transform.lengths.push_back(length);
    }
    return transform;
}

/// Transforms the dimensions but the last one, if there are any.
V outer_transformed(const V& value, Ints dims, std::int64_t normalization, bool forward) {
    dims.pop_back();
    return dims.empty() ? value : _fft_c2c(value, dims, normalization, forward);
}

/// Hermitian transforms are those of a signal, or of frequencies, of which half is given: the direction is the other
/// one, and so are the conjugates.
template <Kind kKind, bool kForward, bool kHermitian = false>
CallResults decompose_fft(const Call& c) {
    V value = c.tensor("self");
    if (kKind == Kind::r2c && is_complex(value.dtype()))
        throw Error(c.schema().name + ": found a complex tensor, expected real numbers");
    // Integers become f32; real numbers become complex where the transform wants them.
    const DType real = floating_result(value.dtype());
    const DType wanted = kKind == Kind::r2c ? real : complex_of(real);
    value = c.builder().convert(value, wanted);
    const Transform transform = transform_of(c, value.sizes(), kKind);
    for (std::size_t i = 0; i < transform.dims.size(); ++i) {
        const bool half = kKind == Kind::c2r && i + 1 == transform.dims.size();
        value = resized(value, transform.dims[i], half ? transform.lengths[i] / 2 + 1 : transform.lengths[i]);
    }
    const std::int64_t normalization = normalization_of(c, kForward);
    const Ints& dims = transform.dims;
    if (kHermitian && kKind == Kind::c2r) {
        const V half = conjugate(outer_transformed(value, dims, normalization, kForward));
        return _fft_c2r(half, Ints{dims.back()}, normalization, transform.lengths.back());
    }
    if (kHermitian) {
        const V half = conjugate(_fft_r2c(value, Ints{dims.back()}, normalization, true));
        return outer_transformed(half, dims, normalization, kForward);
    }
    if (kKind == Kind::c2c) return _fft_c2c(value, dims, normalization, kForward);
    if (kKind == Kind::r2c) return _fft_r2c(value, dims, normalization, true);
    return _fft_c2r(value, dims, normalization, transform.lengths.back());
}

/// The frequencies of n samples, d apart, in the order of a transform: from 0 up, then the negative ones.
template <bool kReal>
CallResults decompose_frequencies(const Call& c) {
    check_options(c);
    const std::int64_t n = c.integer("n");
    const DType dtype = c.dtype("dtype").value_or(DType::f32);
    if (n < 1 || !(is_floating(dtype) || is_complex(dtype)))
        throw Error(c.schema().name + ": found n=" + std::to_string(n) + " and dtype=" + std::string(name(dtype)) +
                    ", expected n of at least 1 and a floating-point dtype");
    const double step = 1 / (static_cast<double>(n) * c.number("d"));
    if (kReal) return arange(c.builder(), n / 2 + 1, dtype) * step;
    const std::int64_t positive = n - n / 2;
    const V up = arange(c.builder(), positive, dtype);
    return (n == 1 ? up : cat(Vs{up, arange(c.builder(), positive - n, 0, dtype)})) * step;
}

/// Rolled by half of each dimension, so that frequency 0 is in the middle; inverse: back.
template <bool kInverse>
CallResults decompose_shift(const Call& c) {
    const V self = c.tensor("self");
    const auto rank = static_cast<std::int64_t>(self.sizes().size());
    std::vector<std::int64_t> dims = c.integers("dim"), shifts;
    if (!c.has("dim"))
        for (std::int64_t d = 0; d < rank; ++d) dims.push_back(d);
    for (std::int64_t& dim : dims) {
        dim = wrap_dim(dim, rank);
        const std::int64_t size = self.sizes()[static_cast<std::size_t>(dim)];
        shifts.push_back(kInverse ? size - size / 2 : size / 2);
    }
    return roll(self, shifts, dims);
}

// --- stft: the transforms of overlapping frames ---

/// Ones, or the window given, in the middle of n_fft zeros; nothing where frames are taken as they are.
OptionalV stft_window(const Call& arguments, std::int64_t n_fft) {
    const std::string& op = arguments.schema().name;
    const std::int64_t length = arguments.optional_integer("win_length").value_or(n_fft);
    OptionalV window = arguments.optional_tensor("window");
    if (length < 1 || length > n_fft)
        throw Error(op + ": found win_length=" + std::to_string(length) +
                    ", expected 1 to n_fft=" + std::to_string(n_fft));
    if (window && window->meta.sizes != Sizes{length})
        throw Error(op + ": found a window of sizes " + to_string(window->meta.sizes) + ", expected " +
                    to_string(Sizes{length}));
    if (length == n_fft) return window;
    const DType dtype = real_of(arguments.tensor("self").dtype());
    if (!window) window = ones(arguments.builder(), Ints{length}, dtype);
    const std::int64_t left = (n_fft - length) / 2;
    return constant_pad_nd(*window, Ints{left, n_fft - length - left});
}

CallResults decompose_stft(const Call& c) {
    V signal = c.tensor("self");
    const bool batched = signal.sizes().size() == 2;
    if (!batched && signal.sizes().size() != 1)
        throw Error("stft: found a signal of sizes " + to_string(signal.sizes()) + ", expected 1 or 2 dimensions");
    const std::int64_t n_fft = c.integer("n_fft"), length = signal.sizes().back();
    const std::int64_t hop = c.optional_integer("hop_length").value_or(n_fft / 4);
    if (n_fft < 1 || n_fft > length || hop < 1)
        throw Error("stft: found n_fft=" + std::to_string(n_fft) + " and hop_length=" + std::to_string(hop) +
                    " for a signal of " + std::to_string(length) + " elements, expected n_fft from 1 to " +
                    std::to_string(length) + " and hop_length of at least 1");
    V frames = unfold(signal, -1, n_fft, hop);
    if (const OptionalV window = stft_window(c, n_fft)) frames = frames * *window;
    const bool complex = is_complex(frames.dtype());
    const bool onesided = c.has("onesided") ? c.boolean("onesided") : !complex;
    if (complex && onesided)
        throw Error(std::string("stft: found a complex ") + (is_complex(signal.dtype()) ? "signal" : "window") +
                        " with onesided=true, expected a real signal and a real window",
                    "pass onesided=false");
    const std::int64_t normalization = c.boolean("normalized") ? 1 : 0;
    const Ints last = {frames.rank() - 1};
    const V spectrum =
        complex ? _fft_c2c(frames, last, normalization, true) : _fft_r2c(frames, last, normalization, onesided);
    V result = transpose(spectrum, -2, -1);
    result = clone(result);
    const bool parts = c.has("return_complex") ? !c.boolean("return_complex") : !complex;
    return parts ? view_as_real(result) : result;
}

// --- istft: frames transformed back, laid over each other and divided by how much of the window lies there ---

/// Each of the frames [N, frames, n_fft] `hop` behind the one before, added where they overlap: [N, length].
V overlapped(const V& frames, std::int64_t hop) {
    const std::int64_t count = frames.sizes()[1], n_fft = frames.sizes()[2], length = n_fft + hop * (count - 1);
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < count * n_fft; ++i) places.push_back(i / n_fft * hop + i % n_fft);
    const V flat = reshape(frames, Ints{frames.sizes()[0], count * n_fft});
    const V zeros = aten::zeros(*frames.builder, Ints{frames.sizes()[0], length}, frames.dtype());
    const Tensor at = Tensor::of(places, {count * n_fft});
    return index_add(zeros, 1, frames.builder->constant(at, "places"), flat);
}

/// The signal of each frame, [N, frames, n_fft], by the window.
V frames_back(const Arguments<V>& arguments, const V& window) {
    const V self = arguments.tensor("self");
    const std::int64_t n_fft = window.sizes()[0], frequencies = self.sizes()[self.sizes().size() - 2];
    const bool complex = arguments.boolean("return_complex");
    const bool onesided = arguments.has("onesided") ? arguments.boolean("onesided") : frequencies != n_fft;
    if (frequencies != (onesided ? n_fft / 2 + 1 : n_fft))
        throw Error("istft: found " + std::to_string(frequencies) + " frequencies, expected " +
                    std::to_string(onesided ? n_fft / 2 + 1 : n_fft) + " for n_fft=" + std::to_string(n_fft) +
                    " with onesided=" + (onesided ? "true" : "false"));
    if (complex && onesided)
        throw Error("istft: found onesided=true with return_complex=true, expected at most one of the two to be true",
                    "pass return_complex=false for a real signal");
    const Sizes sizes = {element_count(Sizes(self.sizes().begin(), self.sizes().end() - 2)), frequencies,
                         self.sizes().back()};
    V spectrum = reshape(self, sizes);
    spectrum = transpose(spectrum, 1, 2);
    const std::int64_t normalization = arguments.boolean("normalized") ? 1 : 2;
    const Ints last = {2};
    if (!complex && !onesided) spectrum = slice(spectrum, 2, 0, n_fft / 2 + 1);
    const V frames =
        complex ? _fft_c2c(spectrum, last, normalization, false) : _fft_c2r(spectrum, last, normalization, n_fft);
    return frames * window;
}

CallResults decompose_istft(const Call& c) {
    const V self = c.tensor("self");
    const Sizes& sizes = self.sizes();
    const std::int64_t n_fft = c.integer("n_fft");
    const std::int64_t hop = c.optional_integer("hop_length").value_or(n_fft / 4);
    const std::optional<std::int64_t> wanted = c.optional_integer("length");
    if ((sizes.size() != 2 && sizes.size() != 3) || element_count(sizes) == 0)
        throw Error("istft: found a spectrum of sizes " + to_string(sizes) +
                    ", expected 2 or 3 dimensions, none of size 0");
    if (n_fft < 1 || hop < 1 || (wanted && *wanted < 1))
        throw Error("istft: found n_fft=" + std::to_string(n_fft) + ", hop_length=" + std::to_string(hop) +
                    " and length=" + std::to_string(wanted.value_or(1)) + ", expected each to be at least 1");
    OptionalV window = stft_window(c, n_fft);
    if (!window) window = ones(c.builder(), Ints{n_fft}, real_of(self.dtype()));
    if (is_complex(window->meta.dtype) && !c.boolean("return_complex"))
        throw Error("istft: found a complex window with return_complex=false, expected a real window",
                    "pass return_complex=true: the signal of a complex window is complex");
    const V frames = frames_back(c, *window);
    V squares = *window * *window;
    squares = expand(squares, Ints{1, frames.sizes()[1], n_fft});
    V signal = overlapped(frames, hop), weight = overlapped(squares, hop);
    const bool center = c.boolean("center");
    const std::int64_t all = signal.sizes()[1], start = center ? n_fft / 2 : 0;
    const std::int64_t end = std::min(all, wanted ? start + *wanted : center ? all - n_fft / 2 : all);
    const auto cut = [&](const V& x) { return slice(x, 1, start, end); };
    signal = cut(signal) / cut(weight);
    if (wanted && *wanted > signal.sizes()[1]) signal = constant_pad_nd(signal, Ints{0, *wanted - signal.sizes()[1]});
    return sizes.size() == 3 ? signal : select(signal, 0, 0);
}

constexpr DTypeSet kTransformed = set_of(DType::f32) | set_of(DType::f64);
constexpr DTypeSet kTaken = kTransformed | kIntegers | kBool;

template <Kind kKind, bool kForward, bool kHermitian = false>
constexpr OpDef fft_op(std::string_view schema, std::string_view doc) {
    return composite(schema, doc, kKind == Kind::r2c ? kTaken : kTaken | kComplex,
                     decompose_fft<kKind, kForward, kHermitian>);
}

constexpr OpDef kForms[] = {
    fft_op<Kind::c2c, true>("fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.fft.html"),
    fft_op<Kind::c2c, false>("fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.ifft.html"),
    fft_op<Kind::r2c, true>("fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.rfft.html"),
    fft_op<Kind::c2r, false>("fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.irfft.html"),
    fft_op<Kind::c2c, true>("fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.fft2.html"),
    fft_op<Kind::c2c, false>("fft_ifft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.ifft2.html"),
    fft_op<Kind::r2c, true>("fft_rfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.rfft2.html"),
    fft_op<Kind::c2r, false>("fft_irfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.irfft2.html"),
    fft_op<Kind::c2c, true>("fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.fftn.html"),
    fft_op<Kind::c2c, false>("fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.ifftn.html"),
    fft_op<Kind::r2c, true>("fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                            "https://pytorch.org/docs/stable/generated/torch.fft.rfftn.html"),
    fft_op<Kind::c2r, false>("fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
                             "https://pytorch.org/docs/stable/generated/torch.fft.irfftn.html"),
    fft_op<Kind::c2r, true, true>("fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
                                  "https://pytorch.org/docs/stable/generated/torch.fft.hfft.html"),
    fft_op<Kind::r2c, false, true>("fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
                                   "https://pytorch.org/docs/stable/generated/torch.fft.ihfft.html"),
    fft_op<Kind::c2r, true, true>(
        "fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        "https://pytorch.org/docs/stable/generated/torch.fft.hfft2.html"),
    fft_op<Kind::r2c, false, true>(
        "fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        "https://pytorch.org/docs/stable/generated/torch.fft.ihfft2.html"),
    fft_op<Kind::c2r, true, true>(
        "fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        "https://pytorch.org/docs/stable/generated/torch.fft.hfftn.html"),
    fft_op<Kind::r2c, false, true>(
        "fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        "https://pytorch.org/docs/stable/generated/torch.fft.ihfftn.html"),
    composite("fft_fftfreq(int n, float d=1.0, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
              "https://pytorch.org/docs/stable/generated/torch.fft.fftfreq.html", kFloating,
              decompose_frequencies<false>, no_gradient),
    composite("fft_rfftfreq(int n, float d=1.0, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
              "https://pytorch.org/docs/stable/generated/torch.fft.rfftfreq.html", kFloating,
              decompose_frequencies<true>, no_gradient),
    composite("stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
              "normalized=False, bool? onesided=None, bool? return_complex=None) -> Tensor",
              "Fourier transforms of overlapping frames of a signal", kTransformed | kComplex, decompose_stft),
    composite("istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
              "center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) "
              "-> Tensor",
              "the signal whose frames have the given Fourier transforms", kComplex, decompose_istft),
    composite("fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
              "https://pytorch.org/docs/stable/generated/torch.fft.fftshift.html", kMoved, decompose_shift<false>),
    composite("fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
              "https://pytorch.org/docs/stable/generated/torch.fft.ifftshift.html", kMoved, decompose_shift<true>),
};

}  // namespace

std::span<const OpDef> fft_form_ops() { return kForms; }

}  // namespace whittle
