// In-place forms: aten.add_.Tensor is aten.add.Tensor whose result is written into self. They are derived from the
// functional ops, not registered one by one: https://github.com/pytorch/pytorch/tree/main/aten/src/ATen/native#func
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/schema.h"

namespace whittle {

struct RegisteredOp;

/// An op that writes its result into its first operand.
struct InPlaceForm {
    std::string functional;  ///< the target that computes what is written: "aten.add.Tensor"
    Schema schema;           ///< "add_.Tensor(Tensor(a!) self, …) -> Tensor(a)"
};

/// The forms of all ATen ops that take a tensor first and return one tensor that is no view of it, by target, and their
/// other names (see other_names.h).
std::map<std::string, InPlaceForm, std::less<>> in_place_forms(std::span<const RegisteredOp> ops);

/// What a call of an out variant computes: "aten.add.out" is "aten.add.Tensor", written into the argument `out`.
struct OutVariant {
    Node functional;
    std::vector<Arg> outs;  ///< one for each result
};
/// Of a call whose target is unknown, if an op by its name takes all of its arguments but the last ones by name, as
/// many as it has results.
std::optional<OutVariant> out_variant(const Node& call);

}  // namespace whittle
