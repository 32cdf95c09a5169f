#define WHITTLE_API_IMPLEMENTATION
#include "api/compiled_gradient.h"

#include <whittle/api/compile.h>

#include <algorithm>

#include "base/error.h"
#include "base/words.h"
#include "compile/compile.h"
#include "compile/finite_differences.h"
#include "graph/text.h"
#include "judge/untouched.h"
#include "ops/core/mode.h"
#include "passes/no_grad.h"
#include "tensor/compare.h"
#include "tensor/reach.h"

namespace whittle::api {

std::unique_ptr<CompiledGradient> gradient_of(const Graph& captured, const Backend& backend,
                                              const BackendOptions& options, const CompiledGradient* known) {
    const auto wants = [](const Node& node) { return node.kind == NodeKind::placeholder && node.meta().requires_grad; };
    if (std::ranges::none_of(captured.nodes, wants)) return nullptr;
    program::CompiledProgram program = program::differentiable(backend, end_gradients(captured), options);
    if (known && known->error.empty()) program.cut_as(known->parts.cut);
    try {
        const Joint& joint = program.joint();
        if (joint.gradients.empty()) return nullptr;
        auto gradient = std::make_unique<CompiledGradient>(joint, program.partition());
        gradient->joint = joint.graph;
        return gradient;
    } catch (const Error& error) {
        auto gradient = std::make_unique<CompiledGradient>();
        gradient->error = error.what();
        gradient->outputs = captured.outputs().size();
        for (std::size_t i = 0; i < gradient->outputs; ++i) {
            const ValueMeta& meta = captured.node({captured.outputs()[i]}).meta();
            if (meta.requires_grad) gradient->tangents.push_back(i);
        }
        const std::vector<NodeId> placeholders = captured.placeholders();
        for (std::size_t i = 0; i < placeholders.size(); ++i)
            if (wants(captured.node({placeholders[i]}))) gradient->gradients.push_back(i);
        return gradient;
    }
}

CompiledNode::CompiledNode(std::string graph, std::shared_ptr<CompiledGradient> gradient,
                           const std::vector<whittle::Tensor>& inputs, const std::vector<whittle::Tensor>& outputs,
                           const std::vector<whittle::Tensor>& rewritten)
    : graph_(std::move(graph)), gradient_(std::move(gradient)) {
    const auto kept = [&](const whittle::Tensor& value) {
        const bool changes = std::ranges::any_of(
            rewritten, [&](const whittle::Tensor& written) { return written.storage() == value.storage(); });
        return SavedValue(changes ? own_copy(value) : value);
    };
    const Graph& backward = gradient_->parts.backward;
    const std::vector<NodeId> placeholders = backward.placeholders();
    for (std::size_t i = 0; i < gradient_->parts.saved.size(); ++i) {
        const Saved& saved = gradient_->parts.saved[i];
        const whittle::Tensor& value = saved.is_output ? outputs.at(saved.position) : inputs.at(saved.position);
        // A backend may lay it out otherwise than the backward graph was made for.
        const Strides& strides = backward.node({placeholders[i]}).meta().strides;
        saved_.push_back(kept(value.strides() == strides ? value : laid_out(value, strides)));
    }
    if (gradient_->verified)
        for (const whittle::Tensor& input : inputs) all_inputs_.push_back(own_copy(input));
}

void CompiledNode::connect(const std::vector<ImplPtr>& inputs) {
    for (const std::size_t position : gradient_->gradients) edges.push_back(edge_of(inputs.at(position)));
}

bool CompiledNode::differentiates(std::size_t output) const {
    return std::ranges::count(gradient_->tangents, output) != 0;
}

TensorList CompiledNode::apply(const TensorList& gradients, bool create_graph) {
    return differentiated(gradients, create_graph, false);
}

TensorList CompiledNode::apply_last(const TensorList& gradients, bool create_graph) {
    TensorList result = differentiated(gradients, create_graph, true);
    release();
    return result;
}

TensorList CompiledNode::differentiated(const TensorList& gradients, bool create_graph, bool last) {
    if (!gradient_->error.empty()) throw Error("graph " + graph_ + " has no gradients, because " + gradient_->error);
    if (create_graph)
        throw Error(
            "graph " + graph_ +
                ": found create_graph=true, expected create_graph=false: a compiled graph has no double backward",
            "to differentiate twice, call the function without compile()");
    if (released_) throw_released();
    const TensorList tangents = tangents_of(*gradient_, gradients);
    Values passed;
    for (const SavedValue& saved : saved_) passed.push_back(saved.get("graph " + graph_));
    for (const Tensor& tangent : tangents) passed.push_back(*tangent.impl()->value);
    if (last) {  // from here on the call has them, and each goes after its last use
        released_ = true;
        saved_.clear();
    }
    const Values given = gradient_->keep ? passed : Values();
    Values values;
    try {
        values = run(std::move(passed));
        if (gradient_->verified) verify(tangents, values);
    } catch (const std::exception& error) {
        if (gradient_->keep) gradient_->keep(gradient_->parts.backward, given, error);
        throw;
    }
    if (gradient_->verified && !gradient_->rules_held.exchange(true)) verify_rules(joint_inputs(tangents));
    TensorList result;
    for (const whittle::Tensor& value : values) result.push_back(wrap(value.with_requires_grad(false)));
    return result;
}

Values CompiledNode::run(Values passed) const {
    if (gradient_->backend_failed) std::rethrow_exception(gradient_->backend_failed);
    const Graph& backward = gradient_->parts.backward;
    if (!gradient_->executable) return evaluate(backward, passed);
    std::optional<Untouched> given;
    if (gradient_->verified) given.emplace(backward, passed);
    const std::lock_guard lock(gradient_->mutex);
    RunResult result = gradient_->executable->run_boxed(std::move(passed));
    if (given)
        if (const auto written = given->restore())
            throw VerifyError("graph " + graph_ + ", backward: the backend " + written->message);
    if (const auto* failure = std::get_if<BackendFailure>(&result)) throw BackendError(gradient_->words(*failure));
    Values values = std::get<Values>(std::move(result));
    const std::vector<NodeId> outputs = backward.outputs();
    if (values.size() != outputs.size())
        throw BackendError("graph " + backward.name + ": found " + plural(values.size(), "gradient") + ", expected " +
                           std::to_string(outputs.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ValueMeta& meta = backward.node({outputs[i]}).meta();
        if (values[i].dtype() != meta.dtype || values[i].sizes() != meta.sizes)
            throw BackendError("graph " + backward.name + ", gradient " + std::to_string(i) + ": found " +
                               print(ValueMeta::of(values[i])) + ", expected " + print(meta));
    }
    return values;
}

Values CompiledNode::joint_inputs(const TensorList& tangents) const {
    Values inputs = all_inputs_;
    for (const Tensor& tangent : tangents) inputs.push_back(*tangent.impl()->value);
    return inputs;
}

void CompiledNode::verify(const TensorList& tangents, const Values& gradients) const {
    const WithoutModes not_seen;
    const Values expected = evaluate(gradient_->joint, joint_inputs(tangents));
    const std::vector<NodeId> placeholders = gradient_->joint.placeholders();
    for (std::size_t i = 0; i < gradients.size(); ++i)
        if (const auto difference = compare(gradients[i], expected.at(gradient_->outputs + i), Accuracy{}))
            throw VerifyError("graph " + graph_ + ": the gradient of '" +
                              gradient_->joint.node({placeholders.at(gradient_->gradients[i])}).name +
                              "' is wrong: " + difference->description);
}

void CompiledNode::verify_rules(std::span<const whittle::Tensor> inputs) const {
    const WithoutModes not_seen;
    const std::vector<NodeId> placeholders = gradient_->joint.placeholders();
    JointShape shape{gradient_->outputs, gradient_->tangents, {}};
    for (const std::size_t position : gradient_->gradients)
        shape.gradients.push_back(gradient_->joint.node({placeholders.at(position)}).name);
    const program::Slopes slopes = program::check_slopes(gradient_->joint, shape, inputs);
    if (slopes.wrong)
        throw VerifyError("graph " + graph_ + ": the gradient of '" + slopes.wrong->of +
                          "' is wrong because a gradient rule of Whittle is wrong; the backend is not the cause: " +
                          slopes.wrong->text());
}

void CompiledNode::release() {
    released_ = true;
    saved_.clear();
    all_inputs_.clear();
}

}  // namespace whittle::api
