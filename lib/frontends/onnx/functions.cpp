#include "frontends/onnx/prepare.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "frontends/onnx/order.h"
#include "frontends/onnx/standard.h"

namespace whittle::onnx_proto {
namespace {

/// Functions that call functions that call …, and calls in all: each may double what the one before makes.
constexpr int kDeepest = 64, kMostCalls = 100'000;

using FunctionName = std::pair<std::string, std::string>;  ///< domain, name
using Attributes = std::map<std::string, const onnx::AttributeProto*>;

/// Attributes of a function that have a default: a field of FunctionProto since ir_version 9, which libonnx 1.12 does
/// not know: there it is an unknown field. A template, for only one of the two exists.
template <class Function>
std::vector<onnx::AttributeProto> defaults_of(const Function& function) {
    std::vector<onnx::AttributeProto> result;
    if constexpr (requires { function.attribute_proto(); }) {
        result.assign(function.attribute_proto().begin(), function.attribute_proto().end());
    } else {
        constexpr int kAttributeProto = 11;
        const auto& fields = function.unknown_fields();
        for (int i = 0; i < fields.field_count(); ++i) {
            const auto& field = fields.field(i);
            if (field.number() != kAttributeProto || field.type() != field.TYPE_LENGTH_DELIMITED) continue;
            onnx::AttributeProto attribute;
            if (attribute.ParseFromString(field.length_delimited())) result.push_back(std::move(attribute));
        }
    }
    return result;
}

class Inliner {
  public:
    Inliner(onnx::ModelProto& model, const std::string& file) : model_(model), file_(file) {
        for (const onnx::FunctionProto& function : model.functions()) {
            const FunctionName name{domain_of(function.domain()), function.name()};
            if (!functions_.emplace(name, &function).second)
                throw Error({file, "function " + in_quotes(function.name())},
                            "found two definitions of the function, expected one definition");
        }
        for (const onnx::OperatorSetIdProto& import : model.opset_import())
            opsets_[domain_of(import.domain())] = import.version();
        collect_names(model.graph());
    }

    void run() {
        inline_into(*model_.mutable_graph());
        std::set<std::string> domains;
        for (const auto& [name, function] : functions_)
            if (!name.first.empty()) domains.insert(name.first);
        collect_domains(model_.graph());
        auto& imports = *model_.mutable_opset_import();
        for (int i = imports.size(); i-- > 0;)
            if (domains.contains(domain_of(imports[i].domain())) && !used_.contains(domain_of(imports[i].domain())))
                imports.DeleteSubrange(i, 1);
        for (const auto& [domain, version] : added_) {
            onnx::OperatorSetIdProto& import = *model_.add_opset_import();
            import.set_domain(domain);
            import.set_version(version);
        }
        model_.clear_functions();
    }

  private:
    /// One call that is replaced by nodes.
    struct Call {
        const onnx::FunctionProto& function;
        std::string prefix;                        ///< of values that are the function's own
        std::map<std::string, std::string> names;  ///< operands and results, by their names in the function
        Attributes attributes;                     ///< what references to attributes stand for
    };

    void collect_names(const onnx::GraphProto& graph) {
        for (const auto& input : graph.input()) names_.insert(input.name());
        for (const auto& initializer : graph.initializer()) names_.insert(initializer.name());
        for (const onnx::NodeProto& node : graph.node()) {
            names_.insert(node.output().begin(), node.output().end());
            for (const onnx::AttributeProto& attribute : node.attribute())
                if (attribute.has_g()) collect_names(attribute.g());
        }
    }

    void collect_domains(const onnx::GraphProto& graph) {
        for (const onnx::NodeProto& node : graph.node()) {
            used_.insert(domain_of(node.domain()));
            for (const onnx::AttributeProto& attribute : node.attribute())
                if (attribute.has_g()) collect_domains(attribute.g());
        }
    }

    void inline_into(onnx::GraphProto& graph) {
        google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
        nodes.Swap(graph.mutable_node());
        for (int i = 0; i < nodes.size(); ++i) add(nodes[i], i, 0, *graph.mutable_node());
    }

    void add(onnx::NodeProto& node, int position, int depth,
             google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
        for (onnx::AttributeProto& attribute : *node.mutable_attribute())
            if (attribute.has_g()) inline_into(*attribute.mutable_g());
        const auto found = functions_.find({domain_of(node.domain()), node.op_type()});
        if (found == functions_.end()) {
            *nodes.Add() = std::move(node);
            return;
        }
        const onnx::FunctionProto& function = *found->second;
        const Location where{file_, place_of(node, position)};
        if (depth == kDeepest)
            throw Error(where, "the function " + in_quotes(function.name()) +
                                   " calls itself, or calls of functions are nested more than " +
                                   std::to_string(kDeepest) + " levels deep");
        if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
            throw Error(where, "found " + std::to_string(node.input_size()) + " inputs and " +
                                   std::to_string(node.output_size()) + " outputs of the function " +
                                   in_quotes(function.name()) + ", expected at most " +
                                   std::to_string(function.input_size()) + " inputs and " +
                                   std::to_string(function.output_size()) + " outputs");
        expand(node, function, where, depth, nodes);
    }

