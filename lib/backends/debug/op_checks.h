// What happened at a call, held against what was declared, recorded or inferred of it. Each throws the Error that says
// so.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/core/registry.h"

namespace whittle {

/// A tensor that a call reads, with what it held before.
struct Operand {
    const Param* param;
    Tensor tensor, before;
};
std::vector<Operand> operands_of(const Node& call, const Schema& schema, const Arguments<Tensor>& arguments);

/// Operands that the schema does not declare as written have the same bits.
void check_unwritten(const Node& call, std::span<const Operand> operands);

/// Results share memory with operands, and with each other, only where the schema says so.
void check_unshared(const Node& call, const Schema& schema, std::span<const Operand> operands,
                    std::span<const Tensor> results);

/// The first result that is of another dtype, sizes or strides than expected. Of what is written in place the sizes
/// count: it keeps its dtype and strides. As many are expected.
std::optional<std::size_t> first_misfit(std::span<const Tensor> results, std::span<const ValueMeta> expected,
                                        bool in_place);

/// Results are of the dtypes, sizes and strides that were `expected_are` ("recorded"), as first_misfit() has it.
void check_metas(const Node& call, std::span<const Tensor> results, std::span<const ValueMeta> expected,
                 std::string_view expected_are, bool in_place);

}  // namespace whittle
