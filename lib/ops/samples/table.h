// The samples of every registered op.
#pragma once

#include <string_view>
#include <vector>

#include "ops/samples/sample.h"

namespace whittle {

/// Of an op that the registry knows; none of one that a program brought along. An op by another name has one of its
/// record's.
Samples samples_of(const RegisteredOp& op, DType dtype);
bool has_samples(const RegisteredOp& op);
/// The ops that have samples, in order of name; one that is listed twice is here twice.
std::vector<std::string_view> sampled_ops();

}  // namespace whittle
