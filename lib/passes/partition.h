// partition(): a joint graph cut in two, one to run forwards and one to run backwards, with what the second needs of
// the first. Memory against time: what is not saved is computed again. https://arxiv.org/abs/2111.00364 (functorch's
// min-cut partitioner)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "passes/joint.h"

namespace whittle {

enum class Partitioner {
    all,      ///< what the outputs need is computed once, and what backward reads of it is saved
    min_cut,  ///< as few bytes as can be without repeating what is expensive
};
/// Which part computes what, of a joint graph with such calls.
struct Cut {
    std::vector<bool> again = {};  ///< by node of the graph that was cut: backward computes it
    std::size_t calls = 0;         ///< a hash of that graph's calls and their operands, without sizes and numbers
};
struct PartitionOptions {
    Partitioner partitioner = Partitioner::min_cut;
    // Of min_cut:
    /// How long forward and backward may take together, by what calls are estimated to cost, where all that is computed
    /// once takes 1.
    double slowdown = 1.03;
    /// The part of what would be saved that may be, 0 to 1; below 1 backward takes as long as that needs, and repeats
    /// contractions, too.
    double memory_budget = 1;
    /// Of the same graph at other sizes: it is taken over, and none searched. Of a graph with other calls it is
    /// ignored.
    const Cut* known = nullptr;
};
/// Where an input of the backward graph comes from: an input of the forward graph, or one of its outputs.
struct Saved {
    bool is_output = false;
    std::size_t position = 0;
    bool operator==(const Saved&) const = default;
};

struct Partition {
    Graph forward;   ///< inputs and outputs of the original; behind these what is saved
    Graph backward;  ///< placeholders: `saved` in order, then the joint graph's tangents; outputs: its gradients
    Origins forward_origins = {}, backward_origins = {};  ///< in the joint graph
    std::vector<Saved> saved = {};
    std::int64_t saved_bytes = 0;              ///< of memory that `saved` shows, but for that of inputs and attributes
    std::vector<std::string> recomputed = {};  ///< calls that are in both graphs
    Cut cut = {};
};

/// min_cut merges equal calls and drops views that undo each other first, and then saves no views and repeats nothing
/// that cost_of() cannot tell or that contracts, nor statistics that the outputs need. Of what it may repeat it takes
/// what saves most bytes for its steps, until the slowdown is reached; a byte counts as much as 128 steps at most. What
/// backward repeats, it computes where it is first read. Without gradients, forward is the joint graph.
Partition partition(const Joint& joint, const PartitionOptions& options = {});

}  // namespace whittle
