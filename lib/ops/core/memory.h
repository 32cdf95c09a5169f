// Writes, as ATen makes them: an in-place call changes the memory of its first operand, and all that shows it changes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "tensor/tensor.h"

namespace whittle {

struct RegisteredOp;

/// The op whose kernel a call of `target` runs: its own, or of an in-place form (aten.add_.Tensor) the one whose result
/// it writes. nullptr for an unknown target.
const RegisteredOp* kernel_of(std::string_view target);

/// Whether it is a call that writes to an operand.
bool writes(const Node& node);

/// Whether a call of the graph, or of its nested graphs, writes to an operand.
bool has_writes(const Graph& graph);

/// What an in-place call writes into: its first argument. Throws Error when that is no value.
NodeRef written_operand(const Node& call);

using MetaOf = std::function<ValueMeta(NodeRef)>;
/// The results of a view with `operand` in place of its first argument. `meta_of` says what other tensors are: a view
/// takes their sizes or their dtype.
std::vector<Tensor> view_of(const Node& call, const Tensor& operand, const MetaOf& meta_of);

/// The same elements under the same strides, in memory of their own.
Tensor own_copy(const Tensor& tensor);

/// Writes `from` (converted) into the elements that `to` shows. Throws Error when the sizes differ, or when the memory
/// is not to be written (a mapped file).
void write_into(Tensor& to, const Tensor& from);

}  // namespace whittle
