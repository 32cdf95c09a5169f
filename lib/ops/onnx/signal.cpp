// ONNX's signal processing: HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix, DFT, STFT.
#include <cmath>
#include <numbers>

#include "ops/core/integer.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Of a table that is computed while a graph is read or compiled.
constexpr std::int64_t kMostElements = std::int64_t{1} << 24;

/// Throws Error for a table of more elements.
void check_table(std::int64_t rows, std::int64_t columns) {
    if (rows > 0 && columns > kMostElements / rows)
        throw Error("found a table of " + std::to_string(rows) + " by " + std::to_string(columns) +
                    " elements, expected at most " + std::to_string(kMostElements) + " elements");
}

/// One number among constants.
std::int64_t known_size(const Call& c, std::string_view name) {
    const Ints values = known_ints(c, name);
    if (values.size() != 1 || values[0] < 0)
        throw Error("found '" + std::string(name) + "' with values " + to_string(values) +
                    ", expected one nonnegative integer");
    return values[0];
}

/// a0 - a1 cos(x) + a2 cos(2x) over one period, or with both ends when it is not periodic.
CallResults cosine_window(const Call& c, double a0, double a1, double a2) {
    const std::int64_t size = known_size(c, "size");
    check_table(size, 1);
    const auto steps = static_cast<double>(c.integer("periodic") != 0 ? size : size - 1);
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; ++i) {
        const double x = steps == 0 ? 0 : 2 * std::numbers::pi * static_cast<double>(i) / steps;
        values.push_back(a0 - a1 * std::cos(x) + a2 * std::cos(2 * x));
    }
    return c.constant(Tensor::of(values, {size}).to(dtype_of_code(c.integer("output_datatype"))));
}

CallResults hann(const Call& c) { return cosine_window(c, 0.5, 0.5, 0); }
CallResults hamming(const Call& c) { return cosine_window(c, 25.0 / 46, 21.0 / 46, 0); }
CallResults blackman(const Call& c) { return cosine_window(c, 0.42, 0.5, 0.08); }

/// Triangles over the bins of a spectrum, equally far apart on the mel scale; each rises from the centre of the one
/// before and falls to that of the next.
CallResults mel_weight_matrix(const Call& c) {
    const std::int64_t mels = known_size(c, "num_mel_bins"), length = known_size(c, "dft_length");
    const std::int64_t rate = known_size(c, "sample_rate"), bins = length / 2 + 1;
    check_table(bins, mels);
    check_table(mels, 1);
    const auto mel = [&](const char* name) {
        return 2595 * std::log10(1 + known_operand(c, name).item().to_double() / 700);
    };
    const double low = mel("lower_edge_hertz"), step = (mel("upper_edge_hertz") - low) / static_cast<double>(mels + 2);
    if (rate < 1) throw Error("found sample_rate=0, expected at least 1");
    Ints edges;
    for (std::int64_t i = 0; i < mels + 2; ++i) {
        const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
        const double edge = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
        if (!(edge >= 0 && edge < static_cast<double>(bins)))
            throw Error("found the edge of a mel filter in bin " + std::to_string(edge) +
                        ", expected a bin from 0 to " + std::to_string(bins - 1));
        edges.push_back(whole_number(edge, "an edge"));
    }
    std::vector<double> weights(static_cast<std::size_t>(bins * mels), 0.0);
    const auto weight = [&](std::int64_t bin, std::size_t mel) -> double& {
        return weights[static_cast<std::size_t>(bin * mels) + mel];
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(mels); ++i) {
        const std::int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
        if (left == centre) weight(centre, i) = 1;
        for (std::int64_t bin = left; left < centre && bin <= centre; ++bin)
            weight(bin, i) = static_cast<double>(bin - left) / static_cast<double>(centre - left);
        for (std::int64_t bin = centre; bin < right; ++bin)
            weight(bin, i) = static_cast<double>(right - bin) / static_cast<double>(right - centre);
    }
    return c.constant(Tensor::of(weights, {bins, mels}).to(dtype_of_code(c.integer("output_datatype"))));
}

/// The transform of the last dimension of a complex signal to `results` frequencies, as products with matrices of
/// cosines and sines. In f64, as sums of many terms that cancel want it. [..., n] -> [..., results, 2]
V transform(const Call& c, const V& real, const OptionalV& imaginary, std::int64_t results, bool inverse) {
    const std::int64_t n = size_of_dim(real, real.rank() - 1);
    check_table(n, results);
    std::vector<double> cosines, sines;
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < results; ++k) {
            const double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
            const double angle = (inverse ? 2 : -2) * std::numbers::pi * turns;
            cosines.push_back(std::cos(angle) / (inverse ? static_cast<double>(n) : 1));
            sines.push_back(std::sin(angle) / (inverse ? static_cast<double>(n) : 1));
        }
    const V cos = c.constant(Tensor::of(cosines, {n, results})), sin = c.constant(Tensor::of(sines, {n, results}));
    V re = matmul(real, cos), im = matmul(real, sin);
    if (imaginary) {
        re = re - matmul(*imaginary, sin);
        im = im + matmul(*imaginary, cos);
    }
    return stack(Vs{re, im}, re.rank());
}

/// Real and imaginary part of a signal whose last dimension holds them.
struct ComplexParts {
    V real;
    OptionalV imaginary;
};

