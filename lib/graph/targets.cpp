#include <algorithm>
#include <string_view>

#include "graph/graph.h"

namespace whittle {

namespace {

constexpr std::string_view kRunsAnOp = "higher_order.auto_functionalized";

/// "mylib.bump.default" of the operator "torch.ops.mylib.bump.default".
void add_ops_run(const Graph& graph, std::vector<std::string>& names) {
    for (const Node& node : graph.nodes) {
        if (node.target != kRunsAnOp || node.args.empty()) continue;
        const std::string* run = std::get_if<std::string>(&node.args.front().value);
        if (!run) continue;
        constexpr std::string_view kOps = "torch.ops.";
        std::string name = run->starts_with(kOps) ? run->substr(kOps.size()) : *run;
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    for (const auto& [name, nested] : graph.subgraphs) add_ops_run(*nested, names);
}

}  // namespace

std::vector<std::string> op_names(const Graph& graph, const std::vector<std::string>& targets) {
    std::vector<std::string> names;
    for (const std::string& target : targets)
        if (target == kRunsAnOp)
            add_ops_run(graph, names);
        else
            names.push_back(target);
    return names;
}

}  // namespace whittle
