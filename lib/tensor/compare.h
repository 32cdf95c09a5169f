// Are two results the same? The one place that says so: tolerances, modes, and a description of the first difference.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace whittle {

/// What is close: |got - expected| <= atol + rtol * |expected|, or no more than `ulp` steps of the dtype apart; of
/// complex numbers the steps of the larger part.
struct Tolerance {
    double rtol = 1e-4;
    double atol = 1e-5;
    double ulp = 0;
    bool operator==(const Tolerance&) const = default;
};

/// Usual tolerances of a dtype: f32 1e-4/1e-5, f64 1e-7/1e-9, f16 1e-2/1e-3, bf16 2e-2/1e-2, integers and bool exact.
Tolerance default_tolerance(DType dtype);

/// How results are judged.
struct Accuracy {
    enum class Mode {
        close,   ///< every element within its dtype's tolerance
        fp64,    ///< also good: as near to the same computation in f64 as the reference is (see compare())
        strict,  ///< the same bits, or no more than the given `ulp` apart; every NaN is the same
        exact    ///< the same numbers, on data of which no result rounds (judge/exact.h)
    };
    Mode mode = Mode::close;
    double multiplier = 2;                       ///< fp64: of the reference's own error
    std::map<DType, Tolerance> tolerances = {};  ///< of dtypes that do not have their usual one

    /// Of a dtype, in this mode.
    Tolerance tolerance(DType dtype) const;
    /// Every difference counts, and rounding excuses none.
    bool wants_bits() const { return mode == Mode::strict || mode == Mode::exact; }
    bool operator==(const Accuracy&) const = default;
};

/// "close" "fp64" "strict" "exact".
std::string_view name(Accuracy::Mode mode);
std::optional<Accuracy::Mode> accuracy_mode_from_name(std::string_view name);

struct Difference {
    enum class Kind { dtype, sizes, nan_or_inf, value } kind;
    std::string description = {};  ///< "[0, 1]: got 1, expected 2; 2 of 4 values differ, largest error 3 at [1, 2]"
    std::string place = {};        ///< "[0, 1]", of the first element that differs; "dtype" or "sizes"
    std::string got = {}, expected = {};  ///< "1" and "2", at that place
    std::int64_t differing = 0;           ///< number of elements
    /// Over the elements that differ: infinite where an infinity is one of the two. A NaN has no error.
    double max_abs_error = 0, max_rel_error = 0;
};

/// "dtype" "sizes" "nan_or_inf" "value".
std::string_view name(Difference::Kind kind);

/// Compares element by element. NaN is close only to NaN and an infinity only to itself, because a tolerance relative
/// to an infinity would accept anything. Another dtype or other sizes are a difference. Nothing when all are close.
std::optional<Difference> compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance);

/// A row-major position as indices: "[1, 2]".
std::string index_text(std::int64_t position, const Sizes& sizes);

/// Returns the row-major positions of the elements that are not close, of tensors of one dtype and equal sizes.
std::vector<std::int64_t> differing_elements(const Tensor& got, const Tensor& expected, const Tolerance& tolerance);

/// The same computation in f64, asked for only when it decides; null: nobody can say.
using ExactValue = std::function<const Tensor*()>;

/// By the mode. In fp64 mode what is not close is accepted all the same when NaN and infinities are at their places and
///   RMSE(got, exact) <= multiplier * RMSE(expected, exact) + atol / 10,
/// the rule of PyTorch's accuracy minifier (torch._dynamo.utils.same).
std::optional<Difference> compare(const Tensor& got, const Tensor& expected, const Accuracy& accuracy,
                                  const ExactValue& exact = {});

/// That rule for the elements alone that are not close, of `got` and `expected` that compare() has accepted by it:
/// large ones elsewhere do not pay for them. `exact`: the same computation in f64.
bool rounds_where_it_differs(const Tensor& got, const Tensor& expected, const Tensor& exact, const Accuracy& accuracy);

/// How far `got` is from `expected`: tensors of equal sizes, whose dtypes may differ (f32 from its f64 reference).
struct ErrorFigures {
    double max_abs = 0, max_rel = 0, rmse = 0;  ///< over the elements that are finite in both
    double max_ulp = 0;                         ///< in steps of got's dtype
    std::int64_t misplaced = 0;                 ///< NaN or infinities of only one of the two
    std::int64_t nan = 0, inf = 0;              ///< in `got`
};
ErrorFigures measure(const Tensor& got, const Tensor& expected);

/// Steps of the dtype's number line from a to b, both finite: 1 between neighbours, 0 between 0 and -0. For integers
/// the difference.
double ulp_distance(double a, double b, DType dtype);

}  // namespace whittle
