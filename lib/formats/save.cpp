#include "base/error.h"

#include <algorithm>

#include "base/files.h"
#include "base/words.h"
#include "formats/json.h"
#include "formats/json_text.h"
#include "formats/shared_fields.h"
#include "graph/placement.h"

namespace whittle {
namespace {

/// Writes one graph, its nested graphs inside it; members in a fixed order, one node per line. It joins texts, for
/// fields() (formats/fields.h) has no word for an argument, which is of one of many kinds, and a JSON library breaks
/// all lines or none.
class GraphWriter {
  public:
    GraphWriter(const Graph& graph, TensorWriter& tensors, std::string indent)
        : graph_(graph), tensors_(tensors), indent_(std::move(indent)) {}

    /// The members of the graph's object, without its braces.
    std::string members() {
        member("name", json_quote(graph_.name));
        member("dialect", json_quote(graph_.dialect));
        if (!graph_.opset_imports.empty()) member("opset_imports", opsets());
        if (!graph_.attributes.empty()) member("attributes", attributes());
        if (!graph_.subgraphs.empty()) member("subgraphs", subgraphs());
        member("nodes", nodes());
        if (graph_.failure) member("failure", failure());
        return std::move(out_);
    }

  private:
    void member(const char* key, const std::string& value) {
        if (!out_.empty()) out_ += ",\n";
        out_ += indent_ + "\"" + key + "\": " + value;
    }

    /// A list or object with one entry per line.
    std::string block(char open, const std::vector<std::string>& entries, char close) const {
        std::string text(1, open);
        for (std::size_t i = 0; i < entries.size(); ++i) text += (i ? ",\n" : "\n") + indent_ + "  " + entries[i];
        return text + (entries.empty() ? "" : "\n" + indent_) + close;
    }

    template <class List, class Text>
    static std::string list(const List& values, Text&& text_of) {
        return "[" + join(values, text_of) + "]";
    }

    std::string opsets() const {
        const auto text = [](const auto& opset) {
            return json_quote(opset.first) + ": " + std::to_string(opset.second);
        };
        return "{" + join(graph_.opset_imports, text) + "}";
    }

    std::string attributes() const {
        std::vector<std::string> entries;
        for (const auto& [key, tensor] : graph_.attributes)
            entries.push_back(json_quote(key) + ": " + tensors_.json(tensor));
        return block('{', entries, '}');
    }

    std::string subgraphs() const {
        std::vector<std::string> entries;
        for (const auto& [key, subgraph] : graph_.subgraphs)
            entries.push_back(json_quote(key) + ": {\n" + GraphWriter(*subgraph, tensors_, indent_ + "    ").members() +
                              "\n" + indent_ + "  }");
        return block('{', entries, '}');
    }

    std::string nodes() const {
        std::vector<std::string> entries;
        entries.reserve(graph_.nodes.size());
        for (const Node& node : graph_.nodes) entries.push_back(node_text(node));
        return block('[', entries, ']');
    }

    std::string node_text(const Node& node) const {
        std::string text = "{\"kind\": \"" + std::string(name(node.kind)) + "\", \"name\": " + json_quote(node.name);
        if (!node.target.empty()) text += ", \"target\": " + json_quote(node.target);
        if (!node.args.empty()) text += ", \"args\": " + arg_list(node.args);
        if (!node.kwargs.empty()) {
            const auto entry = [&](const auto& kwarg) { return json_quote(kwarg.first) + ": " + arg(kwarg.second); };
            text += ", \"kwargs\": {" + join(node.kwargs, entry) + "}";
        }
        if (!node.results.empty()) text += ", \"results\": " + list(node.results, meta);
        if (!node.module_path.empty()) text += ", \"module_path\": " + json_quote(node.module_path);
        if (!node.stack.empty()) text += ", \"stack\": " + json_of(node.stack);
        return text + "}";
    }

    std::string arg_list(const ArgList& args) const {
        return list(args, [this](const Arg& element) { return arg(element); });
    }

    std::string arg(const Arg& arg) const {
        struct Visitor {
            const GraphWriter& writer;
            std::string operator()(std::monostate) const { return "null"; }
            std::string operator()(NodeRef ref) const {
                return "{\"node\": " + json_quote(writer.graph_.node(ref).name) + "}";
            }
            std::string operator()(std::int64_t value) const { return std::to_string(value); }
            std::string operator()(double value) const { return json_number(value); }
            std::string operator()(bool value) const { return value ? "true" : "false"; }
            std::string operator()(const std::string& value) const {
                return is_utf8(value) ? json_quote(value) : "{\"bytes\": \"" + hex(value) + "\"}";
            }
            std::string operator()(DType value) const { return "{\"dtype\": \"" + std::string(name(value)) + "\"}"; }
            std::string operator()(const ArgList& list) const { return writer.arg_list(list); }
            std::string operator()(const GraphRef& value) const {
                return "{\"graph\": " + json_quote(value.name) + "}";
            }
        };
        return std::visit(Visitor{*this}, arg.value);
    }

