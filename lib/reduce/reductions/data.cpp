// data: does it fail with contiguous data, zeros, ones, one value everywhere, small whole numbers, one decimal digit,
// or fewer digits? Real data are lost only where simpler data fail in the same way.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "reduce/reductions/reduction.h"
#include "tensor/random.h"
#include "tensor/reach.h"
#include "tensor/scalars.h"

namespace whittle::reduce {
namespace {

constexpr int kSmall = 4;            // whole numbers from -4 to 4
constexpr int kDoubleMantissa = 53;  // bits, the leading one included

/// Expanded tensors do.
bool overlaps_itself(const Tensor& tensor) {
    return std::ranges::any_of(tensor.strides(), [](std::int64_t stride) { return stride == 0; });
}

/// With the same strides, which may be what fails.
Tensor mapped(const Tensor& tensor, const std::function<double(double)>& f) {
    std::vector<double> values = tensor.values<double>();
    std::transform(values.begin(), values.end(), values.begin(), f);
    const Tensor made = Tensor::of(values, tensor.sizes()).to(tensor.dtype());
    return tensor.is_contiguous() || overlaps_itself(tensor) ? made : laid_out(made, tensor.strides());
}

/// `value` with `bits` bits of mantissa, rounded to nearest.
double rounded(double value, int bits) {
    if (!std::isfinite(value) || value == 0) return value;
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

/// So far from 1 that it is written with an exponent.
bool is_far(double value) {
    const double size = std::abs(value);
    return std::isfinite(value) && value != 0 && (size >= 1e15 || size <= 1e-15);
}

/// 1e+300 for 6.7e+299, of a number that is far from 1: powers of two are round there, too, but nobody reads them.
/// Others are themselves.
double decimal(double value, DType dtype) {
    if (!is_far(value) || (dtype != DType::f32 && dtype != DType::f64)) return value;
    char text[32];
    std::snprintf(text, sizeof text, "%.0e", value);
    const double one_digit = dtype == DType::f32 ? double{std::strtof(text, nullptr)} : std::strtod(text, nullptr);
    return std::isfinite(one_digit) && one_digit != 0 ? one_digit : value;
}

bool is_round(double value, DType dtype) { return is_far(value) && value == decimal(value, dtype); }

/// Bits of mantissa that the values need; of what is round in decimals one.
int mantissa_bits(const Tensor& tensor) {
    int bits = 1;
    for (const double value : tensor.values<double>())
        while (bits < kDoubleMantissa && rounded(value, bits) != value && !std::isnan(value) &&
               !is_round(value, tensor.dtype()))
            ++bits;
    return bits;
}

bool is_whole(double value) { return !std::isfinite(value) || value == std::nearbyint(value); }

Tensor small_numbers(const Tensor& like) {
    Random random(0);
    return mapped(like, [&](double) { return static_cast<double>(random.below(2 * kSmall + 1) - kSmall); });
}

class LeafEdits {
  public:
    LeafEdits(std::vector<Edit>& edits, const Case& from, NodeId leaf)
        : edits_(edits), leaf_(leaf), name_(from.graph.node({leaf}).name), old_(Draft(from).data(leaf)) {}

    void add() {
        if (!old_.is_contiguous()) offer("contiguous", [](const Tensor& old) { return old.contiguous(); });
        const bool same = all_alike(old_);
        const double first = old_.numel() ? old_.values<double>()[0] : 0;
        const auto all = [](std::int64_t value) {
            return [value](const Tensor& old) { return filled(old.dtype(), old.sizes(), value); };
        };
        if (!same || first != 0 || std::signbit(first)) offer("0", all(0));
        if (!same || (first != 0 && first != 1)) offer("1", all(1));
        if (!same)
            offer("the first element everywhere", [](const Tensor& old) {
                return old.as_strided(old.sizes(), Strides(old.sizes().size(), 0), old.offset()).clone();
            });
        if (!is_floating(old_.dtype())) return;
        const std::vector<double> values = old_.values<double>();
        const auto is_small = [](double v) { return is_whole(v) && std::abs(v) <= kSmall; };
        if (!same && !std::ranges::all_of(values, is_small)) offer("small whole numbers", small_numbers);
        if (!std::ranges::all_of(values, is_whole))
            offer("whole numbers",
                  [](const Tensor& old) { return mapped(old, [](double v) { return std::nearbyint(v); }); });
        const DType dtype = old_.dtype();
        if (std::ranges::any_of(values, [&](double v) { return decimal(v, dtype) != v; }))
            offer("one decimal digit",
                  [dtype](const Tensor& old) { return mapped(old, [dtype](double v) { return decimal(v, dtype); }); });
        const int bits = mantissa_bits(old_);
        if (bits > 1)
            edits_.push_back({"%" + name_ + " has few digits",
                              [leaf = leaf_, old = old_](Draft& draft, std::int64_t level) {
                                  if (draft.data(leaf).storage() == old.storage())
                                      draft.set_data(
                                          leaf, mapped(old, [&](double v) {
                                              return is_round(v, old.dtype()) ? v : rounded(v, static_cast<int>(level));
                                          }));
                              },
                              1, bits});
    }

  private:
    /// `make` gives the simpler tensor, each time anew: all of them at once would be several copies of every weight.
    void offer(const std::string& what, std::function<Tensor(const Tensor& old)> make) {
        edits_.push_back({"%" + name_ + " is " + what,
                          [leaf = leaf_, old = old_, make = std::move(make)](Draft& draft, std::int64_t) {
                              if (draft.data(leaf).storage() == old.storage()) draft.set_data(leaf, make(old));
                          }});
    }

    std::vector<Edit>& edits_;
    NodeId leaf_;
    std::string name_;
    Tensor old_;
};

}  // namespace

std::vector<Edit> data_edits(const Case& from) {
    std::vector<Edit> edits;
    for (const NodeId leaf : leaves_of(from.graph)) LeafEdits(edits, from, leaf).add();
    return edits;
}

}  // namespace whittle::reduce
