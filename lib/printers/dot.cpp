#include "printers/dot.h"

#include <algorithm>

#include "graph/text.h"

namespace whittle::printers {
namespace {

/// For a quoted string of the DOT language: https://graphviz.org/doc/info/lang.html
std::string quote(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += std::string("\\") + c;
        else if (c == '\n')
            result += "\\n";
        else
            result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result + "\"";
}

bool is_result(const Graph& graph, NodeId id) {
    const std::vector<NodeId> results = graph.outputs();
    return std::ranges::find(results, id) != results.end();
}

}  // namespace

std::string dot_cluster(const Graph& graph, const DotCluster& options) {
    const std::string prefix = 'g' + std::to_string(options.number);
    const auto id_of = [&](NodeId id) { return prefix + "_" + std::to_string(id); };
    std::string text = "  subgraph cluster_" + prefix + " {\n    label=" + quote(options.title) + ";\n";
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const NodeId id = static_cast<NodeId>(i);
        if (node.kind == NodeKind::get_attr && !is_result(graph, id)) continue;
        std::string label, style;
        if (node.kind == NodeKind::output) {
            label = "output";
            style = "shape=ellipse, fillcolor=\"#fdf3dc\"";
        } else if (node.kind != NodeKind::call) {
            label = (node.target.empty() ? node.name : node.target) + "\n" + print(node.meta());
            style = "shape=ellipse, fillcolor=\"#e6f4e6\"";
        } else {
            label = "%" + node.name + "\n" + node.target;
            for_each_input(node, [&](NodeRef ref) {
                const Node& source = graph.node(ref);
                if (source.kind == NodeKind::get_attr) label += "\n" + source.target + " " + print(source.meta());
            });
            const bool stops = std::ranges::binary_search(options.red, id);
            style = stops ? "shape=box, style=filled, fillcolor=\"#f4b6b0\", color=red" : "shape=box";
        }
        text += "    " + id_of(id) + " [label=" + quote(label) + ", " + style + "];\n";
        for_each_input(node, [&](NodeRef ref) {
            const Node& source = graph.node(ref);
            if (source.kind == NodeKind::get_attr && node.kind != NodeKind::output) return;
            const std::string edge = source.results.empty() ? "" : print(source.results.front());
            text += "    " + id_of(ref.id) + " -> " + id_of(id) + " [label=" + quote(edge) + "];\n";
        });
    }
    return text + "  }\n";
}

std::string dot_file(const std::vector<std::string>& clusters) {
    std::string text =
        "digraph whittle {\n"
        "  graph [fontname=\"sans-serif\", fontsize=12, color=\"#b0b8c4\", nodesep=0.4];\n"
        "  node [fontname=\"monospace\", fontsize=10, style=filled, fillcolor=\"#eef3fa\", color=\"#5b6b80\"];\n"
        "  edge [fontname=\"monospace\", fontsize=8, fontcolor=\"#5b6b80\", color=\"#5b6b80\", arrowsize=0.7];\n";
    for (const std::string& cluster : clusters) text += cluster;
    return text + "}\n";
}

}  // namespace whittle::printers
