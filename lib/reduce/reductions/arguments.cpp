// arguments: those that have a default take it.
#include "ops/core/registry.h"
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {

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
