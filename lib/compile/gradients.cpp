#include "compile/gradients.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "compile/compile.h"
#include "graph/text.h"
#include "ops/core/draws.h"
#include "ops/core/interpreter.h"
#include "passes/no_grad.h"
#include "passes/widen.h"
#include "tensor/random.h"
#include "tensor/reach.h"

namespace whittle::program {
namespace {

/// What is added to a graph's name.
constexpr char kForwardSuffix[] = "_forward", kBackwardSuffix[] = "_backward", kJointSuffix[] = "_joint";

bool requires_gradients(const Graph& graph) {
    return std::ranges::any_of(graph.outputs(), [&](NodeId id) { return graph.node({id}).meta().requires_grad; });
}

/// One of 1/4, 1/2 … 2 with a sign: every dtype holds them, and a short text does.
double draw_tangent(Random& random) {
    const auto quarters = random.below(16) - 8;
    return static_cast<double>(quarters < 0 ? quarters : quarters + 1) / 4;
}

/// One for each tangent of the joint graph, the same in every process. Drawn, as what is wrong in elements may cancel
/// in their sum: from ones, softmax has the gradient 0.
Values tangents_of(const Joint& joint) {
    constexpr std::uint64_t kSeed = 0x74616e67656e74;
    Random random(kSeed);
    Values tangents;
    const std::vector<NodeId> placeholders = joint.graph.placeholders();
    for (std::size_t i = joint.inputs; i < placeholders.size(); ++i) {
        const ValueMeta& meta = joint.graph.node({placeholders[i]}).meta();
        std::vector<double> values(static_cast<std::size_t>(meta.numel()));
        for (double& value : values) value = draw_tangent(random);
        tangents.push_back(Tensor::of(values, meta.sizes).to(meta.dtype));
    }
    return tangents;
}

/// `program_of`: the program that cuts a graph.
template <class ProgramOf>
std::optional<Differentiated> whole(const Graph& captured, ProgramOf program_of) {
    if (!requires_gradients(captured)) return std::nullopt;
    if (draws_random_numbers(captured)) return Differentiated{.refused = "the graph draws random numbers"};
    try {
        Graph ended = end_gradients(captured);
        ended.failure.reset();  // its inputs are not those of other graphs
        const auto program = std::make_shared<CompiledProgram>(program_of(std::move(ended)));
        Differentiated made{.joint = program->joint(), .program = program};
        if (made.joint.gradients.empty()) return std::nullopt;
        made.tangents = tangents_of(made.joint);
        return made;
    } catch (const Error& error) {
        return Differentiated{.refused = error.what()};
    }
}

}  // namespace

Values Differentiated::backward_inputs(std::span<const Tensor> inputs, std::span<const Tensor> forward) const {
    const std::vector<NodeId> placeholders = parts.backward.placeholders();
    Values passed;
    for (const Saved& saved : parts.saved) {
        const Tensor& value = saved.is_output ? forward[saved.position] : inputs[saved.position];
        // A backend may lay it out otherwise than the backward graph was made for.
        const Strides& strides = parts.backward.node({placeholders[passed.size()]}).meta().strides;
        passed.push_back(value.strides() == strides ? value : laid_out(value, strides));
    }
    return joint_inputs(passed);
}

Values Differentiated::joint_inputs(std::span<const Tensor> inputs) const {
    Values all(inputs.begin(), inputs.end());
    append(all, tangents);
    return all;
}

Values Differentiated::gradients_among(Values outputs) const {
    outputs.erase(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(joint.outputs));
    return outputs;
}

std::optional<Differentiated> differentiate_whole(const Graph& captured) {
    return whole(captured, [](Graph ended) { return CompiledProgram(std::move(ended)); });
}

std::optional<Differentiated> differentiate_whole(const Graph& captured, const Backend& backend,
                                                  const BackendOptions& options) {
    return whole(captured, [&](Graph ended) { return differentiable(backend, std::move(ended), options); });
}

Differentiated cut(Differentiated whole) {
    if (!whole.refused.empty()) return whole;
    try {
        whole.parts = whole.program->partition();
        return whole;
    } catch (const Error& error) {
        return {.refused = error.what()};
    }
}

std::optional<Differentiated> differentiate(const Graph& captured) {
    std::optional<Differentiated> made = differentiate_whole(captured);
    return made ? std::optional(cut(std::move(*made))) : std::nullopt;
}

std::optional<Differentiated> differentiate(const Graph& captured, const Backend& backend,
                                            const BackendOptions& options) {
    std::optional<Differentiated> made = differentiate_whole(captured, backend, options);
    return made ? std::optional(cut(std::move(*made))) : std::nullopt;
}

std::string gradient_text(const Graph& captured, const std::string& name) {
    const std::vector<NodeId> placeholders = captured.placeholders();
    const auto found = std::ranges::find(placeholders, name, [&](NodeId id) { return captured.node({id}).name; });
    if (found == placeholders.end()) return "gradient of parameter '" + name + "'";
    return "gradient of input " + std::to_string(found - placeholders.begin()) + " (" + name + ")";
}

Part gradients_alone(const Differentiated& of, std::span<const Tensor> inputs) {
    Part part{of.joint.graph, of.joint_inputs(inputs)};
    ArgList& outputs = part.graph.nodes.back().args;
    outputs.erase(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(of.joint.outputs));
    return part;
}

Values reference_gradients(const Differentiated& of, std::span<const Tensor> inputs) {
    const Part part = gradients_alone(of, inputs);
    return evaluate(part.graph, part.inputs);
}

std::optional<Values> exact_gradients(const Differentiated& of, std::span<const Tensor> inputs) {
    const Part part = gradients_alone(of, inputs);
    return evaluate_exactly(part.graph, part.inputs);
}

std::vector<Part> parts_of(const Graph& captured, const Values& inputs) {
    const std::optional<Differentiated> made = differentiate(captured);
    if (!made || !made->refused.empty()) return {{captured, inputs}};
    Part forward{without_requires_grad(made->parts.forward), inputs},
        backward{without_requires_grad(made->parts.backward),
                 made->backward_inputs(inputs, evaluate(made->parts.forward, inputs))};
    forward.graph.name = captured.name + kForwardSuffix;
    backward.graph.name = captured.name + kBackwardSuffix;
    return {std::move(forward), std::move(backward)};
}

Part joint_of(const Graph& captured, const Values& inputs) {
    // Where no result says whether it requires a gradient, nothing was computed without.
    CompiledProgram program(requires_gradients(captured) ? end_gradients(captured) : captured);
    const Joint& joint = program.joint();
    if (const auto end = joint.gradients.empty() ? where_gradients_end(captured) : std::nullopt)
        throw Error({"", place_of(captured, captured.node({*end}))},
                    "the program computed this call without gradients, or in a function with a custom backward "
                    "function, so the operands of this call get no gradients");
    if (joint.gradients.empty())
        throw Error({"", "graph " + captured.name},
                    "found no output that depends on an input or parameter with requires_grad, expected at least one "
                    "such output");
    Part part{without_requires_grad(joint.graph), inputs};
    part.graph.name = captured.name + kJointSuffix;
    for (Tensor& tangent : tangents_of(joint)) part.inputs.push_back(std::move(tangent));
    return part;
}

namespace {

/// What an optional holds; throws Error where there is no such thing.
const Differentiated& expect_gradients(const std::optional<Differentiated>& made, const Graph& failing) {
    if (made && made->refused.empty()) return *made;
    throw Error({"", "graph " + failing.name}, "found a failure in the gradients, but the graph has no gradients" +
                                                   (made ? ": " + made->refused : std::string()));
}

/// A part of a failing graph, which fails on these inputs as a graph without gradients.
Graph alone(const Graph& failing, const Graph& part, const char* suffix, Values inputs) {
    Graph graph = without_requires_grad(part);
    graph.name = failing.name + suffix;
    graph.failure = failing.failure;
    graph.failure->inputs = std::move(inputs);
    graph.failure->signature.part.clear();
    return graph;
}

}  // namespace

Graph backward_alone(const Graph& failing, const Backend& backend) {
    const auto found = differentiate(failing, backend, failing.failure->options);
    const Differentiated& made = expect_gradients(found, failing);
    const Values& inputs = failing.failure->inputs;
    return alone(failing, made.parts.backward, kBackwardSuffix,
                 made.backward_inputs(inputs, evaluate(made.parts.forward, inputs)));
}

Graph forward_alone(const Graph& failing, const Backend& backend) {
    const Failure& failure = *failing.failure;
    const auto made = differentiate(failing, backend, failure.options);
    if (made && made->refused.empty()) return alone(failing, made->parts.forward, kForwardSuffix, failure.inputs);
    CompiledProgram program = differentiable(backend, without_requires_grad(failing), failure.options);
    return alone(failing, program.partition().forward, kForwardSuffix, failure.inputs);
}

Graph joint_alone(const Graph& failing, JointShape& shape) {
    const auto found = differentiate(failing);
    const Differentiated& made = expect_gradients(found, failing);
    shape = {made.joint.outputs, made.joint.tangents, made.joint.gradients};
    return alone(failing, made.joint.graph, kJointSuffix, made.joint_inputs(failing.failure->inputs));
}

}  // namespace whittle::program
