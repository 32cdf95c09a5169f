#include "printers/near_text.h"

#include <functional>
#include <set>
#include <vector>

#include "base/words.h"
#include "graph/text.h"
#include "printers/short_program.h"

namespace whittle {
namespace {

std::string code(const std::string& text) { return "`" + text + "`"; }

/// "Sub(x, y)", with the words of `operand`.
std::string call_text(const Node& call, bool swapped, const std::function<std::string(const Arg&)>& operand) {
    std::vector<std::string> operands;
    for (const Arg& arg : call.args) operands.push_back(operand(arg));
    if (swapped) std::swap(operands.at(0), operands.at(1));
    return op_word(call.target) + "(" + join(operands) + ")";
}

/// "Sub(x, reducemean)".
std::string call_by_names(const Graph& graph, const Node& call, bool swapped) {
    return call_text(call, swapped,
                     [&](const Arg& arg) { return arg.node() ? graph.node(*arg.node()).name : print(graph, arg); });
}

/// Inputs that a call reads in several places.
std::string repeated(const Graph& graph, const Node& call) {
    std::set<NodeId> once, again;
    for (const Arg& arg : call.args)
        if (arg.node() && !once.insert(arg.node()->id).second) again.insert(arg.node()->id);
    std::vector<std::string> names;
    for (const NodeId id : again) names.push_back(code(graph.node({id}).name));
    return join(names);
}

/// Another call may be meant by the name of the attribute, or of the operand.
bool is_ambiguous(const Graph& graph, const Node& call, const std::string& attribute) {
    return std::ranges::any_of(graph.nodes, [&](const Node& other) {
        return &other != &call && (other.kwarg(attribute) || other.target == call.target);
    });
}

/// "without `axes`", "without `axes` of `mean`": what the change is.
std::string change_text(const Graph& graph, const NearCase& near) {
    const Node* const node = near.node < 0 ? nullptr : &graph.node({near.node});
    switch (near.change) {
        case NearCase::Change::contiguous:
            return "with contiguous operands";
        case NearCase::Change::separate:
            return "with a separate input of the same values for each use of " + repeated(graph, *node);
        case NearCase::Change::swapped:
            return "with " + code(call_by_names(graph, *node, true)) + " in place of " +
                   code(call_by_names(graph, *node, false));
        case NearCase::Change::without_attribute:
            return "without " + code(near.attribute) +
                   (is_ambiguous(graph, *node, near.attribute) ? " of " + code(node->name) : "");
        case NearCase::Change::without_call:
            return "with " + code(graph.node(*node->args.at(0).node()).name) + " in place of " +
                   code(call_by_names(graph, *node, false));
        case NearCase::Change::not_returned:
            return "if " + code(node->name) + " is not an output";
        case NearCase::Change::opset:
            return "at opset " + std::to_string(near.opset);
        case NearCase::Change::f32:
            break;
    }
    return "with float in place of " + dtype_word(near.dtype);
}

/// An operand in a title: what another call computes is told by its op.
std::string operand_in_title(const Graph& graph, const Arg& arg) {
    if (!arg.node()) return print(graph, arg);
    const Node& node = graph.node(*arg.node());
    if (node.kind == NodeKind::call) {
        const bool plain = node.args.size() == 1 && node.args[0].node() &&
                           graph.node(*node.args[0].node()).kind == NodeKind::placeholder;
        return op_word(node.target) + "(" + (plain ? graph.node(*node.args[0].node()).name : "…") + ")";
    }
    if (node.kind != NodeKind::get_attr) return node.name;
    const Tensor& constant = graph.attributes.at(node.target);
    const bool number = constant.numel() == 1 && !is_complex(constant.dtype());
    return number ? short_number_at(constant.contiguous(), 0) : node.name;
}

}  // namespace

std::string near_text(const Graph& graph, const NearCase& near) {
    const std::string change = change_text(graph, near);
    return (near.same_result ? "The wrong result equals the result of the model " : "The result is right ") + change +
           ".";
}

std::string call_in_title(const Graph& graph, const Node& call, bool swapped) {
    return call_text(call, swapped, [&](const Arg& arg) { return operand_in_title(graph, arg); });
}

}  // namespace whittle
