// Nodes on sequences and optionals: resolved into the tensors that they list (ops/onnx/sequence.h).
#include <algorithm>

#include "frontends/onnx/bind.h"
#include "frontends/onnx/importer.h"
#include "frontends/onnx/results.h"

namespace whittle::onnx_proto {
namespace {

/// Iterations that are written out, in all loops of a model.
constexpr std::size_t kMostBodies = 1000;

}  // namespace

class GraphImporter::SequenceReader final : public OnnxReader {
  public:
    SequenceReader(GraphImporter& importer, PendingNode& pending) : importer_(importer), pending_(pending) {
        for (const std::string& name : pending.proto.input())
            inputs_.push_back(name.empty() ? std::nullopt : std::optional(importer.scope_.value(name)));
        while (!inputs_.empty() && !inputs_.back()) inputs_.pop_back();
    }

    /// All inputs are tensors.
    bool tensors_only() const {
        return std::ranges::all_of(inputs_, [](const auto& input) { return !input || input->is_tensor(); });
    }
    /// The metas of an input are not known.
    bool unknown_input() const {
        return std::ranges::any_of(inputs_, [&](const auto& input) {
            return input &&
                   std::ranges::any_of(input->nodes, [&](NodeRef node) { return importer_.draft_.unknown(node); });
        });
    }

    const OnnxValue* input(std::size_t position) const override {
        return position < inputs_.size() && inputs_[position] ? &*inputs_[position] : nullptr;
    }
    std::size_t input_count() const override { return inputs_.size(); }
    std::size_t output_count() const override { return static_cast<std::size_t>(pending_.outputs); }
    std::int64_t opset() const override { return pending_.opset; }
    const ValueMeta& meta(NodeRef node) const override { return importer_.draft_.node(node).meta(); }

    std::optional<std::int64_t> integer(std::string_view attribute) const override {
        for (const onnx::AttributeProto& given : pending_.proto.attribute())
            if (given.name() == attribute) return given.i();
        return std::nullopt;
    }

    const Tensor& known(NodeRef node, std::string_view what) override {
        if (const Tensor* value = importer_.draft_.known(node)) return *value;
        pending_.refuse("the operand '" + std::string(what) + "' is computed at run time, expected a constant");
        want_constant(pending_, node, importer_.scope_);
        throw Error(std::exchange(pending_.problem, {}), std::exchange(pending_.hint, {}));
    }

    NodeRef constant(const Tensor& value) override {
        const std::string name = fresh_name();
        return importer_.draft_.add_constant(name, name, value);
    }

    NodeRef call(std::string_view op_type, const std::vector<NodeRef>& inputs,
                 const std::vector<std::pair<std::string, Arg>>& attributes) override {
        onnx::NodeProto node;
        node.set_op_type(std::string(op_type));
        node.set_name(pending_.proto.name());
        Scope::Frame frame{.call_names = {""}, .read = {"result"}};
        for (const NodeRef input : inputs) {
            node.add_input("input " + std::to_string(node.input_size()));
            frame.values[node.input(node.input_size() - 1)] = input;
        }
        node.add_output("result");
        frame.identifiers["result"] = fresh_name();
        for (const auto& [name, value] : attributes) add_attribute(node, name, value);
        const Scope::Opened opened(importer_.scope_, std::move(frame));
        try {
            importer_.import_node(node, 0);
        } catch (Error& error) {
            error.locate(pending_.where);
            throw;
        }
        const NodeRef result = importer_.scope_.top().values.at("result").nodes.at(0);
        if (importer_.draft_.node(result).kind == NodeKind::call) importer_.draft_.facts(result).part = true;
        return result;
    }

