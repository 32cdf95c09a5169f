#include "frontends/onnx/save.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "frontends/onnx/model_text.h"
#include "frontends/onnx/names.h"
#include "frontends/onnx/operands.h"
#include "frontends/onnx/proto.h"
#include "frontends/onnx/standard.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"
#include "tensor/opaque_types.h"

namespace whittle {
namespace {

using onnx_proto::in_quotes;
using onnx_proto::NameScope;

/// The first that allows all of the opset.
std::int64_t ir_version(std::int64_t opset) {
    return opset < 19 ? 8 : opset < 21 ? 9 : opset < 23 ? 10 : opset < 24 ? 11 : 12;
}

/// Of the elements, without gaps.
std::size_t byte_size(const Tensor& tensor) {
    return static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype());
}

/// Where weights go that do not stay in the model.
struct External {
    SharedWeights& weights;
    std::filesystem::path beside;
};

/// Writes one Graph as one GraphProto, nested graphs by recursion.
class Exporter {
  public:
    /// Large weights go to `external`, if there is one.
    Exporter(const Graph& graph, const External* external, const Exporter* outer = nullptr)
        : graph_(graph),
          external_(external),
          outer_(outer),
          scope_(outer ? &outer->scope_ : nullptr),
          node_names_(outer ? outer->node_names_ : std::make_shared<NameScope>()),
          names_(graph.nodes.size()) {}

    /// `captured`: ONNX names of the values that the last placeholders stand for.
    void write(onnx::GraphProto& proto, const std::vector<std::string>& captured = {}) {
        proto.set_name(graph_.name);
        find_initializers();
        write_inputs(proto, captured);
        write_initializers(proto);
        name_results();
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            if (is_op_call(node)) write_call(node, i, *proto.add_node());
        }
        write_outputs(proto, captured);
        write_opaque_types(proto);
    }

    /// Those that calls make and somebody reads.
    std::map<std::string, ValueRef> values() const {
        std::map<std::string, ValueRef> values;
        for (const NodeId id : graph_.calls())
            if (const std::string& name = names_[static_cast<std::size_t>(id)]; !name.empty())
                values[name] = value_of(graph_, {id});
        return values;
    }

  private:
    [[noreturn]] void fail(const Node& node, const std::string& message, const std::string& hint = {}) const {
        throw Error({"", place_of(graph_, node)}, message, hint);
    }

    std::string& name_of(NodeRef ref) { return names_.at(static_cast<std::size_t>(ref.id)); }

    /// One that is not known is left to the reader's inference.
    static void set_type(const ValueMeta& meta, const std::string& name, onnx::ValueInfoProto& info) {
        info.set_name(name);
        if (is_unknown(meta)) return;
        onnx::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
        type.set_elem_type(is_opaque(meta) ? opaque_type_from_name(meta.placement->elements)->onnx
                                           : info_of(meta.dtype).onnx);
        type.mutable_shape();  // a 0-d tensor has a shape, without dimensions
        for (const std::int64_t size : meta.sizes) type.mutable_shape()->add_dim()->set_dim_value(size);
    }

    /// Constants that are only tensor attributes are written there; all others are initializers.
    void find_initializers() {
        is_value_.assign(graph_.nodes.size(), false);
        const auto use = [&](const Arg& arg) {
            if (arg.node()) is_value_.at(static_cast<std::size_t>(arg.node()->id)) = true;
            if (arg.list())
                for (const Arg& element : *arg.list())
                    if (element.node()) is_value_.at(static_cast<std::size_t>(element.node()->id)) = true;
        };
        for (const Node& node : graph_.nodes) {
            for (const Arg& arg : node.args) use(arg);
            for (const auto& [key, arg] : node.kwargs)
                if (arg.list()) use(arg);  // captured values
        }
    }

    void write_inputs(onnx::GraphProto& proto, const std::vector<std::string>& captured) {
        const std::vector<NodeId> placeholders = graph_.placeholders();
        if (captured.size() > placeholders.size())
            throw Error({"", "graph " + graph_.name}, "found " + std::to_string(placeholders.size()) +
                                                          " placeholders, expected one for each of " +
                                                          std::to_string(captured.size()) + " captured values");
        const std::size_t own = placeholders.size() - captured.size();
        for (std::size_t i = 0; i < placeholders.size(); ++i) {
            const Node& node = graph_.node({placeholders[i]});
            if (i >= own) {
                name_of({placeholders[i]}) = captured[i - own];
                continue;
            }
            const std::string name = scope_.take(node.target.empty() ? node.name : node.target);
            name_of({placeholders[i]}) = name;
            set_type(node.meta(), name, *proto.add_input());
        }
    }

