#include "frontends/onnx/standard.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>

#include "frontends/onnx/later.h"
#include "frontends/onnx/versions.h"

namespace whittle::onnx_proto {
namespace {

/// The last opset for which libonnx's schemas count: a newer libonnx has versions of later opsets that only accept more
/// types. Those are the same op for us; later.cpp lists the ops whose operands or attributes changed.
constexpr std::int64_t kLastOwn = 17;

const onnx::OpSchema* schema_of(const std::string& op_type, const std::string& domain, std::int64_t opset) {
    if (const onnx::OpSchema* later = domain.empty() ? later_schema(op_type, opset) : nullptr) return later;
    const std::int64_t last = domain.empty() ? kLastOwn : 1 << 20;
    const onnx::OpSchema* schema =
        onnx::OpSchemaRegistry::Schema(op_type, static_cast<int>(std::min<std::int64_t>(opset, last)), domain);
    return schema && !schema->Deprecated() ? schema : nullptr;
}

std::string type_name(onnx::AttributeProto::AttributeType type) {
    return onnx::AttributeProto::AttributeType_Name(type);
}

std::string range(int low, int high) {
    if (low == high) return std::to_string(low);
    return high > 1 << 20 ? "at least " + std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
}

/// Positions that are not empty at the end: "" stands for a missing optional one.
int used_count(const google::protobuf::RepeatedPtrField<std::string>& names) {
    int count = names.size();
    while (count > 0 && names[count - 1].empty()) --count;
    return count;
}

std::string standard_attribute_misfit(const onnx::NodeProto& node, const onnx::OpSchema& schema, std::string& hint) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
        const auto known = schema.attributes().find(attribute.name());
        if (known == schema.attributes().end()) {
            std::string names;
            for (const auto& [name, definition] : schema.attributes()) names += (names.empty() ? "" : ", ") + name;
            hint = names.empty() ? "this op has no attributes at this opset"
                                 : "the attributes of this op at this opset: " + names;
            return "found the unknown attribute " + in_quotes(attribute.name());
        }
        if (known->second.type != attribute.type())
            return "found attribute " + in_quotes(attribute.name()) + " of type " + type_name(attribute.type()) +
                   ", expected " + type_name(known->second.type);
    }
    for (const auto& [name, definition] : schema.attributes()) {
        const std::string& wanted = name;
        const bool given = std::any_of(node.attribute().begin(), node.attribute().end(),
                                       [&](const onnx::AttributeProto& a) { return a.name() == wanted; });
        if (definition.required && !given)
            return "found no attribute '" + name + "', but the op requires this attribute";
    }
    return {};
}

}  // namespace

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string target_of(const onnx::NodeProto& node) {
    const std::string domain = domain_of(node.domain());
    return (domain.empty() ? "onnx" : domain) + "." + node.op_type();
}

Verdict judge(const onnx::NodeProto& node, const std::string& domain, std::int64_t opset) {
    const onnx::OpSchema* schema = schema_of(node.op_type(), domain, opset);
    if (!schema) return {};
    Verdict verdict{true};
    const int inputs = used_count(node.input()), outputs = used_count(node.output());
    if (inputs < schema->min_input() || inputs > schema->max_input())
        verdict.misfit =
            "found " + std::to_string(inputs) + " inputs, expected " + range(schema->min_input(), schema->max_input());
    else if (outputs < schema->min_output() || outputs > schema->max_output())
        verdict.misfit = "found " + std::to_string(outputs) + " outputs, expected " +
                         range(schema->min_output(), schema->max_output());
    else
        verdict.misfit = standard_attribute_misfit(node, *schema, verdict.hint);
    for (int i = 0; verdict.misfit.empty() && i < inputs; ++i) {
        const int formal = std::min(i, static_cast<int>(schema->inputs().size()) - 1);
        const onnx::OpSchema::FormalParameter& parameter = schema->inputs()[static_cast<std::size_t>(formal)];
        if (node.input(i).empty() && parameter.GetOption() == onnx::OpSchema::Single)
            verdict.misfit = "found no input " + std::to_string(i) + " '" + parameter.GetName() +
                             "', but the op requires this input";
    }
    return verdict;
}

std::string type_misfit(const std::string& op_type, const std::string& domain, std::int64_t opset,
                        const std::vector<std::optional<DType>>& inputs) {
    const onnx::OpSchema* schema = schema_of(op_type, domain, opset);
    if (!schema) return {};
    std::map<std::string, std::pair<std::size_t, DType>> variables;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::size_t formal = std::min(i, schema->inputs().size() - 1);
        const onnx::OpSchema::FormalParameter& parameter = schema->inputs()[formal];
        if (!inputs[i] || !parameter.GetIsHomogeneous()) continue;
        const auto [first, inserted] = variables.try_emplace(parameter.GetTypeStr(), i, *inputs[i]);
        if (!inserted && first->second.second != *inputs[i])
            return "found input " + std::to_string(i) + " of type " + std::string(name(*inputs[i])) + ", expected " +
                   std::string(name(first->second.second)) + ", the type of input " +
                   std::to_string(first->second.first);
    }
    return {};
}

bool has_attribute(const std::string& op_type, const std::string& domain, std::int64_t opset, const std::string& name) {
    const onnx::OpSchema* schema = schema_of(op_type, domain, opset);
    return schema && schema->attributes().contains(name);
}

bool same_meaning(const std::string& op_type, const std::string& domain, std::int64_t opset, std::int64_t other) {
    return schema_of(op_type, domain, opset) == schema_of(op_type, domain, other);
}

std::vector<std::size_t> operand_order(const Schema& schema, const std::string& op_type, const std::string& domain,
                                       std::int64_t opset) {
    const onnx::OpSchema* standard = schema_of(op_type, domain, opset);
    if (!standard) return {};
    std::vector<std::size_t> order;
    bool moved = false;
    for (const onnx::OpSchema::FormalParameter& operand : standard->inputs()) {
        const auto param = std::find_if(schema.params.begin(), schema.params.end(), [&](const Param& ours) {
            return ours.keyword_only || ours.name == operand.GetName() || ours.name == operand.GetName() + "_value";
        });
        if (param == schema.params.end() || param->keyword_only) return {};
        const auto position = static_cast<std::size_t>(param - schema.params.begin());
        moved |= position != order.size();
        order.push_back(position);
    }
    return moved ? order : std::vector<std::size_t>();
}

}  // namespace whittle::onnx_proto

namespace whittle {

std::optional<int> schema_version(const std::string& op_type, std::int64_t opset) {
    const onnx::OpSchema* const schema = onnx_proto::schema_of(op_type, "", opset);
    return schema ? std::optional(schema->since_version()) : std::nullopt;
}

}  // namespace whittle
