// The gradients of a graph as half of what it computes: where an output requires one, running it means forward, then
// backward from the sum of such outputs times tangents: small numbers, which are drawn.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/backend.h"
#include "graph/joint_forward.h"
#include "passes/partition.h"

namespace whittle::program {

class CompiledProgram;

struct Differentiated {
    Joint joint = {};  ///< of the functional graph, as a whole
    Partition parts = {};
    std::vector<Tensor> tangents = {};              ///< the same for the same joint graph
    std::string refused = {};                       ///< why there are no parts though an output requires a gradient
    std::shared_ptr<CompiledProgram> program = {};  ///< that made the joint graph, and cuts it

    /// What parts.backward is given; `forward`: the outputs of parts.forward.
    Values backward_inputs(std::span<const Tensor> inputs, std::span<const Tensor> forward) const;
    /// What joint.graph is given.
    Values joint_inputs(std::span<const Tensor> inputs) const;
    /// Of what joint.graph gives, the gradients.
    Values gradients_among(Values outputs) const;
};

/// Nothing where no output requires a gradient. What is random is not asked about, for two runs of it need not agree.
std::optional<Differentiated> differentiate(const Graph& captured);
/// The same, cut as the backend has it cut under the options.
std::optional<Differentiated> differentiate(const Graph& captured, const Backend& backend,
                                            const BackendOptions& options);

/// The same in two steps: the joint graph, which is nobody's but the graph's, and then its parts, about which backends
/// may be asked. Who runs a graph in another process takes the first step for both.
std::optional<Differentiated> differentiate_whole(const Graph& captured);
std::optional<Differentiated> differentiate_whole(const Graph& captured, const Backend& backend,
                                                  const BackendOptions& options);
Differentiated cut(Differentiated whole);

/// "gradient of input 0 (x)", "gradient of parameter 'w'": the one that a joint graph calls `name`.
std::string gradient_text(const Graph& captured, const std::string& name);

/// A graph without gradients, with its inputs.
struct Part {
    Graph graph;
    Values inputs;
};

/// The joint graph, with the gradients as its only outputs, one for each of joint.gradients.
Part gradients_alone(const Differentiated& of, std::span<const Tensor> inputs);
/// What it computes: the joint graph interpreted as a whole. `exact`: in f64, as evaluate_exactly() has it.
Values reference_gradients(const Differentiated& of, std::span<const Tensor> inputs);
std::optional<Values> exact_gradients(const Differentiated& of, std::span<const Tensor> inputs);

/// The forward graph, and the backward graph on what the reference saves for it; of a graph without gradients, or whose
/// gradients are refused, itself.
std::vector<Part> parts_of(const Graph& captured, const Values& inputs);

/// The joint graph, on inputs and tangents as Differentiated has them. Throws Error where no output depends on what
/// requires a gradient, and where an op has none.
Part joint_of(const Graph& captured, const Values& inputs);

/// The backward graph of one that fails at it on the backend, to be looked at by itself: its inputs are what the
/// reference saves. The failure is that of a graph without gradients. Throws Error for one that has no gradients.
Graph backward_alone(const Graph& failing, const Backend& backend);
/// The forward graph of one that fails at it, on the same inputs: all of a graph without gradients, without writes.
Graph forward_alone(const Graph& failing, const Backend& backend);
/// The same of the joint graph, whose outputs `shape` tells apart: where whoever disagrees is given no backward graph
/// (OwnGradients in graph/abilities.h).
Graph joint_alone(const Graph& failing, JointShape& shape);

}  // namespace whittle::program
