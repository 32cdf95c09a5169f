#include "graph/nested.h"

#include <algorithm>

namespace whittle {

namespace {

bool names_graph(const Arg& arg) {
    const ArgList* const list = arg.list();
    return std::holds_alternative<GraphRef>(arg.value) || (list && std::ranges::any_of(*list, names_graph));
}

void copy_named(const Arg& arg, const Graph& from, Graph& to) {
    if (const auto* ref = std::get_if<GraphRef>(&arg.value)) to.subgraphs[ref->name] = from.subgraphs.at(ref->name);
    if (const ArgList* list = arg.list())
        for (const Arg& element : *list) copy_named(element, from, to);
}

}  // namespace

bool has_nested_graph(const Node& call) {
    return std::ranges::any_of(call.args, names_graph) ||
           std::ranges::any_of(call.kwargs, [](const auto& kwarg) { return names_graph(kwarg.second); });
}

void copy_nested(const Node& call, const Graph& from, Graph& to) {
    for (const Arg& arg : call.args) copy_named(arg, from, to);
    for (const auto& [key, arg] : call.kwargs) copy_named(arg, from, to);
}

}  // namespace whittle
