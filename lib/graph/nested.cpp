#include "graph/nested.h"

namespace whittle {

namespace {

void copy_named(const Arg& arg, const Graph& from, Graph& to) {
    if (const auto* ref = std::get_if<GraphRef>(&arg.value)) to.subgraphs[ref->name] = from.subgraphs.at(ref->name);
    if (const ArgList* list = arg.list())
        for (const Arg& element : *list) copy_named(element, from, to);
}

}  // namespace

void copy_nested(const Node& call, const Graph& from, Graph& to) {
    for (const Arg& arg : call.args) copy_named(arg, from, to);
    for (const auto& [key, arg] : call.kwargs) copy_named(arg, from, to);
}

}  // namespace whittle
