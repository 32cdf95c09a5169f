#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "base/number_text.h"
#include "base/words.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "graph/value_ref.h"

namespace whittle {
namespace {

bool is_identifier(std::string_view text) { return !text.empty() && identifier(text) == text; }

std::string quote(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : text) {
        switch (c) {
            case '"':
            case '\\':
                out += '\\';
                out += c;
                break;
            case '\n':
                out += "\\n";
                break;
            case '\t':
                out += "\\t";
                break;
            case '\r':
                out += "\\r";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
                    out += "\\x";
                    out += digits[static_cast<unsigned char>(c) >> 4];
                    out += digits[c & 15];
                } else {
                    out += c;
                }
        }
    }
    return out + '"';
}

std::string word_or_quoted(std::string_view text) { return is_identifier(text) ? std::string(text) : quote(text); }

/// The shortest text that reads back as the same double, and never as an integer.
std::string number(double value) {
    if (std::isnan(value)) return "nan";  // whatever its sign
    return std::isinf(value) ? shortest(value) : shortest_real(value);
}

/// Row-major strides, also for sizes whose product would overflow: a printer accepts every graph.
bool has_default_strides(const ValueMeta& meta) {
    if (meta.strides.size() != meta.sizes.size()) return false;
    std::uint64_t expected = 1;
    for (std::size_t d = meta.sizes.size(); d-- > 0;) {
        if (static_cast<std::uint64_t>(meta.strides[d]) != expected) return false;
        expected *= static_cast<std::uint64_t>(std::max<std::int64_t>(meta.sizes[d], 1));
    }
    return true;
}

struct ArgPrinter {
    const Graph& graph;

    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(NodeRef ref) const {
        const auto index = static_cast<std::size_t>(ref.id);
        if (ref.id < 0 || index >= graph.nodes.size()) return "%<" + std::to_string(ref.id) + ">";
        return "%" + graph.nodes[index].name;
    }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return number(value); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(const std::string& value) const { return quote(value); }
    std::string operator()(DType value) const { return std::string(name(value)); }
    std::string operator()(const GraphRef& value) const { return '@' + word_or_quoted(value.name); }
    std::string operator()(const ArgList& list) const {
        return "[" + join(list, [&](const Arg& arg) { return print(graph, arg); }) + "]";
    }
};

/// ["cuda:0", "Strided", ""]: device, layout, elements.
std::string place_text(const Placement& place) {
    return "[" + quote(place.device) + ", " + quote(place.layout) + ", " + quote(place.elements) + "]";
}

std::string operands(const Graph& graph, const Node& node) {
    std::string text = "(";
    const auto separator = [&] { return text.size() > 1 ? ", " : ""; };
    for (const Arg& arg : node.args) text.append(separator()).append(print(graph, arg));
    for (const auto& [key, arg] : node.kwargs)
        text.append(separator()).append(word_or_quoted(key)).append("=").append(print(graph, arg));
    return text + ")";
}

std::string results(const Node& node) {
    if (node.results.size() == 1) return print(node.results[0]);
    return "(" + join(node.results, [](const ValueMeta& meta) { return print(meta); }) + ")";
}

/// A target that reads as one word: "aten.add.Tensor", "onnx.Conv"; others are quoted.
std::string call_target(const std::string& target) {
    bool plain = !target.empty() && target.front() != '.' && target.back() != '.' && target != "return";
    for (std::size_t start = 0; plain && start <= target.size();) {
        const std::size_t end = std::min(target.find('.', start), target.size());
        const std::string_view part = std::string_view(target).substr(start, end - start);
        plain = start == 0 ? is_identifier(part) : identifier('_' + std::string(part)) == '_' + std::string(part);
        start = end + 1;
    }
    return plain ? target : "call[" + quote(target) + "]";
}

std::string comment(const std::string& module_path) {
    if (module_path.empty()) return {};
    bool plain = module_path.front() != ' ' && module_path.back() != ' ' && module_path.front() != '"';
    for (const char c : module_path) plain = plain && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    return "   # " + (plain ? module_path : quote(module_path));
}

void print_graph(const Graph& graph, const std::string& indent, std::string& out);

