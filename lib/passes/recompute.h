// Which calls of the forward graph the backward graph makes again, so that their values need not be kept: memory
// against time. A minimum cut (https://arxiv.org/abs/2111.00364, functorch's partitioner) weighs one against the other
// by one rate; the rate is what is searched for here.
#pragma once

#include <vector>

#include "passes/joint_facts.h"
#include "passes/partition.h"

namespace whittle {

/// Of each node, whether the backward graph computes it: whatever the forward's outputs do not need.
std::vector<bool> default_choice(const JointFacts& facts);

/// As PartitionOptions of min_cut have it. `whole`: the graph whose cost is not to be passed; `merged`: its nodes that
/// each node of the facts' graph stands for.
std::vector<bool> min_cut_choice(const JointFacts& facts, const Graph& whole, const Origins& merged,
                                 const PartitionOptions& options);

}  // namespace whittle
