#include "frontends/pt2/numbers.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"
#include "ops/core/integer.h"

namespace whittle::pt2 {
namespace {

constexpr std::string_view kSizeQueries[] = {"aten.sym_size.int", "aten.sym_stride.int", "aten.sym_numel.default",
                                             "aten.sym_storage_offset.default"};
constexpr std::string_view kChecks[] = {"aten._assert_scalar.default",      "aten._assert_tensor_metadata.default",
                                        "aten.sym_constrain_range.default", "aten.sym_constrain_range_for_size.default",
                                        "aten._assert_async.default",       "aten._assert_async.msg"};

using Number = std::variant<std::int64_t, double, bool>;
using Result = std::optional<Number>;

template <class T>
bool compared(std::string_view name, T a, T b) {
    if (name == "eq") return a == b;
    if (name == "ne") return a != b;
    if (name == "lt") return a < b;
    if (name == "le") return a <= b;
    if (name == "gt") return a > b;
    return a >= b;
}

bool compares(std::string_view name) {
    constexpr std::string_view kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    return std::ranges::find(kNames, name) != std::end(kNames);
}

std::optional<std::int64_t> whole(const Arg& arg) {
    if (const auto* integer = std::get_if<std::int64_t>(&arg.value)) return *integer;
    if (const auto* truth = std::get_if<bool>(&arg.value)) return *truth;
    return {};
}
std::optional<double> number(const Arg& arg) {
    if (const auto integer = whole(arg)) return static_cast<double>(*integer);
    if (const auto* value = std::get_if<double>(&arg.value)) return *value;
    return {};
}

[[noreturn]] void refuse(std::string_view name, const ArgList& operands) {
    const auto text = [](const Arg& operand) {
        const auto real = number(operand);
        return real ? shortest(*real) : std::string("not a number");
    };
    throw Error("found " + std::string(name) + "(" + join(operands, text) + "), expected numbers for which " +
                std::string(name) + " has a result");
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
    std::int64_t result = 1;
    for (; exponent > 0; exponent /= 2, base = wrapping_mul(base, base))
        if (exponent % 2) result = wrapping_mul(result, base);
    return result;
}

Result of_integers(std::string_view name, std::int64_t a, std::int64_t b) {
    if (compares(name)) return compared(name, a, b);
    if (name == "add") return wrapping_add(a, b);
    if (name == "sub") return wrapping_add(a, wrapping_negate(b));
    if (name == "mul") return wrapping_mul(a, b);
    if (name == "pow" && b >= 0) return power(a, b);
    if (name == "sym_max") return std::max(a, b);
    if (name == "sym_min") return std::min(a, b);
    if (name == "and_") return a & b;
    if (name == "or_") return a | b;
    if ((name == "floordiv" || name == "mod") && b == 0)
        throw Error("found a division of " + std::to_string(a) + " by 0, expected a nonzero divisor");
    if (name == "floordiv") return floored_div(a, b);
    if (name == "mod") return floored_mod(a, b);
    return {};
}

Result of_reals(std::string_view name, double a, double b) {
    if (compares(name)) return compared(name, a, b);
    if (name == "add") return a + b;
    if (name == "sub") return a - b;
    if (name == "mul") return a * b;
    if (name == "truediv" && b != 0) return a / b;
    if (name == "pow") return std::pow(a, b);
    if (name == "sym_max") return std::max(a, b);
    if (name == "sym_min") return std::min(a, b);
    return {};
}

Result of_one(std::string_view name, const Arg& operand) {
    const auto integer = whole(operand);
    const auto real = number(operand);
    if (!real) return {};
    if (name == "neg") return integer ? Number(wrapping_negate(*integer)) : Number(-*real);
    if (name == "not" || name == "sym_not") return *real == 0;
    if (name == "sym_float") return *real;
    if (name == "sym_int" || name == "trunc") return integer ? *integer : static_cast<std::int64_t>(*real);
    if (name == "ceil") return integer ? *integer : static_cast<std::int64_t>(std::ceil(*real));
    if (name == "floor") return integer ? *integer : static_cast<std::int64_t>(std::floor(*real));
    return {};
}

}  // namespace

bool is_size_query(std::string_view target) {
    return std::ranges::find(kSizeQueries, target) != std::end(kSizeQueries);
}
bool is_check(std::string_view target) { return std::ranges::find(kChecks, target) != std::end(kChecks); }
bool is_number_function(std::string_view target) {
    return target.starts_with("_operator.") || target.starts_with("torch.sym_") || target.starts_with("math.");
}

Arg size_query(std::string_view target, const ValueMeta& meta, const std::optional<Arg>& dim) {
    if (target == "aten.sym_numel.default") return meta.numel();
    if (target == "aten.sym_storage_offset.default") return meta.storage_offset;
    const auto asked = dim ? whole(*dim) : std::nullopt;
    const auto rank = static_cast<std::int64_t>(meta.sizes.size());
    if (!asked || *asked < -rank || *asked >= rank)
        throw Error("found " + (asked ? "dimension " + std::to_string(*asked) : "a dimension that is not an integer") +
                    " for a tensor of rank " + std::to_string(rank) +
                    (rank == 0
                         ? std::string(", expected a tensor with dimensions")
                         : ", expected an integer from " + std::to_string(-rank) + " to " + std::to_string(rank - 1)));
    const auto i = static_cast<std::size_t>(*asked < 0 ? *asked + rank : *asked);
    return target == "aten.sym_size.int" ? meta.sizes[i] : meta.strides[i];
}

Arg number_of(std::string_view target, const ArgList& operands) {
    const std::string_view name = target.substr(target.rfind('.') + 1);
    Result value;
    if (operands.size() == 1) {
        value = of_one(name, operands[0]);
    } else if (operands.size() == 2) {
        const auto a = whole(operands[0]), b = whole(operands[1]);
        if (a && b) value = of_integers(name, *a, *b);
        const auto x = number(operands[0]), y = number(operands[1]);
        if (!value && x && y) value = of_reals(name, *x, *y);
    }
    if (!value) refuse(name, operands);
    return std::visit([](auto known) { return Arg(known); }, *value);
}

}  // namespace whittle::pt2