ComplexParts parts_of(const V& signal) {
    const std::int64_t last = signal.rank() - 1, parts = last < 1 ? 0 : size_of_dim(signal, last);
    if (parts != 1 && parts != 2)
        throw Error("found a signal of sizes " + to_string(signal.sizes()) +
                    ", expected a last dimension of 1 (real) or 2 (complex)");
    const V exact = cast(signal, DType::f64);
    const auto part = [&](std::int64_t i) { return select(exact, last, i); };
    return {part(0), parts == 2 ? std::optional(part(1)) : std::nullopt};
}

CallResults dft(const Call& c) {
    const V input = c.tensor("input");
    ComplexParts signal = parts_of(input);
    const std::int64_t rank = signal.real.rank();
    // An attribute until opset 20 made it an operand, and counted from the end when missing.
    const std::int64_t given = c.has("axis_value") ? known_operand(c, "axis_value").item().to_integer()
                               : opset(c) < 20     ? c.integer("axis")
                                                   : std::int64_t{-2};
    const std::int64_t axis = wrap_dim(given, rank + 1);
    if (axis == rank)
        throw Error("found axis=" + std::to_string(given) +
                    ", the axis of real and imaginary parts, expected an axis of the signal");
    const std::int64_t size = size_of_dim(signal.real, axis);
    const std::int64_t length = c.has("dft_length") ? known_size(c, "dft_length") : size;
    const bool inverse = c.integer("inverse") != 0, onesided = c.integer("onesided") != 0;
    if (length < 1) throw Error("found a transform of length 0, expected at least 1");
    if (inverse && onesided) throw Error("found inverse=1 and onesided=1, expected at most one of them to be 1");
    const auto arranged = [&](const V& given) {  // the axis last, and cut or filled with zeros
        const V x = movedim(given, axis, -1);
        if (length < size) return part(x, rank - 1, 0, length);
        return length == size ? x : constant_pad_nd(x, Ints{0, length - size}, 0.0);
    };
    signal.real = arranged(signal.real);
    if (signal.imaginary) signal.imaginary = arranged(*signal.imaginary);
    const V spectrum = transform(c, signal.real, signal.imaginary, onesided ? length / 2 + 1 : length, inverse);
    return cast(movedim(spectrum, rank - 1, axis), input.dtype());
}

/// The transforms of frames of the signal, each under a window.
CallResults onnx_stft(const Call& c) {
    const V input = c.tensor("signal");
    const ComplexParts signal = parts_of(input);
    if (signal.real.rank() != 2)
        throw Error("found a signal of sizes " + to_string(input.sizes()) +
                    ", expected [batch, length, 1] (real) or [batch, length, 2] (complex)");
    const std::int64_t step = known_size(c, "frame_step");
    if (!c.has("frame_length") && !c.has("window"))
        throw Error("found neither frame_length nor window, expected frame_length, window or both");
    const std::int64_t length = c.has("frame_length") ? known_size(c, "frame_length") : c.tensor("window").numel();
    if (step < 1 || length < 1 || length > size_of_dim(signal.real, 1))
        throw Error(
            "found frames of " + std::to_string(length) + " elements and frame_step=" + std::to_string(step) +
            " for a signal of " + std::to_string(size_of_dim(signal.real, 1)) +
            " elements, expected frames of at least 1 element that fit in the signal, and a frame_step of at least "
            "1");
    const auto framed = [&](const V& part) {
        const V frames = unfold(part, 1, length, step);
        return c.has("window") ? frames * cast(c.tensor("window"), DType::f64) : frames;
    };
    const OptionalV imaginary = signal.imaginary ? std::optional(framed(*signal.imaginary)) : std::nullopt;
    const std::int64_t results = c.integer("onesided") != 0 ? length / 2 + 1 : length;
    return cast(transform(c, framed(signal.real), imaginary, results, false), input.dtype());
}

constexpr DTypeSet kSizes = set_of(DType::i64) | set_of(DType::i32);

constexpr OpDef kSignalOps[] = {
    composite("HannWindow(Tensor size, *, DataType output_datatype=1, int periodic=1) -> Tensor", "A raised cosine",
              kSizes, hann),
    composite("HammingWindow(Tensor size, *, DataType output_datatype=1, int periodic=1) -> Tensor",
              "A raised cosine that does not reach zero", kSizes, hamming),
    composite("BlackmanWindow(Tensor size, *, DataType output_datatype=1, int periodic=1) -> Tensor",
              "A sum of two cosines", kSizes, blackman),
    composite("MelWeightMatrix(Tensor num_mel_bins, Tensor dft_length, Tensor sample_rate, Tensor lower_edge_hertz, "
              "Tensor upper_edge_hertz, *, DataType output_datatype=1) -> Tensor",
              "The matrix that converts the bins of a spectrum to the mel scale", kSizes, mel_weight_matrix),
    composite("DFT(Tensor input, Tensor? dft_length=None, Tensor? axis_value=None, *, int axis=1, int inverse=0, int "
              "onesided=0) -> Tensor",
              "The discrete Fourier transform along one dimension", kFloating, dft),
    composite("STFT(Tensor signal, Tensor frame_step, Tensor? window=None, Tensor? frame_length=None, *, int "
              "onesided=1) -> Tensor",
              "The Fourier transforms of windows of a signal", kFloating, onnx_stft),
};

}  // namespace

std::span<const OpDef> onnx_signal_ops() { return kSignalOps; }

}  // namespace whittle
