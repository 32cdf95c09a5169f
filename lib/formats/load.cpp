#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
#include "formats/shared_fields.h"
#include "graph/verify.h"

namespace whittle {
namespace {

/// Reads one graph; nested graphs by readers of their own over the same document.
class GraphReader {
  public:
    GraphReader(const Document& document, TensorReader& tensors) : in_(document), tensors_(tensors) {}

    Graph read(const Json& object, bool top) {
        if (top)
            in_.only_members(object, {"format", "version", "tensors", "name", "dialect", "opset_imports", "attributes",
                                      "subgraphs", "nodes", "failure"});
        else
            in_.only_members(object, {"name", "dialect", "opset_imports", "attributes", "subgraphs", "nodes"});
        graph_.name = in_.text(in_.member(object, "name"));
        graph_.dialect = dialect(in_.member(object, "dialect"));
        if (const Json* opsets = in_.find(object, "opset_imports"))
            for (const auto& [domain, version] : in_.object(*opsets).items())
                graph_.opset_imports[domain] = in_.integer(version);
        if (const Json* attributes = in_.find(object, "attributes"))
            for (const auto& [key, tensor] : in_.object(*attributes).items())
                graph_.attributes.emplace(key, tensors_.read(tensor));
        if (const Json* subgraphs = in_.find(object, "subgraphs"))
            for (const auto& [key, subgraph] : in_.object(*subgraphs).items())
                graph_.subgraphs.emplace(
                    key, std::make_shared<const Graph>(GraphReader(in_, tensors_).read(subgraph, false)));
        const Json& nodes = in_.list(in_.member(object, "nodes"));
        graph_.nodes.reserve(nodes.size());
        ids_.reserve(nodes.size());
        for (const Json& value : nodes) add(value);
        if (const Json* value = in_.find(object, "failure"))
            graph_.failure = Form<Failure>::read({in_, &tensors_}, *value, {});
        return std::move(graph_);
    }

  private:
    void add(const Json& value) {
        in_.only_members(value, {"kind", "name", "target", "args", "kwargs", "results", "module_path", "stack"});
        Node node;
        node.kind = kind(in_.member(value, "kind"));
        const Json& name = in_.member(value, "name");
        node.name = in_.text(name);
        if (const Json* target = in_.find(value, "target")) node.target = in_.text(*target);
        if (const Json* args = in_.find(value, "args")) node.args = arg_list(*args);
        if (const Json* kwargs = in_.find(value, "kwargs"))
            for (const auto& [key, kwarg] : in_.object(*kwargs).items()) node.kwargs.emplace_back(key, arg(kwarg));
        if (const Json* results = in_.find(value, "results"))
            for (const Json& result : in_.list(*results)) node.results.push_back(meta(result));
        if (const Json* path = in_.find(value, "module_path")) node.module_path = in_.text(*path);
        if (const Json* stack = in_.find(value, "stack"))
            node.stack = Form<std::vector<StackFrame>>::read({in_}, *stack, {});
        if (!ids_.emplace(node.name, static_cast<NodeId>(graph_.nodes.size())).second)
            in_.fail(name, "a name that no earlier node has");
        graph_.nodes.push_back(std::move(node));
    }

    const std::string& dialect(const Json& value) const {
        const std::string& text = in_.text(value);
        if (text != "aten" && text != "onnx") in_.fail(value, "aten or onnx");
        return text;
    }

    NodeKind kind(const Json& value) const {
        const std::string& text = in_.text(value);
        for (const NodeKind kind : {NodeKind::placeholder, NodeKind::get_attr, NodeKind::call, NodeKind::output})
            if (name(kind) == text) return kind;
        in_.fail(value, "placeholder, get_attr, call or output");
    }

    ArgList arg_list(const Json& value) const {
        ArgList list;
        list.reserve(in_.list(value).size());
        for (const Json& element : value) list.push_back(arg(element));
        return list;
    }

