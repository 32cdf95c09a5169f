// torch.ops.higher_order: calls with nested graphs.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/joined.h"
#include "frontends/pt2/importer.h"
#include "ops/core/registry.h"

namespace whittle::pt2 {
namespace {

/// Higher-order ops that run their graph on the operands; what else they say, they say to compilers.
bool runs_its_graph(std::string_view name) {
    constexpr std::string_view kNames[] = {"hints_wrapper", "invoke_subgraph",           "strict_mode",
                                           "wrap",          "tag_activation_checkpoint", "wrap_activation_checkpoint"};
    return std::ranges::find(kNames, name) != std::end(kNames);
}

/// A nested graph of the call returns a number, of which Whittle's higher-order ops know nothing.
bool returns_numbers(const Json& inputs) {
    return std::ranges::any_of(inputs, [](const Json& input) {
        const auto [kind, value] = chosen(input.at("arg"));
        return kind == "as_graph" && std::ranges::any_of(value->at("graph").at("outputs"), [](const Json& output) {
                   return chosen(output).first != "as_tensor";
               });
    });
}

}  // namespace

void Importer::add_higher_order(const Json& file, const Json& node, const std::string& name) {
    const Json& inputs = node.at("inputs");
    const auto at = [&](std::size_t i) -> const Json& { return inputs.at(i).at("arg"); };
    const auto operands = [&](std::size_t i) {
        const Arg value = i < inputs.size() ? argument(at(i)) : Arg(ArgList());
        const ArgList* list = value.list();
        if (!list) throw Error("found an argument that is not a list, expected a list of operands");
        return *list;
    };
    const auto tensors = [](const ArgList& all) {
        ArgList kept;
        std::ranges::copy_if(all, std::back_inserter(kept), [](const Arg& operand) { return operand.node(); });
        return kept;
    };
    if (name == "wrap_with_set_grad_enabled") return write_out(node, 1);
    if (name == "wrap_with_autocast") {
        regions_->autocast.push_back(argument(at(2)) == Arg(true));
        write_out(node, 4);
        regions_->autocast.pop_back();
        return;
    }
    if (runs_its_graph(name)) return write_out(node, 0);
    Node call{.name = name, .target = "higher_order." + (name == "map_impl" ? "map" : name)};
    set_place(call, node);
    const auto leave_opaque = [&] {  // under PyTorch's name where the registry has another form of the op
        if (Registry::instance().find(call.target)) call.target = node.at("target").get<std::string>();
        set_arguments(call, inputs);
        add_opaque(file, node, std::move(call));
    };
    if (returns_numbers(inputs) || !Registry::instance().find(call.target)) return leave_opaque();
    if (name == "cond") {
        const ArgList given = operands(3);
        call.args = {argument(at(0)), nested(at(1), given), nested(at(2), given), tensors(given)};
    } else if (name == "while_loop") {
        const ArgList carried = operands(2), extra = operands(3);
        const ArgList all = joined(carried, extra);
        if (tensors(carried).size() != carried.size()) return leave_opaque();  // it carries a number
        call.args = {nested(at(0), all), nested(at(1), all), carried, tensors(extra)};
    } else if (name == "map_impl" || name == "map") {
        const ArgList xs = operands(1), extra = operands(2);
        call.args = {nested(at(0), joined(xs, extra), {0, xs.size()}), xs, tensors(extra)};
    } else if (name == "scan") {
        // PyTorch 2.6 also has the dimension of the slices and whether the last one comes first.
        const std::size_t extra_at = inputs.size() > 4 ? 5 : 3;
        if (extra_at == 5 && (argument(at(3)) != Arg(0) || argument(at(4)) != Arg(false))) return leave_opaque();
        const ArgList init = operands(1), xs = operands(2), extra = operands(extra_at);
        const ArgList all = joined(joined(init, xs), extra);
        call.args = {nested(at(0), all, {init.size(), init.size() + xs.size()}), init, xs, tensors(extra)};
    }
    call.results = infer(graph_, call);
    check_stated(file, result_names(node), call.results);
    bind_results(node.at("outputs"), graph_.add(std::move(call)));
}

void Importer::write_out(const Json& node, std::size_t graph_at) {
    const Json& inputs = node.at("inputs");
    const Json& body = inputs.at(graph_at).at("arg").at("as_graph").at("graph");
    Importer inner(graph_, symbols_, data_, depth_ + 1);
    inner.regions_ = regions_;
    const Json& parameters = body.at("inputs");
    const ArgList operands = operands_behind(inputs, graph_at);
    if (operands.size() != parameters.size())
        throw Error("found " + std::to_string(operands.size()) + " operands, expected " +
                    std::to_string(parameters.size()) + ", one for each input of the nested graph");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Json& parameter = *chosen(parameters[i]).second;
        inner.bind(parameter.value("name", parameter.value("as_name", "")), operands[i]);
    }
    inner.add_nodes(body);
    const std::vector<std::string> names = result_names(node);
    const Json& outputs = body.at("outputs");
    if (names.size() > outputs.size())
        throw Error("found " + std::to_string(names.size()) + " results, expected at most " +
                    std::to_string(outputs.size()) + ", the number of outputs of the nested graph");
    for (std::size_t i = 0; i < names.size(); ++i) bind(names[i], inner.argument(outputs[i]));
}

/// Positional operands, which have no name, with those of lists one by one. A text names the graph, and flags of
/// keywords change nothing that is computed.
ArgList Importer::operands_behind(const Json& inputs, std::size_t graph_at) const {
    ArgList operands;
    for (std::size_t i = graph_at + 1; i < inputs.size(); ++i) {
        const Json& input = inputs[i].at("arg");
        if (!inputs[i].value("name", "").empty() || chosen(input).first == "as_string") continue;
        const Arg value = argument(input);
        if (const ArgList* several = value.list())
            operands.insert(operands.end(), several->begin(), several->end());
        else
            operands.push_back(value);
    }
    return operands;
}

GraphRef Importer::nested(const Json& argument, const ArgList& operands, Sliced sliced) {
    const Json& named_graph = argument.at("as_graph");
    const Json& body = named_graph.at("graph");
    const Json& parameters = body.at("inputs");
    if (parameters.size() != operands.size())
        throw Error("found " + std::to_string(operands.size()) + " operands, expected " +
                    std::to_string(parameters.size()) + ", one for each input of the nested graph");
    Graph graph{.name = named_graph.value("name", "body")};
    Importer inner(graph, symbols_, nullptr, depth_ + 1);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto [kind, parameter] = chosen(parameters[i]);
        const NodeRef* read = operands[i].node();
        const std::string name = parameter->value("name", parameter->value("as_name", ""));
        if (!read) {
            inner.bind(name, operands[i]);
            continue;
        }
        ValueMeta meta = graph_.node(*read).meta();
        if (sliced.first <= i && i < sliced.end) {
            if (meta.sizes.empty())
                throw Error(
                    "found a 0-d tensor as the operand that a loop slices, expected a tensor of at least one "
                    "dimension");
            meta.sizes.erase(meta.sizes.begin());
            meta.strides.erase(meta.strides.begin());
        }
        inner.bind(name, graph.placeholder(name, std::move(meta)));
    }
    inner.add_nodes(body);
    std::vector<NodeRef> results;
    for (const Json& output : body.at("outputs")) {
        const Arg value = inner.argument(output);
        if (!value.node())
            throw Error(
                "found a nested graph that returns a number, expected a nested graph that returns only tensors");
        results.push_back(*value.node());
    }
    graph.output(results);
    return add_nested(std::move(graph));
}

}  // namespace whittle::pt2
