// The numbers of the file format, which are not c10's, and the texts of sizes.
// https://github.com/pytorch/pytorch/blob/main/torch/_export/serde/schema.py
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tensor/dtype.h"

namespace whittle::pt2 {

/// Of a ScalarType. Throws Error for one that Whittle does not have.
DType dtype_of_code(std::int64_t code);
/// "contiguous_format", as ops take it. Throws Error for an unknown one.
std::string memory_format_of_code(std::int64_t code);
/// Of a Layout.
struct LayoutName {
    std::string_view torch, libtorch;  ///< "sparse_coo" as ops take it, and "Sparse" as LibTorch prints it
};
/// Throws Error for an unknown one.
LayoutName layout_of_code(std::int64_t code);

// And back. Throw Error for what the format does not have.
std::int64_t code_of(DType dtype);
std::int64_t code_of_memory_format(const std::string& name);
inline constexpr std::int64_t kStridedLayout = 7;

/// The value of an expression as sympy's srepr writes it, `Mul(Integer(2), Symbol('s77', integer=True))`, or as older
/// files have it, `2*s77`; nothing when a symbol in it has no size, or for what sizes are not made of.
std::optional<std::int64_t> evaluate(std::string_view expression, const std::map<std::string, std::int64_t>& symbols);
/// The symbol, of an expression that is nothing else.
std::optional<std::string> symbol_of(std::string_view expression);
/// The symbols of the expression that have no size.
std::set<std::string> undecided_symbols(std::string_view expression,
                                        const std::map<std::string, std::int64_t>& symbols);
/// The one symbol without a size, with the size that makes the expression `value`: `2*s77` is 6 where s77 is 3. Nothing
/// where there is no such symbol, more than one, or no such size; only expressions that are linear in it are solved.
std::optional<std::pair<std::string, std::int64_t>> solved(std::string_view expression, std::int64_t value,
                                                           const std::map<std::string, std::int64_t>& symbols);

}  // namespace whittle::pt2
