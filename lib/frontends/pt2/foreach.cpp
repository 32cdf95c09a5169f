// Ops of lists of tensors (aten._foreach_add_.List): the op of one tensor, for each.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "frontends/pt2/importer.h"
#include "ops/core/registry.h"

namespace whittle::pt2 {

std::string element_name(std::string_view target) {
    std::string name(target.substr(kForeach.size(), target.rfind('.') - kForeach.size()));
    if (name.ends_with('_')) name.pop_back();
    if (name == "maximum") return "clamp_min";
    if (name == "minimum") return "clamp_max";
    return name;
}

namespace {

/// Of a list its element.
Arg element(const Arg& argument, std::size_t i) {
    const ArgList* list = argument.list();
    return list ? list->at(i) : argument;
}

}  // namespace

/// A call of the op by this name that takes these arguments, with its results; nothing where no overload does.
std::optional<Node> Importer::element_call(const std::string& name, const NamedArgs& arguments, std::size_t i) const {
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.name.starts_with("aten." + name + ".")) continue;
        Node call{.name = name, .target = std::string(op.name)};
        for (const auto& [key, value] : arguments) {
            const Param* param = op.schema.param(key);
            if (param && param->keyword_only)
                call.kwargs.emplace_back(key, element(value, i));
            else
                call.args.push_back(element(value, i));
        }
        try {
            bind_arguments(op.schema, call);
            call.results = infer(graph_, call);
            return call;
        } catch (const Error&) {  // another overload
        }
    }
    return std::nullopt;
}

bool Importer::add_foreach(const Json& graph, const Json& node, const std::string& target) {
    if (!target.starts_with(kForeach)) return false;
    NamedArgs arguments;
    std::size_t count = 0;
    for (const Json& input : node.at("inputs"))
        if (Arg value = argument(input.at("arg")); !value.is_none()) {
            if (const ArgList* list = value.list()) count = std::max(count, list->size());
            arguments.emplace_back(input.value("name", ""), std::move(value));
        }
    const bool writes = target[target.rfind('.') - 1] == '_';
    std::vector<Node> calls;
    for (std::size_t i = 0; i < count; ++i) {
        std::optional<Node> call = element_call(element_name(target), arguments, i);
        if (!call) return false;
        set_place(*call, node);
        calls.push_back(std::move(*call));
    }
    const std::vector<std::string> names = result_names(node);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const std::vector<StackFrame> stack = calls[i].stack;
        if (i < names.size()) calls[i].name = names[i];
        NodeRef result = graph_.add(std::move(calls[i]));
        if (writes) {
            const Arg self = element(arguments.front().second, i);
            Node copy{.name = "copy_", .target = "aten.copy_.default", .args = {self, result}, .stack = stack};
            copy.results = {graph_.node(*self.node()).meta()};
            result = graph_.add(std::move(copy));
        }
        if (i >= names.size()) continue;
        check_stated(graph, {names[i]}, {graph_.node(result).meta()});
        bind(names[i], result);
    }
    return true;
}

}  // namespace whittle::pt2
