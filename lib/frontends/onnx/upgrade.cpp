#include "frontends/onnx/prepare.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <set>

#include "frontends/onnx/order.h"
#include "frontends/onnx/standard.h"

namespace whittle::onnx_proto {
namespace {

/// Attributes that an op lost at opset 7, and the values with which nodes mean the same without them.
struct Lost {
    std::int64_t value = 0, missing = 0;
};
using LostAttributes = std::map<std::string, Lost>;

/// Changelog.md, opset 7. Where broadcasting was explicit, operands of equal sizes, or whose last dimensions agree,
/// mean the same; where `axis` said otherwise, trailing_ones() says how.
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

/// Sizes of values as the file declares them, by name; -1 for a dynamic dimension.
using Declared = std::map<std::string, Sizes>;

void declare(const onnx::GraphProto& graph, Declared& declared) {
    for (const auto* values : {&graph.input(), &graph.output(), &graph.value_info()})
        for (const onnx::ValueInfoProto& value : *values) {
            if (!value.type().tensor_type().has_shape()) continue;
            Sizes& sizes = declared[value.name()];
            sizes.clear();
            for (const auto& dim : value.type().tensor_type().shape().dim())
                sizes.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
        }
    for (const onnx::TensorProto& initializer : graph.initializer())
        declared[initializer.name()].assign(initializer.dims().begin(), initializer.dims().end());
}

/// How many dimensions of size 1 the second operand gets at its end, so that it is spread over the first one as it was
/// before opset 7: from the dimension `axis` on, and a slope over the channels, which are dimension 1. Nothing where
/// the file does not declare the ranks that decide it, and where they do not fit.
std::optional<std::int64_t> trailing_ones(const onnx::NodeProto& node, std::optional<std::int64_t> axis,
                                          const Declared& declared) {
    if (node.input_size() != 2) return std::nullopt;
    const auto left = declared.find(node.input(0)), right = declared.find(node.input(1));
    if (right == declared.end()) return std::nullopt;
    const auto ones = std::count(right->second.begin(), right->second.end(), 1);
    const auto rank = static_cast<std::int64_t>(right->second.size());
    if (ones == rank && rank <= 1) return 0;  // a number
    if (left == declared.end()) return std::nullopt;
    const std::int64_t after = static_cast<std::int64_t>(left->second.size()) - axis.value_or(1) - rank;
    return after < 0 || axis.value_or(1) < 0 ? std::nullopt : std::optional(after);
}

/// A value's name that the graph does not have yet.
std::string fresh_name(const onnx::GraphProto& graph, std::string name) {
    const auto is_output = [&](const onnx::NodeProto& node) {
        return std::find(node.output().begin(), node.output().end(), name) != node.output().end();
    };
    const auto is_named = [&](const auto& value) { return value.name() == name; };
    while (std::any_of(graph.node().begin(), graph.node().end(), is_output) ||
           std::any_of(graph.input().begin(), graph.input().end(), is_named) ||
           std::any_of(graph.initializer().begin(), graph.initializer().end(), is_named))
        name += "_";
    return name;
}

/// Puts an Unsqueeze before the node, whose second operand gets dimensions of size 1 at its end.
void add_ones(onnx::GraphProto& graph, int position, std::int64_t rank, std::int64_t ones) {
    const std::string name = fresh_name(graph, graph.node(position).input(1) + "_spread");
    onnx::NodeProto& spread = *graph.add_node();
    spread.set_op_type("Unsqueeze");
    spread.add_input(graph.node(position).input(1));
    spread.add_output(name);
    onnx::AttributeProto& axes = *spread.add_attribute();
    axes.set_name("axes");
    axes.set_type(onnx::AttributeProto::INTS);
    for (std::int64_t i = 0; i < ones; ++i) axes.add_ints(rank + i);
    graph.mutable_node(position)->set_input(1, name);
    for (int i = graph.node_size() - 1; i > position; --i) graph.mutable_node()->SwapElements(i, i - 1);
}

/// The value of an attribute, which the node then no longer has.
std::optional<std::int64_t> take_integer(onnx::NodeProto& node, const std::string& name) {
    auto& attributes = *node.mutable_attribute();
    const auto given =
        std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.name() == name; });
    if (given == attributes.end()) return std::nullopt;
    const std::int64_t value = given->i();
    attributes.erase(given);
    return value;
}

void upgrade(onnx::GraphProto& graph, std::int64_t from, std::int64_t to, const std::string& file, Declared declared) {
    declare(graph, declared);
    const auto schema_at = [](const onnx::NodeProto& node, std::int64_t opset) {
        return onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset), "");
    };
    for (int i = 0; i < graph.node_size(); ++i) {
        onnx::NodeProto& node = *graph.mutable_node(i);
        for (onnx::AttributeProto& attribute : *node.mutable_attribute())
            if (attribute.has_g()) upgrade(*attribute.mutable_g(), from, to, file, declared);
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
        const bool slope = lost == nullptr && node.op_type() == "PRelu";
        const std::optional<std::int64_t> axis = since == 7 ? take_integer(node, "axis") : std::nullopt;
        const std::optional<std::int64_t> ones =
            slope || axis ? trailing_ones(node, axis, declared) : std::optional<std::int64_t>(0);
        if (!(lost || slope) || !ones || (lost && !take_off(node, *lost)))
            throw Error({file, place_of(node, i)},
                        "found " + node.op_type() + " at opset " + std::to_string(from) +
                            " of ai.onnx, an op whose meaning changed in opset " + std::to_string(to) +
                            ", expected a model of opset " + std::to_string(to) + " or later",
                        "convert the model with onnx.version_converter");
        if (*ones > 0) add_ones(graph, i++, static_cast<std::int64_t>(declared.at(node.input(1)).size()), *ones);
    }
}

}  // namespace

void upgrade(onnx::GraphProto& graph, std::int64_t from, std::int64_t to, const std::string& file) {
    upgrade(graph, from, to, file, {});
}

}  // namespace whittle::onnx_proto
