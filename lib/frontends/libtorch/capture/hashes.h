// Recording hashes in the place of operations' arguments and results (kWithHashes): each operation with a kernel is a
// row of RowFile, or a few. What an operation is, where it was called and what its operands and results are like is its
// form, which the event file has once (records::Form): programs repeat themselves.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "capture/hash_row.h"
#include "frontends/libtorch/capture/recorder.h"

namespace whittle::libtorch {

struct OpInfo;
struct Thread;

/// What a thread knows of the rows that it writes.
struct Hashing {
    std::uint32_t stack = 0;  ///< where the program called what runs
    std::uint32_t under = 0;  ///< op of the node of a backward pass that runs, 0: none does
    std::uint64_t arguments =
        0;  ///< of the operation that runs: a hash of what it is, its place and what they are like
    std::vector<std::uint32_t> operands;
    RecordBuffer described;  ///< its arguments, where no form has them yet
    std::vector<HashRow> rows;
    std::unordered_map<std::uint64_t, std::uint32_t> forms;
    std::unordered_map<std::uint64_t, std::uint32_t> described_by;  ///< the first form with such arguments
    /// Rows of numbers that came last.
    struct Number {
        std::uint64_t key = 0;
        std::uint32_t row = 0;
    };
    std::array<Number, 256> numbers = {};
};

void hash_begin(Thread& thread, const OpInfo& info, c10::ArrayRef<const c10::IValue> inputs);
void hash_end(Thread& thread, const OpInfo& info, c10::ArrayRef<const c10::IValue> outputs);
/// The program looks at the tensor there. `writable`: it may also write to its memory from then on, so what was hashed
/// there is hashed again at each use.
void hash_read(Thread& thread, const at::Tensor& tensor, std::uint32_t stack, bool writable);

/// How many elements of a plain tensor are NaN.
std::uint32_t count_nans(const at::Tensor& tensor);

}  // namespace whittle::libtorch