    /// The same tensor of a graph around this one, by its ONNX name: nested graphs read it from there.
    const std::string* shared_initializer(const Node& node) const {
        const Tensor& tensor = graph_.attributes.at(node.target);
        for (const Exporter* outer = outer_; outer; outer = outer->outer_) {
            const auto written = outer->initializers_.find(node.target);
            if (written == outer->initializers_.end()) continue;
            const Tensor& other = outer->graph_.attributes.at(node.target);
            const bool same = other.raw() == tensor.raw() && ValueMeta::of(other) == ValueMeta::of(tensor);
            return same ? &written->second : nullptr;
        }
        return nullptr;
    }

    void write_initializers(onnx::GraphProto& proto) {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            if (node.kind != NodeKind::get_attr || !is_value_[i]) continue;
            if (const std::string* shared = shared_initializer(node)) {
                names_[i] = *shared;
                continue;
            }
            const auto [known, added] = initializers_.try_emplace(node.target);
            if (added) {
                known->second = scope_.take(node.target);
                write_initializer(node, known->second, *proto.add_initializer());
            }
            names_[i] = known->second;
        }
    }

    void write_initializer(const Node& node, const std::string& name, onnx::TensorProto& proto) {
        const Tensor& tensor = graph_.attributes.at(node.target);
        if (is_opaque(node.meta()))
            put_opaque(node, name, proto);
        else if (external_ && byte_size(tensor) >= SharedWeights::kLeast)
            onnx_proto::put_external_tensor(tensor, name, external_->weights.put(tensor, external_->beside), proto);
        else
            onnx_proto::put_tensor(tensor, name, proto);
    }

    /// The file's own bytes.
    void put_opaque(const Node& node, const std::string& name, onnx::TensorProto& proto) const {
        const std::span<const std::byte> bytes = graph_.attributes.at(node.target).contiguous_bytes();
        if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
            fail(node, "found " + std::to_string(bytes.size()) +
                           " bytes that are not a TensorProto, expected a serialized TensorProto");
        if (!name.empty()) proto.set_name(name);
    }

    /// Results of calls: a single one is named like its node, others like the getitem that reads them.
    void name_results() {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            if (node.kind != NodeKind::call) continue;
            const std::optional<ValueRef> read = item_read(node);
            if (!read) {
                if (node.results.size() == 1) names_[i] = scope_.take(node.name);
                continue;
            }
            const bool single = graph_.node({read->node}).results.size() == 1;
            std::string& name = single ? name_of({read->node}) : result_names_[*read];
            if (name.empty()) name = scope_.take(node.name);
            names_[i] = name;
        }
    }

    void write_call(const Node& node, std::size_t position, onnx::NodeProto& proto) {
        const std::size_t dot = node.target.rfind('.');
        if (node.target.starts_with("aten.") || dot == std::string::npos || dot == 0 || dot + 1 == node.target.size())
            fail(node, "found " + node.target + ", which has no ONNX name, expected an op of the onnx dialect",
                 "save the graph as JSON");
        proto.set_op_type(node.target.substr(dot + 1));
        const std::string domain = domain_in(node.target);
        if (!domain.empty()) proto.set_domain(domain);
        if (graph_.opset_imports.count(domain) == 0)
            fail(node, "found the op domain " + in_quotes(domain) + ", which the graph does not import");
        if (!node.module_path.empty()) proto.set_name(node_names_->take(node.module_path));
        const RegisteredOp* op = Registry::instance().op(node.target);
        write_operands(node, proto);
        write_results(node, position, op, proto);
        for (const auto& [key, value] : node.kwargs) {
            if (key == "num_outputs" || key == "captured" || value.is_none()) continue;
            const Param* param = op ? op->schema.param(key) : nullptr;
            write_attribute(node, value, param, *proto.add_attribute());
            proto.mutable_attribute(proto.attribute_size() - 1)->set_name(key);
        }
        write_result_count(node, domain, proto);
        for (const Param& param : op ? op->schema.params : std::vector<Param>())
            if (param.type == ParamType::graph && !param.default_value && !node.kwarg(param.name))
                fail(node,
                     "the nested graph '" + param.name +
                         "' cannot be saved, because this nested graph returns values other than tensors",
                     "use the original ONNX file");
    }

    /// Those that nobody reads get names, but of an op that is not known, which may not have them.
    void write_results(const Node& node, std::size_t position, const RegisteredOp* op, onnx::NodeProto& proto) {
        int named = 0;
        for (std::size_t i = 0; i < node.results.size(); ++i) {
            const std::string& name = result_name(node, position, i);
            if (!name.empty()) named = static_cast<int>(i) + 1;
        }
        for (std::size_t i = 0; i < node.results.size(); ++i) {
            if (!op && named > 0 && static_cast<int>(i) >= named) return;
            std::string& name = result_name(node, position, i);
            if (name.empty() && (op || named == 0)) name = scope_.take(node.name + "_" + std::to_string(i));
            proto.add_output(name);
        }
    }

    std::string& result_name(const Node& node, std::size_t position, std::size_t result) {
        return node.results.size() == 1 ? names_[position]
                                        : result_names_[{static_cast<NodeId>(position), static_cast<int>(result)}];
    }

    /// What calls of ops that are not known give: whoever reads the file cannot infer it.
    void write_opaque_types(onnx::GraphProto& proto) {
        std::set<std::string> declared;
        for (const onnx::ValueInfoProto& output : proto.output()) declared.insert(output.name());
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            if (!is_op_call(node) || Registry::instance().op(node.target)) continue;
            for (std::size_t k = 0; k < node.results.size(); ++k) {
                const std::string& name = result_name(node, i, k);
                if (!name.empty() && declared.insert(name).second)
                    set_type(node.results[k], name, *proto.add_value_info());
            }
        }
    }

    /// What Split says since opset 18 where it is not told the sizes.
    void write_result_count(const Node& node, const std::string& domain, onnx::NodeProto& proto) const {
        const std::int64_t opset = graph_.opset_imports.at(domain);
        if (proto.input_size() != 1 || !onnx_proto::has_attribute(proto.op_type(), domain, opset, "num_outputs"))
            return;
        onnx::AttributeProto& count = *proto.add_attribute();
        count.set_name("num_outputs");
        count.set_type(onnx::AttributeProto::INT);
        count.set_i(static_cast<std::int64_t>(node.results.size()));
    }

    void write_operands(const Node& node, onnx::NodeProto& proto) {
        for (const Arg& arg : operands_in_file(graph_, node)) {
            if (!arg.is_none() && !arg.node()) fail(node, "found a number as an operand, expected a tensor");
            proto.add_input(arg.node() ? name_of(*arg.node()) : "");
        }
    }

    void write_attribute(const Node& node, const Arg& arg, const Param* param, onnx::AttributeProto& proto) {
        const auto* integer = std::get_if<std::int64_t>(&arg.value);
        const auto* floating = std::get_if<double>(&arg.value);
        if (floating || (integer && param && param->type == ParamType::number)) {
            proto.set_type(onnx::AttributeProto::FLOAT);
            proto.set_f(floating ? static_cast<float>(*floating) : static_cast<float>(*integer));
        } else if (integer) {
            proto.set_type(onnx::AttributeProto::INT);
            proto.set_i(*integer);
        } else if (const bool* flag = std::get_if<bool>(&arg.value)) {
            proto.set_type(onnx::AttributeProto::INT);
            proto.set_i(*flag);
        } else if (const auto* text = std::get_if<std::string>(&arg.value)) {
            proto.set_type(onnx::AttributeProto::STRING);
            proto.set_s(*text);
        } else if (const DType* dtype = std::get_if<DType>(&arg.value)) {
            proto.set_type(onnx::AttributeProto::INT);
            proto.set_i(info_of(*dtype).onnx);
        } else if (const NodeRef* ref = arg.node()) {
            const Node& constant = graph_.node(*ref);
            if (constant.kind != NodeKind::get_attr)
                fail(node, "found a computed tensor as an attribute, expected a constant tensor");
            proto.set_type(onnx::AttributeProto::TENSOR);
            if (is_opaque(constant.meta()))
                put_opaque(constant, {}, *proto.mutable_t());
            else
                onnx_proto::put_tensor(graph_.attributes.at(constant.target), {}, *proto.mutable_t());
        } else if (const GraphRef* nested = std::get_if<GraphRef>(&arg.value)) {
            proto.set_type(onnx::AttributeProto::GRAPH);
            Exporter(*graph_.subgraphs.at(nested->name), external_, this).write(*proto.mutable_g(), captured_by(node));
        } else {
            write_list(node, *arg.list(), param, proto);
        }
    }

    void write_list(const Node& node, const ArgList& list, const Param* param, onnx::AttributeProto& proto) const {
        const auto any = [&](auto kind) {
            return std::any_of(list.begin(), list.end(),
                               [&](const Arg& arg) { return std::holds_alternative<decltype(kind)>(arg.value); });
        };
        const bool floats = param ? param->type == ParamType::float_list : any(double{});
        const bool texts = param ? param->type == ParamType::text_list : any(std::string{});
        proto.set_type(floats  ? onnx::AttributeProto::FLOATS
                       : texts ? onnx::AttributeProto::STRINGS
                               : onnx::AttributeProto::INTS);
        for (const Arg& arg : list) {
            const auto* integer = std::get_if<std::int64_t>(&arg.value);
            const auto* floating = std::get_if<double>(&arg.value);
            const auto* text = std::get_if<std::string>(&arg.value);
            if (floats && (integer || floating))
                proto.add_floats(floating ? static_cast<float>(*floating) : static_cast<float>(*integer));
            else if (texts && text)
                proto.add_strings(*text);
            else if (!floats && !texts && integer)
                proto.add_ints(*integer);
            else
                fail(node, "found a list of mixed types, expected only integers, only floats or only strings");
        }
    }

    std::vector<std::string> captured_by(const Node& node) {
        std::vector<std::string> names;
        if (const Arg* captured = node.kwarg("captured"); captured && captured->list())
            for (const Arg& arg : *captured->list()) names.push_back(name_of(*arg.node()));
        return names;
    }

    /// A value that is listed twice, or that belongs to a graph around this one, goes through an Identity.
    void write_outputs(onnx::GraphProto& proto, const std::vector<std::string>& captured) {
        std::vector<std::string> listed = captured;
        for (const NodeId id : graph_.outputs()) {
            std::string name = name_of({id});
            const bool outer =
                outer_ && graph_.node({id}).kind == NodeKind::get_attr && shared_initializer(graph_.node({id}));
            if (outer || std::find(listed.begin(), listed.end(), name) != listed.end()) {
                onnx::NodeProto& identity = *proto.add_node();
                identity.set_op_type("Identity");
                identity.add_input(name);
                name = scope_.take(identifier(name) + "_copy");
                identity.add_output(name);
            }
            listed.push_back(name);
            set_type(graph_.node({id}).meta(), name, *proto.add_output());
        }
    }

    const Graph& graph_;
    const External* external_;
    const Exporter* outer_;
    NameScope scope_;
    std::shared_ptr<NameScope> node_names_;            // of the file: readers want them to be unique
    std::vector<std::string> names_;                   // ONNX name of every node with one value
    std::map<ValueRef, std::string> result_names_;     // of calls with several results
    std::map<std::string, std::string> initializers_;  // ONNX names by qualified name
    std::vector<bool> is_value_;                       // per node: read as an operand or output
};

