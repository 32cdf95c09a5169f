#include "frontends/onnx/order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace whittle::onnx_proto {
namespace {

using Names = std::unordered_set<std::string>;

/// Names the graph defines, each checked to be defined once.
Names defined_names(const onnx::GraphProto& graph, const std::string& file) {
    Names inputs, initializers, names;
    for (const onnx::ValueInfoProto& input : graph.input())
        if (!inputs.insert(input.name()).second)
            throw Error({file, {}}, "found two inputs named " + in_quotes(input.name()));
    for (const onnx::TensorProto& initializer : graph.initializer())
        if (!initializers.insert(initializer.name()).second)
            throw Error({file, {}}, "found two initializers named " + in_quotes(initializer.name()));
    names = std::move(initializers);  // an initializer may name an input: its default
    names.merge(inputs);
    for (int i = 0; i < graph.node_size(); ++i)
        for (const std::string& output : graph.node(i).output())
            if (!output.empty() && !names.insert(output).second)
                throw Error(
                    {file, place_of(graph.node(i), i)},
                    "found two definitions of the output " + in_quotes(output) + ", expected unique names of outputs");
    return names;
}

class Sorter {
  public:
    Sorter(const std::string& file, FreeNames& free_names) : file_(file), free_names_(free_names) {}

    void sort(onnx::GraphProto& graph) {
        const Names names = defined_names(graph, file_);
        const auto known = [&](const std::string& name) {
            return names.count(name) != 0 || std::any_of(outer_.begin(), outer_.end(),
                                                         [&](const Names* outer) { return outer->count(name) != 0; });
        };
        std::vector<std::vector<std::string>> reads;
        for (int i = 0; i < graph.node_size(); ++i) {
            reads.push_back(free_names_.read_by(graph.node(i)));
            for (const std::string& name : reads.back())
                if (!known(name))
                    throw Error({file_, place_of(graph.node(i), i)},
                                "the node reads the value " + in_quotes(name) + ", which nothing in the model defines");
        }
        for (const onnx::ValueInfoProto& output : graph.output())
            if (!known(output.name()))
                throw Error({file_, "output " + in_quotes(output.name())}, "nothing in the model defines this value");
        permute(graph, order(graph, reads));
        outer_.push_back(&names);
        for (onnx::NodeProto& node : *graph.mutable_node())
            for (onnx::AttributeProto& attribute : *node.mutable_attribute())
                if (attribute.has_g()) sort(*attribute.mutable_g());
        outer_.pop_back();
    }

  private:
    /// Kahn's algorithm, always taking the first node in file order that is ready.
    std::vector<int> order(const onnx::GraphProto& graph, const std::vector<std::vector<std::string>>& reads) const {
        std::unordered_map<std::string, int> producer;
        for (int i = 0; i < graph.node_size(); ++i)
            for (const std::string& output : graph.node(i).output())
                if (!output.empty()) producer[output] = i;
        const auto count = static_cast<std::size_t>(graph.node_size());
        std::vector<std::vector<int>> readers(count);
        std::vector<int> waiting(count, 0), result;
        for (std::size_t i = 0; i < count; ++i)
            for (const std::string& name : reads[i])
                if (const auto found = producer.find(name); found != producer.end()) {
                    readers[static_cast<std::size_t>(found->second)].push_back(static_cast<int>(i));
                    ++waiting[i];
                }
        std::priority_queue<int, std::vector<int>, std::greater<>> ready;
        for (std::size_t i = 0; i < count; ++i)
            if (waiting[i] == 0) ready.push(static_cast<int>(i));
        while (!ready.empty()) {
            const int next = ready.top();
            ready.pop();
            result.push_back(next);
            for (const int reader : readers[static_cast<std::size_t>(next)])
                if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
        }
        for (int i = 0; i < graph.node_size(); ++i)
            if (waiting[static_cast<std::size_t>(i)] > 0)
                throw Error({file_, place_of(graph.node(i), i)},
                            "found a node that depends on a cycle of nodes, expected a graph without cycles");
        return result;
    }

    static void permute(onnx::GraphProto& graph, const std::vector<int>& order) {
        if (std::is_sorted(order.begin(), order.end())) return;
        google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
        for (const int i : order) sorted.Add()->Swap(graph.mutable_node(i));
        graph.mutable_node()->Swap(&sorted);
    }

    const std::string& file_;
    FreeNames& free_names_;
    std::vector<const Names*> outer_;
};

}  // namespace

std::string place_of(const onnx::NodeProto& node, int position) {
    const std::string op = in_quotes(node.op_type());
    const std::string type = " (" + op.substr(1, op.size() - 2) + ")";
    if (!node.name().empty()) return "node " + in_quotes(node.name()) + type;
    const std::string output = node.output_size() > 0 ? " with output " + in_quotes(node.output(0)) : "";
    return "node #" + std::to_string(position) + type + output;
}

const std::vector<std::string>& FreeNames::of(const onnx::GraphProto& graph) {
    if (const auto found = known_.find(&graph); found != known_.end()) return found->second;
    Names defined, listed;
    for (const onnx::ValueInfoProto& input : graph.input()) defined.insert(input.name());
    for (const onnx::TensorProto& initializer : graph.initializer()) defined.insert(initializer.name());
    for (const onnx::NodeProto& node : graph.node())
        for (const std::string& output : node.output()) defined.insert(output);
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (defined.count(name) == 0 && listed.insert(name).second) names.push_back(name);
    };
    for (const onnx::NodeProto& node : graph.node())
        for (const std::string& name : read_by(node)) add(name);
    for (const onnx::ValueInfoProto& output : graph.output()) add(output.name());
    return known_[&graph] = std::move(names);
}

std::vector<std::string> FreeNames::read_by(const onnx::NodeProto& node) {
    std::vector<std::string> names;
    Names listed;
    const auto add = [&](const std::string& name) {
        if (!name.empty() && listed.insert(name).second) names.push_back(name);
    };
    for (const std::string& input : node.input()) add(input);
    for (const onnx::AttributeProto& attribute : node.attribute())
        if (attribute.has_g())
            for (const std::string& name : of(attribute.g())) add(name);
    return names;
}

void sort_nodes(onnx::GraphProto& graph, const std::string& file) {
    FreeNames free_names;
    Sorter(file, free_names).sort(graph);
}

}  // namespace whittle::onnx_proto
