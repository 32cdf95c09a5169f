// Small types of the API: element types, numbers, lists of sizes, slices.
#ifndef WHITTLE_API_TYPES_H
#define WHITTLE_API_TYPES_H

#include <whittle/api/namespace.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

WHITTLE_API_BEGIN

/// Element types, named as in ATen: Double, Float, Half … The table has all of them.
enum class ScalarType : std::uint8_t {
#define WHITTLE_DTYPE(dtype, aten, ...) aten,
#include <whittle/tensor/dtypes.def>
};

// kDouble, kFloat … Those of 8-bit floats are storage types: they are stored and converted, without arithmetic.
// kUInt16, kUInt32 and kUInt64 are supported by few operations: arithmetic, comparisons, shifts, sums; they promote to
// floats only.
#define WHITTLE_DTYPE(dtype, aten, ...) inline constexpr ScalarType k##aten = ScalarType::aten;
#include <whittle/tensor/dtypes.def>
inline constexpr ScalarType kFloat64 = kDouble, kFloat32 = kFloat, kFloat16 = kHalf;
inline constexpr ScalarType kInt64 = kLong, kInt32 = kInt, kInt16 = kShort, kInt8 = kChar, kUInt8 = kByte;

/// "f32", "i64" …
std::string_view name(ScalarType type);

/// The element type of a C++ number.
template <class T>
constexpr ScalarType scalar_type_of() {
    if constexpr (std::is_same_v<T, bool>)
        return kBool;
    else if constexpr (std::is_same_v<T, double>)
        return kDouble;
    else if constexpr (std::is_same_v<T, float>)
        return kFloat;
    else if constexpr (std::is_same_v<T, unsigned char>)
        return kByte;
    else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>)
        return sizeof(T) == 8 ? kUInt64 : sizeof(T) == 4 ? kUInt32 : kUInt16;
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 8)
        return kLong;
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 4)
        return kInt;
    else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 2)
        return kShort;
    else {
        static_assert(std::is_same_v<T, signed char>, "not an element type: use float, double, bool or an integer");
        return kChar;
    }
}

struct TensorImpl;

/// A number of the host. Its kind takes part in type promotion, as that of ATen's wrapped numbers does. With
/// .capture_scalar_outputs, Tensor::item() returns a symbol: operations read it in the graph, and to() ends the graph.
class Scalar {
  public:
    enum class Kind : std::uint8_t { integer, floating, boolean };

    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    Scalar(T value) {
        if constexpr (std::is_same_v<T, bool>) {
            kind_ = Kind::boolean;
            integer_ = value;
        } else if constexpr (std::is_floating_point_v<T>) {
            kind_ = Kind::floating;
            floating_ = static_cast<double>(value);
        } else {
            kind_ = Kind::integer;
            integer_ = static_cast<std::int64_t>(value);
        }
    }
    Kind kind() const { return kind_; }
    template <class T>
    WHITTLE_API_PASSES_ON T to() const {
        return symbol_ ? known().template number<T>() : number<T>();
    }

    /// The symbol's value in the graph; null for a known number.
    const std::shared_ptr<TensorImpl>& symbol() const { return symbol_; }

  private:
    friend class Tensor;
    Scalar(Kind kind, std::shared_ptr<TensorImpl> symbol) : kind_(kind), symbol_(std::move(symbol)) {}
    Scalar known() const WHITTLE_API_CALL;
    template <class T>
    T number() const {
        return kind_ == Kind::floating ? static_cast<T>(floating_) : static_cast<T>(integer_);
    }

    Kind kind_ = Kind::integer;
    std::int64_t integer_ = 0;
    double floating_ = 0;
    std::shared_ptr<TensorImpl> symbol_ = {};
};

/// A list of sizes, dimensions or windows: `{2, 3}`, one number, a vector, or std::nullopt where an operation takes an
/// optional list.
class IntList {
  public:
    IntList() = default;
    IntList(std::nullopt_t) : given_(false) {}
    IntList(std::initializer_list<std::int64_t> values) : values_(values) {}
    IntList(std::vector<std::int64_t> values) : values_(std::move(values)) {}
    template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
    IntList(T value) : values_{static_cast<std::int64_t>(value)} {}

    bool given() const { return given_; }
    const std::vector<std::int64_t>& values() const { return values_; }

  private:
    std::vector<std::int64_t> values_;
    bool given_ = true;
};

/// Numbers that are factors of sizes.
class FloatList {
  public:
    FloatList(std::nullopt_t) : given_(false) {}
    FloatList(std::initializer_list<double> values) : values_(values) {}
    FloatList(std::vector<double> values) : values_(std::move(values)) {}
    bool given() const { return given_; }
    const std::vector<double>& values() const { return values_; }

  private:
    std::vector<double> values_;
    bool given_ = true;
};

/// An index start:stop:step.
struct Slice {
    std::optional<std::int64_t> start = {}, stop = {};
    std::int64_t step = 1;
    Slice() = default;
    Slice(std::optional<std::int64_t> first, std::optional<std::int64_t> last = {}, std::int64_t every = 1)
        : start(first), stop(last), step(every) {}
};
/// An index for all dimensions that the other indices leave.
struct Ellipsis {};
inline constexpr Ellipsis kEllipsis{};
inline constexpr std::nullopt_t None = std::nullopt;

WHITTLE_API_END

#endif