    static std::string hex(const std::string& bytes) {
        static constexpr char digits[] = "0123456789abcdef";
        std::string text;
        for (const char c : bytes) {
            text += digits[static_cast<unsigned char>(c) >> 4];
            text += digits[c & 15];
        }
        return text;
    }

    static std::string meta(const ValueMeta& meta) {
        std::string text = "{\"dtype\": \"" + std::string(name(meta.dtype)) + "\", \"sizes\": " + to_string(meta.sizes);
        if (meta.strides != contiguous_strides(meta.sizes)) text += ", \"strides\": " + to_string(meta.strides);
        if (meta.storage_offset) text += ", \"storage_offset\": " + std::to_string(meta.storage_offset);
        if (meta.requires_grad) text += ", \"requires_grad\": true";
        if (!meta.leaf) text += ", \"leaf\": false";
        if (meta.placement) text += ", \"placement\": " + json_of(*meta.placement);
        return text + "}";
    }

    std::string failure() const {
        JsonWriter out(JsonWriter::Begin::in_members, &tensors_);
        Form<Failure>::write(out, *graph_.failure, {});
        return out.take();
    }

    const Graph& graph_;
    TensorWriter& tensors_;
    const std::string indent_;
    std::string out_;
};

/// The oldest version that has all members of the file, so that older readers take what they can.
FileFormat format_of(const Graph& graph) {
    FileFormat format = kGraphFormat;
    const Culprit culprit = graph.failure ? graph.failure->culprit.value_or(Culprit()) : Culprit();
    if (!culprit.dependents.empty() || !culprit.application.empty()) return format;
    format.minor = 4;
    const auto has_origin = [](const Node& node) {
        return node.kind == NodeKind::placeholder && (node.meta().storage_offset || !node.meta().leaf);
    };
    if (culprit.minimized_only || std::ranges::any_of(graph.nodes, has_origin)) return format;
    format.minor = 3;
    if (misplaced_value(graph)) return format;
    format.minor = !graph.failure || graph.failure->version.empty() ? 0 : 2;
    return format;
}

}  // namespace

std::string graph_to_json(const Graph& graph, std::map<std::string, Tensor>& tensors) {
    TensorWriter writer;
    std::string text = file_text(format_of(graph), "\n" + GraphWriter(graph, writer, "  ").members());
    tensors.insert(writer.sidecar().begin(), writer.sidecar().end());
    return text;
}

namespace {

void save(const Graph& graph, const std::filesystem::path& path, bool shares) {
    TensorWriter tensors;
    const std::string members = "\n" + GraphWriter(graph, tensors, "  ").members();
    save_with_tensors(
        path, tensors.sidecar(),
        [&](const std::string& sidecar) { return file_text(format_of(graph), members, sidecar); }, shares);
}

}  // namespace

void save_graph(const Graph& graph, const std::filesystem::path& path) { save(graph, path, false); }

void save_graph_sharing(const Graph& graph, const std::filesystem::path& path) { save(graph, path, true); }

void save_graph(const Graph& graph, const std::filesystem::path& path, SharedTensors& shared) {
    TensorWriter tensors;
    const std::string members = "\n" + GraphWriter(graph, tensors, "  ").members();
    std::filesystem::path beside = path;
    beside.replace_extension(".safetensors");
    const bool any = !tensors.sidecar().empty();
    if (any) shared.put(tensors.sidecar(), beside);
    write_file(path, file_text(format_of(graph), members, any ? beside.filename().string() : ""));
}

bool is_saved(const Graph& graph, const std::filesystem::path& path) {
    std::error_code missing;
    if (!std::filesystem::is_regular_file(path, missing)) return false;
    const std::filesystem::path beside = sidecar_named_in(path);
    TensorWriter tensors;
    const std::string members = "\n" + GraphWriter(graph, tensors, "  ").members();
    const std::string sidecar = tensors.sidecar().empty() ? "" : beside.filename().string();
    if (file_text(format_of(graph), members, sidecar) != read_file(path)) return false;
    return tensors.sidecar().empty() || std::filesystem::is_regular_file(beside, missing);
}

}  // namespace whittle