    Arg arg(const Json& value) const {
        if (value.is_null()) return {};
        if (value.is_boolean()) return value.get<bool>();
        if (value.is_number_integer()) return in_.integer(value);
        if (value.is_number()) return in_.number(value);
        if (value.is_string()) return in_.text(value);
        if (value.is_array()) return arg_list(value);
        if (value.size() != 1) in_.fail(value, "an object with one member: node, dtype, float, bytes or graph");
        if (const Json* name = in_.find(value, "node")) return reference(*name);
        if (const Json* dtype = in_.find(value, "dtype")) return read_dtype(in_, *dtype);
        if (in_.find(value, "float")) return in_.number(value);
        if (const Json* bytes = in_.find(value, "bytes")) return bytes_of(*bytes);
        if (const Json* graph = in_.find(value, "graph")) return GraphRef{in_.text(*graph)};
        in_.fail(value, "an object with one member: node, dtype, float, bytes or graph");
    }

    NodeRef reference(const Json& value) const {
        const auto found = ids_.find(in_.text(value));
        if (found == ids_.end()) in_.fail(value, "the name of an earlier node");
        return {found->second};
    }

    std::string bytes_of(const Json& value) const {
        const std::string& hex = in_.text(value);
        std::string bytes;
        for (std::size_t i = 0; i < hex.size(); i += 2) {
            unsigned byte = 0;
            const char* end = hex.data() + std::min(i + 2, hex.size());
            const auto result = std::from_chars(hex.data() + i, end, byte, 16);
            if (result.ec != std::errc{} || result.ptr != hex.data() + i + 2)
                in_.fail(value, "pairs of hexadecimal digits");
            bytes += static_cast<char>(byte);
        }
        return bytes;
    }

    ValueMeta meta(const Json& value) const {
        in_.only_members(value, {"dtype", "sizes", "strides", "storage_offset", "requires_grad", "leaf", "placement"});
        ValueMeta meta;
        meta.dtype = read_dtype(in_, in_.member(value, "dtype"));
        meta.sizes = read_sizes(in_, in_.member(value, "sizes"));
        const Json* strides = in_.find(value, "strides");
        meta.strides = strides ? in_.integers(*strides) : contiguous_strides(meta.sizes);
        if (const Json* grad = in_.find(value, "requires_grad")) meta.requires_grad = in_.boolean(*grad);
        if (const Json* leaf = in_.find(value, "leaf")) meta.leaf = in_.boolean(*leaf);
        if (const Json* offset = in_.find(value, "storage_offset"))
            if (meta.storage_offset = in_.integer(*offset); meta.storage_offset < 0)
                in_.fail(*offset, "an integer, 0 or more");
        if (const Json* place = in_.find(value, "placement"))
            meta.placement = placed(Form<Placement>::read({in_}, *place, {}));
        return meta;
    }

    const Document& in_;
    TensorReader& tensors_;
    Graph graph_;
    std::unordered_map<std::string, NodeId> ids_;
};

class NoSchemas final : public SchemaSource {
  public:
    const Schema* find(std::string_view) const override { return nullptr; }
};

Graph read_document(Document& document, TensorReader& tensors) {
    document.require_format(kGraphFormat.name, kGraphFormat.major, kGraphFormat.minor);
    Graph graph = GraphReader(document, tensors).read(document.root(), true);
    try {
        verify(graph, Stage::captured, NoSchemas());
    } catch (Error& error) {
        error.locate({document.file(), error.where().position});
        throw;
    }
    return graph;
}

}  // namespace

Graph load_graph(const std::filesystem::path& path) {
    Document document(read_file(path), path.string());
    TensorReader tensors(document);
    return read_document(document, tensors);
}

Graph graph_from_json(const std::string& text, const std::map<std::string, Tensor>& tensors, const std::string& file) {
    Document document(text, file);
    TensorReader reader(document, tensors);
    return read_document(document, reader);
}

}  // namespace whittle
