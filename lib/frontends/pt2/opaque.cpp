// Calls of ops that Whittle does not know, as the file states them: opaque calls (ops/core/opaque.h).
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "frontends/pt2/importer.h"
#include "frontends/pt2/numbers.h"
#include "graph/placement.h"
#include "graph/value_ref.h"

namespace whittle::pt2 {
namespace {

/// What a member of sym_float_values or sym_bool_values says, as `literal` or by the hint of its expression.
const Json* literal_of(const Json& value, const char* literal) {
    const auto [kind, member] = chosen(value);
    if (kind == literal) return member;
    const auto hint = member->find("hint");
    return hint != member->end() && hint->is_object() && hint->contains(literal) ? &hint->at(literal) : nullptr;
}

}  // namespace

Arg stated_number(const Json& graph, const std::string& name, const std::map<std::string, std::int64_t>& symbols) {
    const auto stated = [&](const char* values) {
        const auto all = graph.find(values);
        return all != graph.end() && all->contains(name) ? &all->at(name) : nullptr;
    };
    if (const Json* size = stated("sym_int_values")) return size_of(*size, symbols);
    if (const Json* real = stated("sym_float_values"))
        if (const Json* value = literal_of(*real, "as_float")) return value->get<double>();
    if (const Json* truth = stated("sym_bool_values"))
        if (const Json* value = literal_of(*truth, "as_bool")) return value->get<bool>();
    throw Error("found no value of the number '" + name + "' in the file, expected a value");
}

void Importer::add_opaque(const Json& graph, const Json& node, Node call) {
    std::vector<std::string> names;
    for (const Json& output : node.at("outputs")) add_stated(graph, output, call, names);
    const auto first = std::ranges::find_if(names, [](const std::string& name) { return !name.empty(); });
    if (first == names.end()) {  // numbers, which the file states, or nothing
        if (node.at("outputs").empty() || !names.empty()) add_writing(node, call);
        return;
    }
    call.name = *first;
    if (const Json name = node.value("name", Json()); name.is_string()) call.name = name.get<std::string>();
    const std::vector<NodeRef> results = add_results(graph_, graph_.add(std::move(call)));
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!names[i].empty()) bind(names[i], results[i]);
}

/// Of a call that returns nothing: it may write to each of its tensors. In the form that PyTorch gives such calls in
/// functional programs: the call's results are what is behind the tensors' names from here on.
void Importer::add_writing(const Json& node, const Node& call) {
    Node functional{.name = call.target,
                    .target = "higher_order.auto_functionalized",
                    .args = {Arg("torch.ops." + call.target)},
                    .results = {ValueMeta()},
                    .stack = call.stack,
                    .module_path = call.module_path};
    std::vector<std::string> names = {""};
    for (const Json& input : node.at("inputs")) {
        const auto [kind, value] = chosen(input.at("arg"));
        if (const auto name = input.value("name", ""); name.empty())
            functional.args.push_back(argument(input.at("arg")));
        else
            functional.kwargs.emplace_back(name, argument(input.at("arg")));
        if (kind == "as_tensor") names.push_back(value->at("name"));
        if (kind == "as_tensors")
            for (const Json& tensor : *value) names.push_back(tensor.at("name"));
    }
    for (std::size_t i = 1; i < names.size(); ++i)
        if (const Arg operand = named(names[i]); const NodeRef* const read = operand.node())
            functional.results.push_back(graph_.node(*read).meta());
        else
            throw Error("found the number '" + names[i] + "' as an operand, expected a tensor");
    if (names.size() == 1) return;  // nothing that is computed depends on it
    const std::vector<NodeRef> results = add_results(graph_, graph_.add(std::move(functional)));
    for (std::size_t i = 1; i < names.size(); ++i) bind(names[i], results[i]);
}

/// Adds the tensors of an entry of the outputs as results, each with its name; numbers are known from here on.
void Importer::add_stated(const Json& graph, const Json& output, Node& call, std::vector<std::string>& names) {
    const auto meta = [&](const std::string& name) {
        if (name.empty()) return ValueMeta();
        try {
            return meta_of(graph.at("tensor_values").at(name), symbols_.sizes);
        } catch (const Error&) {  // only running the program tells
            if (!stated_) throw;
            return unknown_meta();
        }
    };
    const auto add = [&](const std::string& name) {
        names.push_back(name);
        call.results.push_back(meta(name));
    };
    const auto [kind, value] = chosen(output);
    if (kind == "as_tensor")
        add(value->at("name"));
    else if (kind == "as_none")
        add("");
    else if (kind == "as_tensors")
        for (const Json& tensor : *value) add(tensor.at("name"));
    else if (kind == "as_optional_tensor")
        add_stated(graph, *value, call, names);
    else if (kind == "as_optional_tensors" || kind == "as_nested_tensors")
        for (const Json& item : *value)
            add_stated(graph, item.is_array() ? Json{{"as_tensors", item}} : item, call, names);
    else if (kind.starts_with("as_sym_") && value->is_array())
        for (const Json& number : *value) add_stated(graph, Json{{"as_sym_int", number}}, call, names);
    else if (kind.starts_with("as_sym_") && value->contains("as_name"))
        bind(value->at("as_name"), number(graph, value->at("as_name")));
    else if (kind == "as_custom_obj")
        bind(value->at("name"), Arg(value->at("class_fqn").get<std::string>()));
    else if (kind == "as_graph")
        throw Error("found a result of kind " + kind + ", expected tensors, numbers or objects");
    // Other kinds are constants, which the file has where they are used.
}

Arg Importer::number(const Json& graph, const std::string& name) const {
    try {
        return stated_number(graph, name, symbols_.sizes);
    } catch (const Error&) {
        if (!stated_) throw;
        return Arg(name);
    }
}

void Importer::add_as_stated(const Json& graph, const Json& node, const std::string& target) {
    if (is_check(target)) return;
    Node call{.name = target, .target = target};
    set_place(call, node);
    set_arguments(call, node.at("inputs"));
    add_opaque(graph, node, std::move(call));
}

GraphRef Importer::stated_graph(const Json& argument) const {
    const Json& body = argument.at("graph");
    Graph graph{.name = argument.value("name", "body")};
    Importer inner(graph, symbols_, nullptr, depth_ + 1);
    inner.stated_ = true;
    for (const Json& parameter : body.at("inputs")) {
        const auto [kind, value] = chosen(parameter);
        const std::string name = value->is_object() ? value->value("name", value->value("as_name", "")) : "";
        if (kind == "as_tensor")
            inner.bind(name, graph.placeholder(name, meta_of(body.at("tensor_values").at(name), symbols_.sizes)));
        else if (kind == "as_custom_obj")
            inner.bind(name, Arg(value->at("class_fqn").get<std::string>()));
        else if (!name.empty())
            inner.bind(name, inner.number(body, name));
    }
    inner.add_nodes(body);
    std::vector<NodeRef> results;
    for (const Json& output : body.at("outputs")) {
        const Arg value = inner.argument(output);
        if (const NodeRef* result = value.node()) results.push_back(*result);
    }
    graph.output(results);
    return add_nested(std::move(graph));
}

GraphRef Importer::add_nested(Graph graph) const {
    std::string name = graph.name;
    for (int n = 1; graph_.subgraphs.contains(name); ++n) name = graph.name + "_" + std::to_string(n);
    graph_.subgraphs[name] = std::make_shared<const Graph>(std::move(graph));
    return {name};
}

}  // namespace whittle::pt2
