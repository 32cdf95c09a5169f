#define WHITTLE_API_IMPLEMENTATION
#include "api/derivative.h"

#include <algorithm>
#include <map>

#include "api/call.h"
#include "api/frame_host.h"
#include "base/error.h"

namespace whittle::api {
namespace {

std::size_t position_of(const Graph& graph, const std::string& placeholder) {
    const std::vector<NodeId> placeholders = graph.placeholders();
    const auto found = std::ranges::find(placeholders, placeholder, [&](NodeId id) { return graph.node({id}).name; });
    WHITTLE_CHECK(found != placeholders.end(),
                  "found a gradient of '" + placeholder + "', expected the gradient of an input");
    return static_cast<std::size_t>(found - placeholders.begin());
}

/// Saved results are told as such: outputs of the forward graph that it has anyway.
void save_results(Derivative& derivative) {
    const std::vector<NodeId> outputs = derivative.parts.forward.outputs();
    for (Saved& saved : derivative.parts.saved) {
        if (!saved.is_output || saved.position < derivative.outputs) continue;
        const auto result = std::ranges::find(outputs, outputs.at(saved.position));
        saved.position = static_cast<std::size_t>(result - outputs.begin());
        WHITTLE_CHECK(saved.position < derivative.outputs,
                      "a call saves a value that is neither its operand nor its result");
    }
}

std::shared_ptr<const CallDerivative> make_derivative(const Node& call, const std::vector<ImplPtr>& operands) {
    const Joint whole = joint(graph_of_call(call, operands));
    const auto made = std::make_shared<CallDerivative>(whole, partition(whole, {.partitioner = Partitioner::all}));
    save_results(*made);
    made->prepared.emplace(made->parts.backward);
    return made;
}

/// Equal for calls that differ in names and values only.
std::string call_key(const Node& call, const std::vector<ImplPtr>& operands) {
    Graph graph;
    std::vector<NodeRef> refs;
    for (const ImplPtr& operand : operands) refs.push_back(graph.placeholder("operand", operand->meta));
    graph.add(map_inputs(call, [&](NodeRef ref) { return Arg(refs.at(static_cast<std::size_t>(ref.id))); }));
    return key_of(graph);
}

}  // namespace

Derivative::Derivative(const Joint& joint, Partition cut)
    : outputs(joint.outputs), tangents(joint.tangents), parts(std::move(cut)) {
    const std::vector<NodeId> placeholders = joint.graph.placeholders();
    for (std::size_t i = joint.inputs; i < placeholders.size(); ++i)
        tangent_metas.push_back(joint.graph.node({placeholders[i]}).meta());
    for (const std::string& name : joint.gradients) gradients.push_back(position_of(joint.graph, name));
}

std::shared_ptr<const CallDerivative> derivative_of(const Node& call, const std::vector<ImplPtr>& operands) {
    if (!Registry::instance().require(call.target).def->grad) {  // not kept: a program may yet register one
        const auto none = std::make_shared<CallDerivative>();
        none->error = "derivative for " + call.target + " is not implemented";
        return none;
    }
    constexpr std::size_t kMost = 4096;  // of programs whose sizes always vary
    static std::mutex mutex;
    static auto* const known = new std::map<std::string, std::shared_ptr<const CallDerivative>>;
    const std::lock_guard lock(mutex);
    if (known->size() > kMost) known->clear();
    std::shared_ptr<const CallDerivative>& derivative = (*known)[call_key(call, operands)];
    if (!derivative) derivative = make_derivative(call, operands);
    return derivative;
}

}  // namespace whittle::api
