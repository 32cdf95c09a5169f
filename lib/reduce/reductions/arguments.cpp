// arguments: those that have a default take it; what may be none is, and what is true in a list is false.
#include "ops/core/registry.h"
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {

namespace {

/// Of one argument without a default.
void simpler_values(const Node& call, std::size_t i, const Param& param, NodeId id, const DraftOf& at,
                    std::vector<Edit>& edits) {
    const bool whole = param.type != ParamType::tensor_list;  // of a list only elements may be none
    if (param.optional && whole && !call.args[i].is_none())
        edits.push_back({"no " + param.name + " of %" + call.name,
                         [at, id, i](Draft& draft, std::int64_t) { at(draft).node(id).args.at(i) = Arg(); }});
    const ArgList* const list = call.args[i].list();
    if (!list || param.type != ParamType::bool_list) return;
    for (std::size_t k = 0; k < list->size(); ++k)
        if (const auto* const value = std::get_if<bool>(&(*list)[k].value); value && *value)
            edits.push_back({"false for element " + std::to_string(k) + " of " + param.name + " of %" + call.name,
                             [at, id, i, k](Draft& draft, std::int64_t) {
                                 auto& values = std::get<ArgList>(at(draft).node(id).args.at(i).value);
                                 values.at(k) = Arg(false);
                             }});
}

}  // namespace

std::vector<Edit> argument_edits(const Case& from) {
    std::vector<Edit> edits;
    for_each_graph(from, [&](const Graph& graph, const DraftOf& at) {
        for (const NodeId id : graph.calls()) {
            const Node& call = graph.node({id});
            const Schema* schema = Registry::instance().find(call.target);
            if (!schema) continue;
            const auto what = [&](const Param& param) { return "default " + param.name + " of %" + call.name; };
            for (const auto& [key, arg] : call.kwargs) {
                const Param* param = schema->param(key);
                if (!param || !param->default_value) continue;
                edits.push_back({what(*param), [at, id, key = key](Draft& draft, std::int64_t) {
                                     std::erase_if(at(draft).node(id).kwargs,
                                                   [&](const auto& entry) { return entry.first == key; });
                                 }});
            }
            for (std::size_t i = 0; i < call.args.size() && i < schema->params.size(); ++i) {
                const Param& param = schema->params[i];
                if (!param.default_value) simpler_values(call, i, param, id, at, edits);
                if (!param.default_value || call.args[i] == *param.default_value) continue;
                edits.push_back({what(param), [at, id, i, schema](Draft& draft, std::int64_t) {
                                     ArgList& args = at(draft).node(id).args;
                                     const auto standard = [&](std::size_t k) {
                                         return schema->params[k].default_value;
                                     };
                                     if (i < args.size()) args[i] = *standard(i);
                                     while (!args.empty() && args.back() == standard(args.size() - 1)) args.pop_back();
                                 }});
            }
        }
    });
    return edits;
}

}  // namespace whittle::reduce