/// Of all weights, those of nested graphs included.
std::size_t weight_bytes(const Graph& graph) {
    std::size_t bytes = 0;
    for (const auto& [name, tensor] : graph.attributes) bytes += byte_size(tensor);
    for (const auto& [name, nested] : graph.subgraphs) bytes += weight_bytes(*nested);
    return bytes;
}

onnx::ModelProto to_model(const Graph& graph, const External* external = nullptr, OnnxNames* names = nullptr) {
    onnx::ModelProto model;
    const auto standard = graph.opset_imports.find("");
    model.set_ir_version(ir_version(standard == graph.opset_imports.end() ? 0 : standard->second));
    model.set_producer_name("whittle");
    for (const auto& [domain, version] : graph.opset_imports) {
        onnx::OperatorSetIdProto& import = *model.add_opset_import();
        import.set_domain(domain);
        import.set_version(version);
    }
    Exporter exporter(graph, external);
    exporter.write(*model.mutable_graph());
    if (names) names->values = exporter.values();
    const std::size_t bytes = model.ByteSizeLong();
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw Error("found a model of " + std::to_string(bytes) + " bytes, expected at most 2 GiB, protobuf's limit",
                    "save the model with external data or as JSON");
    return model;
}

}  // namespace

std::string onnx_text(const Graph& graph) { return onnx_proto::text_of(to_model(graph)); }

