// Ops that are others by another name: PyTorch has many. They are derived from the records of those, not registered one
// by one, and so are their samples and their in-place forms.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "ops/core/op.h"

namespace whittle {

struct RegisteredOp;

/// "absolute" is "abs", with each of its overloads. A name that is a schema is one overload, whose parameters, named or
/// typed otherwise, and results are the first ones of the other op: "linalg_inv(Tensor A) -> Tensor" is
/// "linalg_inv_ex". Results that are views of the other op, but none by this schema, are copied: "permute_copy" is
/// "permute". An in-place form may have another name, too: "pow_.Scalar" is "pow_.Tensor_Scalar".
struct OtherName {
    std::string_view name, of;
};
/// Of ATen's ops. Defined above this folder, in ops/aten/other_names.cpp, which knows them.
std::span<const OtherName> other_names();

/// The records of a derived op, which outlive it.
struct DerivedRecord {
    std::string schema = {};
    OpDef def = {};
};

/// The ops that `ops` have as other names. Their records are added to `records`.
std::vector<RegisteredOp> derived_ops(std::span<const RegisteredOp> ops, std::deque<DerivedRecord>& records);

}  // namespace whittle