    void expand(const onnx::NodeProto& node, const onnx::FunctionProto& function, const Location& where, int depth,
                google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
        check_opsets(function, where);
        if (calls_ == kMostCalls)
            throw Error(where, "found more than " + std::to_string(kMostCalls) + " function calls, expected at most " +
                                   std::to_string(kMostCalls));
        Call call{function, fresh_prefix(function.name()), {}, {}};
        for (int i = 0; i < function.input_size(); ++i)
            call.names[function.input(i)] = i < node.input_size() ? node.input(i) : "";
        std::vector<std::pair<std::string, std::string>> passed_on;  // results that are operands
        for (int i = 0; i < function.output_size(); ++i) {
            const std::string& inner = function.output(i);
            if (i >= node.output_size() || node.output(i).empty()) continue;
            if (!call.names.emplace(inner, node.output(i)).second)
                passed_on.emplace_back(call.names.at(inner), node.output(i));
        }
        const std::vector<onnx::AttributeProto> defaults = defaults_of(function);
        for (const onnx::AttributeProto& attribute : defaults) call.attributes[attribute.name()] = &attribute;
        for (const onnx::AttributeProto& attribute : node.attribute()) call.attributes[attribute.name()] = &attribute;
        for (int i = 0; i < function.node_size(); ++i) {
            onnx::NodeProto inner = function.node(i);
            inner.set_name((node.name().empty() ? function.name() : node.name()) + "/" +
                           (inner.name().empty() ? inner.op_type() : inner.name()));
            rename(inner, call);
            add(inner, i, depth + 1, nodes);
        }
        for (const auto& [from, to] : passed_on) {
            onnx::NodeProto& identity = *nodes.Add();
            identity.set_op_type("Identity");
            identity.add_input(from);
            identity.add_output(to);
        }
    }

    /// Nodes of a function are read at the model's opsets.
    void check_opsets(const onnx::FunctionProto& function, const Location& where) {
        for (const onnx::OperatorSetIdProto& import : function.opset_import()) {
            const std::string domain = domain_of(import.domain());
            const auto [known, added] = opsets_.emplace(domain, import.version());
            if (added) added_[domain] = import.version();
            if (known->second == import.version()) continue;
            for (const onnx::NodeProto& node : function.node())
                if (domain_of(node.domain()) == domain &&
                    !same_meaning(node.op_type(), domain, known->second, import.version()))
                    throw Error(where,
                                "the function " + in_quotes(function.name()) + " uses opset " +
                                    std::to_string(import.version()) + " of " + in_quotes(domain) + ", but " +
                                    node.op_type() + " has another meaning at the model's opset " +
                                    std::to_string(known->second),
                                "convert the model with onnx.version_converter");
        }
    }

    std::string fresh_prefix(const std::string& function) {
        std::string prefix;
        do prefix = function + "_" + std::to_string(++calls_) + "_";
        while (names_.lower_bound(prefix) != names_.end() && names_.lower_bound(prefix)->starts_with(prefix));
        return prefix;
    }

    static std::string renamed(const std::string& name, const Call& call) {
        if (name.empty()) return name;
        const auto known = call.names.find(name);
        return known != call.names.end() ? known->second : call.prefix + name;
    }

    static void rename(onnx::NodeProto& node, const Call& call) {
        for (std::string& name : *node.mutable_input()) name = renamed(name, call);
        for (std::string& name : *node.mutable_output()) name = renamed(name, call);
        auto& attributes = *node.mutable_attribute();
        for (int i = attributes.size(); i-- > 0;) {
            onnx::AttributeProto& attribute = attributes[i];
            if (!attribute.ref_attr_name().empty()) {
                const auto given = call.attributes.find(attribute.ref_attr_name());
                const std::string own = attribute.name();
                if (given == call.attributes.end()) {
                    attributes.DeleteSubrange(i, 1);  // the op's own default
                    continue;
                }
                attribute = *given->second;
                attribute.set_name(own);
            } else if (attribute.has_g()) {
                rename(*attribute.mutable_g(), call);
            }
        }
    }

    static void rename(onnx::GraphProto& graph, const Call& call) {
        for (auto* values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()})
            for (onnx::ValueInfoProto& value : *values) value.set_name(renamed(value.name(), call));
        for (onnx::TensorProto& initializer : *graph.mutable_initializer())
            initializer.set_name(renamed(initializer.name(), call));
        for (onnx::NodeProto& node : *graph.mutable_node()) rename(node, call);
    }

    onnx::ModelProto& model_;
    const std::string& file_;
    std::map<FunctionName, const onnx::FunctionProto*> functions_;
    std::map<std::string, std::int64_t> opsets_, added_;
    std::set<std::string> names_, used_;
    int calls_ = 0;
};

}  // namespace

void inline_functions(onnx::ModelProto& model, const std::string& file) {
    if (model.functions_size() > 0 && model.has_graph()) Inliner(model, file).run();
}

}  // namespace whittle::onnx_proto
