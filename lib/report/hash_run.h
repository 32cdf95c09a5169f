// HashRun: one process of a recording of hashes, as it is compared: operations in their order, what they are known by,
// their operands and results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capture/hash_index.h"

namespace whittle::report {

/// Why results of an operation may differ.
enum class Passed : std::uint8_t { none, random, uninitialized };

class HashRun {
  public:
    HashRun(const std::filesystem::path& folder, const HashedProcess& process);

    const HashedProcess& process() const { return process_; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(operations_.size()); }
    /// Of the operation at a position.
    std::uint32_t row(std::uint32_t position) const { return operations_[position]; }
    const HashForm& form(std::uint32_t position) const { return form_of_row(operations_[position]); }
    /// What it is known by in another run: the op, and the user's functions and source lines.
    std::uint64_t key(std::uint32_t position) const { return keys_[rows_.row(operations_[position]).form - 1]; }
    Passed passed(std::uint32_t position) const { return passed_[rows_.row(operations_[position]).form - 1]; }
    std::vector<StackFrame> stack(std::uint32_t position) const;
    /// The positions of each thread's operations.
    std::map<std::int64_t, std::vector<std::uint32_t>> threads() const;

    std::uint32_t rows() const { return rows_.size(); }
    const HashRow& at(std::uint32_t row) const { return rows_.row(row); }
    /// Of the operation, value or read that begins at a row.
    const HashForm& form_of_row(std::uint32_t row) const { return process_.forms[rows_.row(row).form - 1]; }
    /// The row of operand `index` of what begins at a row.
    std::uint32_t operand(std::uint32_t row, std::uint32_t index) const {
        return rows_.row(row + index / kRowOperands).operands[index % kRowOperands];
    }
    /// The row where the operation or value of a result begins.
    std::uint32_t owner(std::uint32_t row) const;
    const HashedValue& value(std::uint32_t row) const;
    /// Whether anything reads the result.
    bool is_read(std::uint32_t row) const { return read_[row]; }
    /// An operand that no recorded operation computed, or wrote to.
    bool is_input(std::uint32_t row) const { return form_of_row(owner(row)).is_value() && !operand(owner(row), 0); }
    /// Memory that nothing was written to.
    bool is_unwritten(std::uint32_t row) const;

  private:
    const HashedProcess& process_;
    HashRows rows_;
    std::vector<std::uint64_t> keys_;  ///< by form
    std::vector<Passed> passed_;
    std::vector<std::uint32_t> operations_;
    std::vector<bool> read_;  ///< by row
};

}  // namespace whittle::report