    std::vector<OnnxValue> body(const std::vector<OnnxValue>& inputs) override {
        const auto& attributes = pending_.proto.attribute();
        const auto given = std::find_if(attributes.begin(), attributes.end(),
                                        [](const onnx::AttributeProto& a) { return a.name() == "body" && a.has_g(); });
        if (given == attributes.end())
            throw Error("found no attribute 'body', expected a graph as the attribute 'body'");
        if (static_cast<std::size_t>(given->g().input_size()) != inputs.size())
            throw Error("found a graph 'body' with " + std::to_string(given->g().input_size()) + " inputs, expected " +
                        std::to_string(inputs.size()) + " inputs");
        if (importer_.session_.bodies.size() == kMostBodies)
            throw Error("found more than " + std::to_string(kMostBodies) +
                        " iterations of loops with sequences or changing sizes, expected at most " +
                        std::to_string(kMostBodies) + ", because Whittle unrolls such loops");
        onnx::GraphProto& body = importer_.session_.bodies.emplace_back(given->g());  // reading uses it up
        return importer_.join_graph(body, inputs);
    }

  private:
    /// After the node's first result that has a name.
    std::string fresh_name() {
        int named = 0;
        while (pending_.proto.output(named).empty()) ++named;
        return importer_.draft_.names().take(result_name(pending_, named, importer_.scope_));
    }

    static void add_attribute(onnx::NodeProto& node, const std::string& name, const Arg& value) {
        onnx::AttributeProto& attribute = *node.add_attribute();
        attribute.set_name(name);
        const auto integer = [](const Arg& arg) { return std::get<std::int64_t>(arg.value); };
        if (!value.list()) {
            attribute.set_type(onnx::AttributeProto::INT);
            attribute.set_i(integer(value));
            return;
        }
        attribute.set_type(onnx::AttributeProto::INTS);
        for (const Arg& element : *value.list()) attribute.add_ints(integer(element));
    }

    GraphImporter& importer_;
    PendingNode& pending_;
    std::vector<std::optional<OnnxValue>> inputs_;
};

/// What was made for the result has its name; else nothing has it.
void GraphImporter::name_resolved(const PendingNode& pending, int output, const OnnxValue& result,
                                  std::size_t nodes_before) {
    const std::string& name = result_name(pending, output, scope_);
    const bool made = result.is_tensor() && static_cast<std::size_t>(result.nodes[0].id) >= nodes_before;
    if (!made || draft_.node(result.nodes[0]).kind == NodeKind::placeholder || draft_.graph().attributes.contains(name))
        draft_.names().release(name);
    else
        draft_.rename(result.nodes[0], name);
}

bool GraphImporter::resolve_sequences(PendingNode& pending) {
    const OnnxSequenceOp* op = onnx_sequence_op(pending.call.target);
    const OnnxSequenceOp* passing = op ? nullptr : onnx_passing_op(pending.call.target);
    if (!op && !passing) return false;
    SequenceReader reader(*this, pending);
    if (passing && reader.tensors_only() && !session_.written_out.contains(pending.where.position)) return false;
    const auto count = [&] { return draft_.graph().nodes.size(); };
    const std::size_t before = count();
    std::vector<OnnxValue> results;
    try {
        results = (op ? op : passing)->resolve(reader);
        if (results.size() != static_cast<std::size_t>(pending.outputs))
            throw Error("found " + std::to_string(pending.outputs) + " outputs, expected " +
                        std::to_string(results.size()) + " outputs");
    } catch (Error& error) {
        if (!session_.options.keep_unknown) {
            if (error.where().position.empty()) error.locate(pending.where);
            throw;
        }
        for (NodeRef made{static_cast<NodeId>(before)}; static_cast<std::size_t>(made.id) < count(); ++made.id)
            if (draft_.node(made).kind == NodeKind::call) draft_.facts(made).part = true;
        if (!reader.unknown_input()) pending.refuse(error.message(), error.hint());
        return false;
    }
    ++session_.folded[pending.call.target];
    for (int i = 0; i < pending.outputs; ++i) {
        if (pending.proto.output(i).empty()) continue;
        const OnnxValue& result = results[static_cast<std::size_t>(i)];
        name_resolved(pending, i, result, before);
        scope_.top().values[pending.proto.output(i)] = result;
    }
    return true;
}

}  // namespace whittle::onnx_proto
