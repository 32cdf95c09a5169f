#include "ops/onnx/sequence.h"

#include <algorithm>
#include <limits>
#include <span>

#include "base/error.h"
#include "tensor/tensor.h"

namespace whittle {
namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

const OnnxValue& given(OnnxReader& node, std::size_t position) {
    const OnnxValue* value = node.input(position);
    if (!value)
        throw Error("found no input " + std::to_string(position) + ", expected a tensor, a sequence or an optional");
    return *value;
}

const std::vector<NodeRef>& sequence(OnnxReader& node, std::size_t position) {
    const OnnxValue& value = given(node, position);
    if (value.kind != OnnxValue::Kind::sequence)
        throw Error("found " + std::string(kind_name(value)) + " as input " + std::to_string(position) +
                    ", expected a sequence");
    return value.nodes;
}

NodeRef tensor(OnnxReader& node, std::size_t position) {
    const OnnxValue& value = given(node, position);
    if (!value.is_tensor())
        throw Error("found " + std::string(kind_name(value)) + " as input " + std::to_string(position) +
                    ", expected a tensor");
    return value.nodes[0];
}

bool has(OnnxReader& node, std::size_t position) {
    return position < node.input_count() && node.input(position) != nullptr;
}

/// Where in a sequence that input points; counted from the end when it is negative.
std::ptrdiff_t place(OnnxReader& node, std::size_t input, std::size_t size, std::size_t end) {
    const auto length = static_cast<std::int64_t>(size), limit = static_cast<std::int64_t>(end);
    const std::int64_t position = node.known(tensor(node, input), "position").item().to_integer();
    if (position < -length || position >= limit)
        throw Error("found position " + text(position) + " in a sequence of " + text(length) + " elements, expected " +
                    text(-length) + " to " + text(limit - 1));
    return static_cast<std::ptrdiff_t>(position < 0 ? position + length : position);
}

/// The elements, which must be of one type.
OnnxValue sequence_of(OnnxReader& node, std::vector<NodeRef> elements) {
    for (const NodeRef element : elements)
        if (node.meta(element).dtype != node.meta(elements[0]).dtype)
            throw Error("found tensors of " + std::string(name(node.meta(elements[0]).dtype)) + " and of " +
                        std::string(name(node.meta(element).dtype)) + " in one sequence, expected equal dtypes");
    return OnnxValue(std::move(elements));
}

OnnxValue construct(OnnxReader& node) {
    std::vector<NodeRef> elements;
    for (std::size_t i = 0; i < node.input_count(); ++i) elements.push_back(tensor(node, i));
    return sequence_of(node, std::move(elements));
}

OnnxValue empty(OnnxReader&) { return OnnxValue(std::vector<NodeRef>()); }

OnnxValue insert(OnnxReader& node) {
    std::vector<NodeRef> elements = sequence(node, 0);
    const std::ptrdiff_t at = has(node, 2) ? place(node, 2, elements.size(), elements.size() + 1)
                                           : static_cast<std::ptrdiff_t>(elements.size());
    elements.insert(elements.begin() + at, tensor(node, 1));
    return sequence_of(node, std::move(elements));
}

OnnxValue erase(OnnxReader& node) {
    std::vector<NodeRef> elements = sequence(node, 0);
    if (elements.empty()) throw Error("found an empty sequence, expected at least one element to remove");
    elements.erase(has(node, 1) ? elements.begin() + place(node, 1, elements.size(), elements.size())
                                : elements.end() - 1);
    return OnnxValue(std::move(elements));
}

OnnxValue at(OnnxReader& node) {
    const std::vector<NodeRef>& elements = sequence(node, 0);
    return OnnxValue(elements[static_cast<std::size_t>(place(node, 1, elements.size(), elements.size()))]);
}

OnnxValue length(OnnxReader& node) {
    const auto count = static_cast<std::int64_t>(sequence(node, 0).size());
    return OnnxValue(node.constant(Tensor::of(std::vector<std::int64_t>{count}, {})));
}

NodeRef integer_constant(OnnxReader& node, const std::vector<std::int64_t>& values) {
    return node.constant(Tensor::of(values, {static_cast<std::int64_t>(values.size())}));
}

/// Squeeze or Unsqueeze.
NodeRef with_axis(OnnxReader& node, std::string_view op_type, NodeRef tensor, std::int64_t axis) {
    if (node.opset() >= 13) return node.call(op_type, {tensor, integer_constant(node, {axis})});
    return node.call(op_type, {tensor}, {{"axes", Arg::ints({axis})}});
}

/// The tensors as one, along a new dimension.
NodeRef stacked(OnnxReader& node, const std::vector<NodeRef>& tensors, std::int64_t axis) {
    std::vector<NodeRef> slices;
    for (const NodeRef tensor : tensors) slices.push_back(with_axis(node, "Unsqueeze", tensor, axis));
    return node.call("Concat", slices, {{"axis", axis}});
}

std::int64_t axis_of(OnnxReader& node, std::int64_t rank) {
    const std::int64_t axis = node.integer("axis").value_or(0);
    if (axis < -rank || axis >= rank)
        throw Error("found axis=" + text(axis) + ", expected " + text(-rank) + " to " + text(rank - 1));
    return axis < 0 ? axis + rank : axis;
}

OnnxValue concat_from_sequence(OnnxReader& node) {
    const std::vector<NodeRef>& elements = sequence(node, 0);
    if (elements.empty()) throw Error("found an empty sequence, expected at least one element to join");
    const bool new_axis = node.integer("new_axis").value_or(0) != 0;
    const auto rank = static_cast<std::int64_t>(node.meta(elements[0]).sizes.size()) + new_axis;
    const std::int64_t axis = axis_of(node, rank);
    return OnnxValue(new_axis ? stacked(node, elements, axis) : node.call("Concat", elements, {{"axis", axis}}));
}

/// Each element of a sequence that is split off is a call of its own.
constexpr std::int64_t kMostParts = 4096;

void check_parts(std::int64_t count) {
    if (count > kMostParts)
        throw Error("found a split into " + text(count) + " parts, expected at most " + text(kMostParts) + " parts");
}

/// The sizes of the parts along a dimension of `size` elements.
std::vector<std::int64_t> part_sizes(OnnxReader& node, std::int64_t size) {
    if (!has(node, 1)) {
        check_parts(size);
        return std::vector<std::int64_t>(static_cast<std::size_t>(size), 1);
    }
    const Tensor& split = node.known(tensor(node, 1), "split");
    std::vector<std::int64_t> parts = split.values<std::int64_t>();
    if (split.sizes().empty()) {
        const std::int64_t each = parts[0];
        if (each < 1) throw Error("found parts of " + text(each) + " elements, expected at least 1 element");
        check_parts(size / each);
        parts.assign(static_cast<std::size_t>(size / each), each);
        if (size % each != 0) parts.push_back(size % each);
        return parts;
    }
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) {
        if (part < 0) throw Error("found a part of " + text(part) + " elements, expected 0 or more elements");
        if (part > size - sum)
            throw Error("found part sizes that sum to more than " + text(size) + ", expected " + text(size) +
                        ", the size of the dimension");
        sum += part;
    }
    if (sum != size)
        throw Error("found part sizes that sum to " + text(sum) + ", expected " + text(size) +
                    ", the size of the dimension");
    return parts;
}

