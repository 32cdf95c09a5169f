#include "frontends/onnx/upgrade.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontends/onnx/importer.h"
#include "frontends/onnx/order.h"

namespace whittle::onnx_proto {

namespace {

/// Attributes that an op lost at opset 7, and the values with which nodes mean the same without them.
struct Lost {
    std::int64_t value = 0, missing = 0;
};
using LostAttributes = std::map<std::string, Lost>;

/// Changelog.md, opset 7. Where broadcasting was explicit, operands of equal sizes, or whose last dimensions agree,
/// mean the same; `axis` said otherwise.
const LostAttributes* lost_at_7(const std::string& op) {
    static const LostAttributes nothing = {}, broadcast = {{"broadcast", {1, 1}}}, inference = {{"is_test", {1, 0}}};
    static const std::set<std::string> broadcasting = {"Add", "Sub",   "Mul",  "Div",     "Pow", "And",
                                                       "Or",  "Equal", "Less", "Greater", "Xor", "Gemm"};
    static const std::set<std::string> inferring = {"BatchNormalization", "Dropout"};
    if (op == "AveragePool") return &nothing;  // it got an attribute whose default is what there was
    return broadcasting.contains(op) ? &broadcast : inferring.contains(op) ? &inference : nullptr;
}

/// Whether the node means the same without the attributes, which it then no longer has.
bool take_off(onnx::NodeProto& node, const LostAttributes& lost) {
    for (const auto& [name, rule] : lost) {
        auto& attributes = *node.mutable_attribute();
        const auto given = std::find_if(attributes.begin(), attributes.end(),
                                        [&, &name = name](const auto& attribute) { return attribute.name() == name; });
        const bool zero_broadcast = name == "broadcast" && given != attributes.end() && given->i() == 0;
        const std::int64_t value = given == attributes.end() ? rule.missing : given->i();
        if (value != rule.value && !zero_broadcast) return false;
        if (given != attributes.end()) attributes.erase(given);
    }
    return true;
}

}  // namespace

void upgrade(onnx::GraphProto& graph, std::int64_t from, std::int64_t to, const std::string& file) {
    const auto schema_at = [](const onnx::NodeProto& node, std::int64_t opset) {
        return onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset), "");
    };
    for (int i = 0; i < graph.node_size(); ++i) {
        onnx::NodeProto& node = *graph.mutable_node(i);
        for (onnx::AttributeProto& attribute : *node.mutable_attribute())
            if (attribute.has_g()) upgrade(*attribute.mutable_g(), from, to, file);
        if (!domain_of(node.domain()).empty()) continue;
        const onnx::OpSchema* before = schema_at(node, from);
        const onnx::OpSchema* after = schema_at(node, to);
        if (before == after) continue;  // unknown ones, too: the import names them
        auto& attributes = *node.mutable_attribute();
        const auto memory = [](const auto& attribute) { return attribute.name() == "consumed_inputs"; };
        attributes.erase(std::remove_if(attributes.begin(), attributes.end(), memory), attributes.end());
        const int since = before && after ? after->since_version() : 0;
        static const LostAttributes nothing = {};  // what 6 changed are types, and attributes about memory
        const LostAttributes* lost = since == 6 ? &nothing : since == 7 ? lost_at_7(node.op_type()) : nullptr;
        const bool has_axis = std::any_of(node.attribute().begin(), node.attribute().end(),
                                          [](const auto& attribute) { return attribute.name() == "axis"; });
        if (!lost || has_axis || !take_off(node, *lost))
            throw Error({file, place_of(node, i)},
                        "found opset " + std::to_string(from) + " of ai.onnx, in which " + node.op_type() +
                            " means something else than in " + std::to_string(to) + ", expected " + std::to_string(to) +
                            " or later",
                        "onnx.version_converter translates models between opsets");
    }
}

}  // namespace whittle::onnx_proto
