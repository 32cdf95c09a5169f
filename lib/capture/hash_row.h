// The rows of a recording of hashes (trace --hashes): what the recorder writes beside an event file, and what is
// compared afterwards. Shared by all, so it needs neither LibTorch nor the rest of Whittle.
// share/doc/reference/formats.md has the format for people.
#pragma once

#include <cstdint>

namespace whittle {

inline constexpr char kRowMagic[8] = {'W', 'H', 'T', 'L', 'R', 'O', 'W', '\n'};
inline constexpr std::uint32_t kRowVersion = 1;

struct RowFileHeader {
    char magic[8];
    std::uint32_t version, row_size;
    std::uint64_t rows;    ///< that are complete
    std::uint64_t unused;  ///< 0
};
static_assert(sizeof(RowFileHeader) == 32);

/// What a row's form is of.
enum class RowKind : std::uint8_t {
    operation = 0,
    value = 1,  ///< an operand that no operation made, as its first reader saw it; its operand: what wrote there, or
                ///< allocated it
    read = 2    ///< the program looked at its operand
};

/// An operation: its operands, and its first result. Those of the operands and results that find no room here are in
/// the rows behind it, whose form is 0. A result is known by the number of its row, from 1.
struct HashRow {
    std::uint32_t form = 0;
    std::uint32_t operands[3] = {};  ///< rows; 0: there is none, or nothing is known of it
    std::uint64_t hash = 0;          ///< of the elements in row-major order
    double sum = 0, absolute = 0;    ///< of the elements, and of their magnitudes, in f64; NaN counts as 0
    float largest = 0;               ///< magnitude
    std::uint32_t nans = 0;          ///< at most 2^32 - 1
};
static_assert(sizeof(HashRow) == 48);
inline constexpr int kRowOperands = 3;

/// A number that programs count with, or that decides what an operation does, is part of the form. Others change from
/// step to step, as a learning rate does, and would make a form each: they are operands.
constexpr bool is_form_number(std::int64_t value) { return value > -32768 && value < 32768; }
constexpr bool is_form_number(double value) {
    return value > -32768 && value < 32768 && value == static_cast<double>(static_cast<std::int64_t>(value));
}

}  // namespace whittle