OnnxValue split_to_sequence(OnnxReader& node) {
    const NodeRef input = tensor(node, 0);
    const ValueMeta meta = node.meta(input);
    const std::int64_t axis = axis_of(node, static_cast<std::int64_t>(meta.sizes.size()));
    const bool drop = !has(node, 1) && node.integer("keepdims").value_or(1) == 0;
    std::vector<NodeRef> parts;
    std::int64_t start = 0;
    for (const std::int64_t part : part_sizes(node, meta.sizes[static_cast<std::size_t>(axis)])) {
        const NodeRef bounds[] = {integer_constant(node, {start}), integer_constant(node, {start + part}),
                                  integer_constant(node, {axis})};
        parts.push_back(node.call("Slice", {input, bounds[0], bounds[1], bounds[2]}));
        if (drop) parts.back() = with_axis(node, "Squeeze", parts.back(), axis);
        start += part;
    }
    return OnnxValue(std::move(parts));
}

OnnxValue optional_of(OnnxReader& node) { return has(node, 0) ? given(node, 0) : OnnxValue{}; }

OnnxValue get_element(OnnxReader& node) {
    const OnnxValue& value = given(node, 0);
    if (value.kind == OnnxValue::Kind::nothing)
        throw Error("found an empty optional, expected an optional with an element");
    return value;
}

OnnxValue has_element(OnnxReader& node) {
    const bool holds = has(node, 0) && node.input(0)->kind != OnnxValue::Kind::nothing;
    return OnnxValue(node.constant(Tensor::of(Scalar(holds), DType::boolean)));
}

OnnxValue pass_on(OnnxReader& node) { return given(node, 0); }

