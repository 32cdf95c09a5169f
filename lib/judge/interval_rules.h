// The rules that Bound names (ops/core/op.h): intervals of one call's results, from those of its operands.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "judge/interval.h"

namespace whittle {

/// A call alone, in f64.
struct WideCall {
    Graph graph;
    std::string name;                                 ///< the call's
    std::vector<ValueMeta> results;                   ///< that it has in the dtypes of the graph that it is of
    std::map<std::string, const Interval*> operands;  ///< by the names of their nodes in `graph`
    std::string reported;  ///< the op that reports name: the composite that the call is a part of, or its own

    const Node& node() const { return *graph.find(name); }
    const Interval& value(NodeRef operand) const { return *operands.at(graph.node(operand).name); }
};

using TensorOf = std::function<Tensor(NodeRef)>;

/// The results of the call, or of `instead`, by its kernel or its decomposition.
std::vector<Tensor> evaluated(const WideCall& call, const TensorOf& value, const Node* instead = nullptr);

/// By the rule of the op, which has one. `terms`: of how many each element is a sum at most.
std::vector<Interval> bounded_results(const WideCall& call, const RegisteredOp& op, double terms,
                                      const Accuracy& accuracy);

/// By Bound::exact of the op (ops/core/op.h). The centers alone where they are; else `unbounded` with `inexact`, result
/// by result.
std::vector<Interval> exact_results(const WideCall& call, const RegisteredOp& op, const Accuracy& accuracy);

/// The exponent of a power of two of which all numbers are multiples; 0 where they are integers.
int unit_of(std::span<const double> numbers);

}  // namespace whittle