SharedWeights* weights_beside(const Graph& graph, ExternalData wanted, SharedWeights& shared) {
    const bool beside = wanted == ExternalData::automatic ? weight_bytes(graph) >= SharedWeights::kWorth
                                                          : wanted == ExternalData::always;
    return beside ? &shared : nullptr;
}

std::string to_onnx(const Graph& graph) { return to_model(graph).SerializeAsString(); }

std::string to_onnx_in(const std::filesystem::path& folder, const Graph& graph, std::size_t most_inside) {
    SharedWeights own(folder);
    const External external{own, folder};
    return to_model(graph, weight_bytes(graph) > most_inside ? &external : nullptr).SerializeAsString();
}

OnnxNames save_onnx(const Graph& graph, const std::filesystem::path& path, SharedWeights* weights) {
    try {
        SharedWeights own(path.parent_path());
        if (!weights && weight_bytes(graph) > kMostInside) weights = &own;
        const External external{weights ? *weights : own, path.parent_path()};
        OnnxNames names;
        const onnx::ModelProto model = to_model(graph, weights ? &external : nullptr, &names);
        write_file(path, model.SerializeAsString());
        for (const onnx::ValueInfoProto& input : model.graph().input()) names.inputs.push_back(input.name());
        for (const onnx::ValueInfoProto& output : model.graph().output()) names.outputs.push_back(output.name());
        return names;
    } catch (Error& error) {
        if (error.where().file.empty()) error.locate({path.string(), error.where().position});
        throw;
    }
}

}  // namespace whittle