/// One iteration after another.
std::vector<OnnxValue> loop(OnnxReader& node) {
    const std::int64_t limit =
        has(node, 0) ? node.known(tensor(node, 0), "M").item().to_integer() : std::numeric_limits<std::int64_t>::max();
    bool goes_on = !has(node, 1) || node.known(tensor(node, 1), "cond").item().to_bool();
    std::vector<OnnxValue> carried;
    for (std::size_t i = 2; i < node.input_count(); ++i) carried.push_back(given(node, i));
    std::vector<std::vector<NodeRef>> collected(node.output_count() - std::min(node.output_count(), carried.size()));
    for (std::int64_t i = 0; i < limit && goes_on; ++i) {
        std::vector<OnnxValue> inputs = {node.constant(Tensor::of(Scalar(i), DType::i64)),
                                         node.constant(Tensor::of(Scalar(true), DType::boolean))};
        inputs.insert(inputs.end(), carried.begin(), carried.end());
        const std::vector<OnnxValue> results = node.body(inputs);
        if (results.size() != 1 + carried.size() + collected.size() || !results[0].is_tensor())
            throw Error("found a loop body with " + std::to_string(results.size()) + " results, expected " +
                        std::to_string(1 + carried.size() + collected.size()) +
                        ": the condition, a tensor, and then the carried and collected values");
        goes_on = node.known(results[0].nodes[0], "the body's condition").item().to_bool();
        carried.assign(results.begin() + 1, results.end() - static_cast<std::ptrdiff_t>(collected.size()));
        for (std::size_t k = 0; k < collected.size(); ++k) {
            const OnnxValue& result = results[1 + carried.size() + k];
            if (!result.is_tensor())
                throw Error("found a loop body that returns " + std::string(kind_name(result)) +
                            " to collect, expected a tensor");
            collected[k].push_back(result.nodes[0]);
        }
    }
    for (const std::vector<NodeRef>& tensors : collected) {
        if (tensors.empty())
            throw Error(
                "found a loop without iterations, expected at least one: without an iteration, the sizes of the "
                "results are unknown");
        carried.emplace_back(stacked(node, tensors, 0));
    }
    return carried;
}

/// The body on the first elements of all sequences, on the second ones …; tensors are the same for all.
std::vector<OnnxValue> sequence_map(OnnxReader& node) {
    const std::size_t count = sequence(node, 0).size();
    std::vector<OnnxValue> results(node.output_count(), std::vector<NodeRef>());
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<OnnxValue> inputs;
        for (std::size_t k = 0; k < node.input_count(); ++k) {
            const OnnxValue& input = given(node, k);
            if (input.kind == OnnxValue::Kind::sequence && input.nodes.size() != count)
                throw Error("found sequences of " + std::to_string(count) + " and " +
                            std::to_string(input.nodes.size()) + " elements, expected equal lengths");
            inputs.push_back(input.is_tensor() ? input : OnnxValue(sequence(node, k)[i]));
        }
        const std::vector<OnnxValue> elements = node.body(inputs);
        if (elements.size() < results.size())
            throw Error("found a body with " + std::to_string(elements.size()) + " results, expected at least " +
                        std::to_string(results.size()));
        for (std::size_t k = 0; k < results.size(); ++k) {
            if (!elements[k].is_tensor())
                throw Error("found a body that returns " + std::string(kind_name(elements[k])) +
                            ", expected a body that returns tensors");
            results[k].nodes.push_back(elements[k].nodes[0]);
        }
    }
    return results;
}

/// An op with one result.
template <OnnxValue (*Resolve)(OnnxReader&)>
std::vector<OnnxValue> one_result(OnnxReader& node) {
    return {Resolve(node)};
}

constexpr OnnxSequenceOp kSequenceOps[] = {
    {"onnx.SequenceConstruct", one_result<construct>},
    {"onnx.SequenceEmpty", one_result<empty>},
    {"onnx.SequenceInsert", one_result<insert>},
    {"onnx.SequenceErase", one_result<erase>},
    {"onnx.SequenceAt", one_result<at>},
    {"onnx.SequenceLength", one_result<length>},
    {"onnx.SequenceMap", sequence_map},
    {"onnx.ConcatFromSequence", one_result<concat_from_sequence>},
    {"onnx.SplitToSequence", one_result<split_to_sequence>},
    {"onnx.Optional", one_result<optional_of>},
    {"onnx.OptionalGetElement", one_result<get_element>},
    {"onnx.OptionalHasElement", one_result<has_element>},
};
constexpr OnnxSequenceOp kPassingOps[] = {{"onnx.Identity", one_result<pass_on>}, {"onnx.Loop", loop}};

const OnnxSequenceOp* find(std::span<const OnnxSequenceOp> ops, std::string_view target) {
    const auto found = std::ranges::find(ops, target, &OnnxSequenceOp::name);
    return found == ops.end() ? nullptr : &*found;
}

}  // namespace

std::string_view kind_name(const OnnxValue& value) {
    switch (value.kind) {
        case OnnxValue::Kind::tensor:
            return "a tensor";
        case OnnxValue::Kind::sequence:
            return "a sequence";
        case OnnxValue::Kind::nothing:
            return "an empty optional";
    }
    __builtin_unreachable();
}

const OnnxSequenceOp* onnx_sequence_op(std::string_view target) { return find(kSequenceOps, target); }
const OnnxSequenceOp* onnx_passing_op(std::string_view target) { return find(kPassingOps, target); }

}  // namespace whittle