/// Attributes that no get_attr line describes.
void print_other_attributes(const Graph& graph, const std::string& indent, std::string& out) {
    std::set<std::string_view> described;
    for (const Node& node : graph.nodes) {
        if (node.kind != NodeKind::get_attr || node.results.size() != 1) continue;
        const auto found = graph.attributes.find(node.target);
        if (found != graph.attributes.end() && found->second.dtype() == node.meta().dtype &&
            found->second.sizes() == node.meta().sizes)
            described.insert(found->first);
    }
    for (const auto& [key, tensor] : graph.attributes)
        if (!described.count(key))
            out += indent + "attribute[" + quote(key) + "] : " + print(ValueMeta::of(tensor)) + "\n";
}

void print_header(const Graph& graph, std::string& out) {
    out += "graph " + word_or_quoted(graph.name);
    if (graph.dialect != (graph.opset_imports.empty() ? "aten" : "onnx"))
        out += " dialect(" + quote(graph.dialect) + ")";
    if (!graph.opset_imports.empty()) {
        out += " opset(";
        bool first = true;
        for (const auto& [domain, version] : graph.opset_imports) {
            out += (first ? "" : ", ") + quote(domain) + ": " + std::to_string(version);
            first = false;
        }
        out += ")";
    }
}

void print_graph(const Graph& graph, const std::string& indent, std::string& out) {
    print_header(graph, out);
    out += " {\n";
    const std::string inner = indent + "  ";
    for (const auto& [key, subgraph] : graph.subgraphs) {
        out += inner + "@" + word_or_quoted(key) + " = ";
        print_graph(*subgraph, inner, out);
    }
    print_other_attributes(graph, inner, out);
    for (const Node& node : graph.nodes) out += inner + print(graph, node) + "\n";
    out += indent + "}\n";
}

}  // namespace

std::string print(const ValueMeta& meta) {
    if (std::string unusual = unusual_type(meta); !unusual.empty()) return unusual;
    std::string text = std::string(name(meta.dtype)) + to_string(meta.sizes);
    if (!has_default_strides(meta)) text += " strides" + to_string(meta.strides);
    if (meta.storage_offset) text += " offset " + std::to_string(meta.storage_offset);
    if (meta.requires_grad) text += " grad";
    if (!meta.leaf) text += " nonleaf";
    return meta.placement ? text + " placed" + place_text(*meta.placement) : text;
}

std::string print(const Graph& graph, const Arg& arg) { return std::visit(ArgPrinter{graph}, arg.value); }

std::string print(const Graph& graph, const Node& node) {
    const std::string place = "%" + node.name + " = ";
    const std::string end = comment(node.module_path);
    switch (node.kind) {
        case NodeKind::placeholder:
        case NodeKind::get_attr:
            return place + std::string(name(node.kind)) + "[" + quote(node.target) + "] : " + results(node) + end;
        case NodeKind::call:
            return place + call_target(node.target) + operands(graph, node) + " : " + results(node) + end;
        case NodeKind::output:
            return (node.name == "output" ? "" : place) + "return " + operands(graph, node) + end;
    }
    __builtin_unreachable();
}

std::string print(const std::vector<StackFrame>& stack) {
    std::string text;
    for (const StackFrame& frame : stack) {
        text += "   File \"" + frame.file + "\"";
        if (frame.line > 0) text += ", line " + std::to_string(frame.line);
        text += ", in " + frame.function + "\n";
        if (!frame.text.empty()) text += "     " + frame.text + "\n";
    }
    return text;
}

std::vector<StackFrame> first_places(const Graph& graph, std::size_t most) {
    std::vector<StackFrame> places;
    for (const NodeId id : graph.calls()) {
        const std::vector<StackFrame>& stack = graph.node({id}).stack;
        if (places.size() == most) break;
        if (!stack.empty()) add_once(places, stack.front());
    }
    return places;
}

std::string place_line(const StackFrame& frame) {
    return frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : "") + "  " + frame.function +
           (frame.text.empty() ? "" : "  " + frame.text);
}

std::string summary(const Graph& graph) { return "graph " + graph.name + " (" + plural(op_count(graph), "op") + ")"; }

std::string place_of(const Graph& graph, const Node& node) {
    return "graph " + graph.name + ", node %" + node.name + " (" + node.target + ")";
}

std::string print(const Graph& graph) {
    std::string out;
    print_graph(graph, "", out);
    return out;
}

}  // namespace whittle
