#include "frontends/onnx/prepare.h"

#include <algorithm>
#include <optional>

namespace whittle::onnx_proto {
namespace {

std::string element_name(const std::string& sequence, std::size_t position) {
    return sequence + "." + std::to_string(position);
}

bool gives(const LoadOptions& options, const std::string& name) {
    return options.input_sizes.contains(name) ||
           std::ranges::any_of(options.values, [&](const InputValue& value) { return value.name == name; });
}

/// How many elements the input has, nothing for an optional that holds nothing.
std::optional<std::size_t> length_of(const onnx::ValueInfoProto& input, bool sequence, const LoadOptions& options,
                                     const std::string& file) {
    const std::string& name = input.name();
    if (const auto given = options.lengths.find(name); given != options.lengths.end()) return given->second;
    std::size_t length = 0;
    while (gives(options, sequence ? element_name(name, length) : name) && (sequence || length == 0)) ++length;
    if (length == 0)
        throw Error(
            {file, "input " + in_quotes(name)},
            "no value is given for this " + std::string(input.type().has_optional_type() ? "optional" : "sequence"),
            sequence
                ? "give the elements with --input, named " + element_name(name, 0) + ", " + element_name(name, 1) + " …"
                : "give the value with --input NAME=FILE, where NAME is the name of the input");
    return length;
}

/// The input as the result of a node on the elements.
void add_node(onnx::GraphProto& graph, const onnx::ValueInfoProto& input, std::optional<std::size_t> length) {
    onnx::NodeProto& node = *graph.add_node();
    node.add_output(input.name());
    node.set_op_type(!length ? "Optional" : *length == 0 ? "SequenceEmpty" : "SequenceConstruct");
    for (std::size_t i = 0; i < length.value_or(0); ++i) node.add_input(element_name(input.name(), i));
    if (length) return;
    onnx::AttributeProto& type = *node.add_attribute();
    type.set_name("type");
    type.set_type(onnx::AttributeProto::TYPE_PROTO);
    *type.mutable_tp() = input.type().optional_type().elem_type();
}

/// An element: elements of one sequence need not have the same sizes where these have a name only.
onnx::ValueInfoProto element_of(const onnx::ValueInfoProto& input, const onnx::TypeProto& type, std::size_t position) {
    onnx::ValueInfoProto element;
    element.set_name(element_name(input.name(), position));
    *element.mutable_type() = type;
    if (type.tensor_type().has_shape())
        for (auto& dim : *element.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
            if (dim.has_dim_param()) dim.clear_dim_param();
    return element;
}

}  // namespace

void list_inputs(onnx::GraphProto& graph, const LoadOptions& options, const std::string& file) {
    google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
    for (const onnx::ValueInfoProto& input : graph.input()) {
        const bool optional = input.type().has_optional_type();
        const onnx::TypeProto& held = optional ? input.type().optional_type().elem_type() : input.type();
        if (!held.has_sequence_type() && !optional) {
            *inputs.Add() = input;
            continue;
        }
        const bool sequence = held.has_sequence_type();
        const onnx::TypeProto& type = sequence ? held.sequence_type().elem_type() : held;
        if (!type.has_tensor_type())
            throw Error({file, "input " + in_quotes(input.name())},
                        "found elements that are not dense tensors, expected a dense tensor, or a sequence or optional "
                        "of dense tensors");
        const std::optional<std::size_t> length = length_of(input, sequence, options, file);
        if (length && !sequence) {
            *inputs.Add() = input;
            *inputs.rbegin()->mutable_type() = type;
            continue;
        }
        for (std::size_t i = 0; i < length.value_or(0); ++i) *inputs.Add() = element_of(input, type, i);
        add_node(graph, input, length);
    }
    graph.mutable_input()->Swap(&inputs);
}

}  // namespace whittle::onnx_proto
