// What ops that run nested graphs share: If, Loop and Scan of ONNX, and cond, while_loop and map.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// "f32[2, 3]".
std::string type_text(const ValueMeta& meta);
/// Equal dtype and sizes.
bool same_type(const ValueMeta& a, const ValueMeta& b);

/// As long as it lives, what is inferred on this thread takes nested graphs for what they would be had they been
/// recorded at other sizes: their placeholders get the sizes of what they are given, and their results follow.
class NestedAtAnySize {
  public:
    NestedAtAnySize();
    ~NestedAtAnySize();
    NestedAtAnySize(const NestedAtAnySize&) = delete;
    NestedAtAnySize& operator=(const NestedAtAnySize&) = delete;
};

/// Metas of the nested graph's results, contiguous; its placeholders must have the types of `inputs`: else an Error.
/// Under NestedAtAnySize only their dtypes and ranks; then what is in it may refuse the sizes.
std::vector<ValueMeta> body_results(const Graph& body, const std::vector<ValueMeta>& inputs);
/// Those of two graphs that run alternatively, which must be of one type. Throws Error.
std::vector<ValueMeta> alternative_results(const Graph& first, const Graph& second,
                                           const std::vector<ValueMeta>& inputs);
/// The first results of a loop's body must have the types of the values that it carries. Throws Error.
void check_carried(const std::vector<ValueMeta>& carried, const std::vector<ValueMeta>& results);

/// Results as their metas say: a nested graph may return a view of what it was given.
std::vector<Tensor> contiguous(std::vector<Tensor> tensors);
/// Tensors of the meta `slice` joined along a new dimension `axis`; in reverse when `reversed`.
Tensor stack_slices(const std::vector<Tensor>& slices, const ValueMeta& slice, std::int64_t axis, bool reversed);
/// Slice `index` along `axis`, without that dimension; a view.
Tensor slice_of(const Tensor& tensor, std::int64_t axis, std::int64_t index);

}  // namespace whittle
