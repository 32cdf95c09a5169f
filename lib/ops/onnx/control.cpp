// ONNX ops with nested graphs: If, Loop, Scan. They have no decomposition: the interpreter runs their graphs.
// What a nested graph reads from around it is in `captured` and comes last among its placeholders.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/joined.h"
#include "ops/core/known.h"
#include "ops/core/nested.h"
#include "ops/onnx/control.h"
#include "ops/onnx/families.h"

namespace whittle {
namespace {

// --- If --------------------------------------------------------------------------------------------------------------

std::vector<ValueMeta> infer_if(const Arguments<ValueMeta>& arguments) {
    if (arguments.tensor("cond").numel() != 1)
        throw Error("found a condition with " + std::to_string(arguments.tensor("cond").numel()) +
                    " elements, expected one element");
    const std::vector<ValueMeta> captured = arguments.tensors("captured");
    return alternative_results(arguments.nested("then_branch"), arguments.nested("else_branch"),
                               arguments.tensors("captured"));
}

std::vector<Tensor> eval_if(const Arguments<Tensor>& arguments) {
    const bool condition = arguments.tensor("cond").item().to_bool();
    return contiguous(arguments.run_graph(condition ? "then_branch" : "else_branch", arguments.tensors("captured")));
}

// --- Loop ------------------------------------------------------------------------------------------------------------

/// The nested graph's first result, its condition to go on, is always true when its second placeholder is true.
bool keeps_going(const Graph& body) {
    NodeRef ref{body.outputs().at(0)};
    for (;;) {
        const Node& node = body.node(ref);
        if (node.kind == NodeKind::get_attr) return body.attributes.at(node.target).item().to_bool();
        if (node.kind == NodeKind::placeholder) return body.placeholders().at(1) == ref.id;
        const bool forwards = node.target == "onnx.Identity" || node.target == "onnx.Cast";
        if (!forwards || node.args.size() != 1 || !node.args[0].node()) return false;
        ref = *node.args[0].node();
    }
}

std::vector<ValueMeta> infer_loop(const Arguments<ValueMeta>& arguments) {
    const std::vector<ValueMeta> carried = arguments.tensors("v_initial");
    const std::vector<ValueMeta> head = {ValueMeta::contiguous(DType::i64, {}),
                                         ValueMeta::contiguous(DType::boolean, {})};
    const Graph& body = arguments.nested("body");
    const std::vector<ValueMeta> results =
        body_results(body, joined(joined(head, carried), arguments.tensors("captured")));
    if (results.size() < carried.size() + 1 || results[0].dtype != DType::boolean || results[0].numel() != 1)
        throw Error("found a loop body with " + std::to_string(results.size()) +
                    " results, expected a boolean condition of one element as the first result, then " +
                    std::to_string(carried.size()) + " carried values");
    std::vector<ValueMeta> metas(results.begin() + 1, results.end());
    check_carried(carried, metas);
    if (metas.size() == carried.size()) return metas;

    const std::string message =
        "found a loop that collects values and computes its number of iterations at run time, expected a constant "
        "number of iterations";
    const std::string hint = "make the trip count a constant and the condition always true";
    const std::optional<Tensor> count = arguments.known("M");
    const std::optional<Tensor> condition = arguments.known("cond");
    if (!arguments.has("M") || !keeps_going(body)) throw Error(message, hint);
    if (!count) throw NeedsConstant("M", message, hint);
    if (arguments.has("cond") && !condition) throw NeedsConstant("cond", message, hint);
    const bool runs = !condition || condition->item().to_bool();
    const std::int64_t trips = runs ? std::max<std::int64_t>(count->item().to_integer(), 0) : 0;
    for (std::size_t i = carried.size(); i < metas.size(); ++i) {
        Sizes sizes = metas[i].sizes;
        sizes.insert(sizes.begin(), trips);
        metas[i] = ValueMeta::contiguous(metas[i].dtype, std::move(sizes));
    }
    return metas;
}

std::vector<Tensor> eval_loop(const Arguments<Tensor>& arguments) {
    const std::int64_t limit =
        arguments.has("M") ? arguments.tensor("M").item().to_integer() : std::numeric_limits<std::int64_t>::max();
    bool condition = !arguments.has("cond") || arguments.tensor("cond").item().to_bool();
    std::vector<Tensor> carried = arguments.tensors("v_initial");
    const std::vector<Tensor> captured = arguments.tensors("captured");
    const Graph& body = arguments.nested("body");
    const std::vector<NodeId> outputs = body.outputs();
    std::vector<std::vector<Tensor>> collected(outputs.size() - 1 - carried.size());
    for (std::int64_t i = 0; i < limit && condition; ++i) {
        const std::vector<Tensor> head = {Tensor::of(Scalar(i), DType::i64),
                                          Tensor::of(Scalar(condition), DType::boolean)};
        std::vector<Tensor> results = arguments.run_graph("body", joined(joined(head, carried), captured));
        condition = results[0].item().to_bool();
        for (std::size_t k = 0; k < collected.size(); ++k) collected[k].push_back(results[1 + carried.size() + k]);
        carried.assign(results.begin() + 1, results.begin() + 1 + static_cast<std::ptrdiff_t>(carried.size()));
    }
    std::vector<Tensor> results = contiguous(carried);
    for (std::size_t k = 0; k < collected.size(); ++k)
        results.push_back(stack_slices(collected[k], body.node({outputs[1 + carried.size() + k]}).meta(), 0, false));
    return results;
}

// --- Scan ------------------------------------------------------------------------------------------------------------

/// How a Scan's operands and results divide: states first, then sequences.
struct ScanShape {
    std::size_t states = 0, sequences = 0;
    std::int64_t length = 0;
    std::vector<std::int64_t> input_axes = {};
    std::vector<bool> input_reversed = {};
};

ScanShape scan_shape(const std::vector<Sizes>& operands, std::int64_t sequences, const std::vector<std::int64_t>& axes,
                     const std::vector<std::int64_t>& directions) {
    if (sequences < 1 || static_cast<std::size_t>(sequences) > operands.size())
        throw Error("found num_scan_inputs=" + std::to_string(sequences) + ", expected 1 to " +
                    std::to_string(operands.size()));
    ScanShape shape{operands.size() - static_cast<std::size_t>(sequences), static_cast<std::size_t>(sequences)};
    if ((!axes.empty() && axes.size() != shape.sequences) ||
        (!directions.empty() && directions.size() != shape.sequences))
        throw Error(
            "found " + std::to_string(axes.size()) + " scan_input_axes and " + std::to_string(directions.size()) +
            " scan_input_directions, expected num_scan_inputs=" + std::to_string(sequences) + " of each, or none");
    for (std::size_t i = 0; i < shape.sequences; ++i) {
        const Sizes& sizes = operands[shape.states + i];
        if (sizes.empty()) throw Error("found a 0-d tensor to scan, expected at least one dimension");
        const std::int64_t axis = wrap_dim(axes.empty() ? 0 : axes[i], sizes);
        const std::int64_t length = sizes[static_cast<std::size_t>(axis)];
        if (i > 0 && length != shape.length)
            throw Error("found sequences of " + std::to_string(shape.length) + " and " + std::to_string(length) +
                        " elements, expected equal lengths");
        shape.length = length;
        shape.input_axes.push_back(axis);
        shape.input_reversed.push_back(!directions.empty() && directions[i] != 0);
    }
    return shape;
}

/// Before opset 9 a Scan ran over each element of a batch by itself, and its first operand said how long sequences are.
bool has_batches(const Graph& graph) {
    const auto opset = graph.opset_imports.find("");
    return opset != graph.opset_imports.end() && opset->second < 9;
}

/// A Scan's operands; with batches the first of all is none. Throws Error for lengths of sequences.
template <class T>
std::vector<T> scan_operands(const std::vector<std::optional<T>>& given, bool batches) {
    if (batches && !given.empty() && given[0])
        throw Error("found sequence_lens, which Whittle does not support, expected sequences of one length",
                    "make all sequences equally long and omit sequence_lens, an input of Scan before opset 9");
    std::vector<T> operands;
    for (std::size_t i = batches ? 1 : 0; i < given.size(); ++i) {
        if (!given[i]) throw Error("found no operand " + std::to_string(i) + " of Scan, expected a tensor");
        operands.push_back(*given[i]);
    }
    return operands;
}
template <class T>
std::vector<T> scan_operands(const Arguments<T>& arguments) {
    return scan_operands(arguments.optional_tensors("initial_state_and_scan_inputs"),
                         has_batches(arguments.nested("body")));
}

/// The operands of one element of a batch, and how many of these there are.
std::pair<std::vector<ValueMeta>, std::int64_t> of_one_element(std::vector<ValueMeta> operands) {
    std::optional<std::int64_t> batch;
    for (ValueMeta& operand : operands) {
        Sizes sizes = operand.sizes;
        if (sizes.empty() || (batch && sizes[0] != *batch))
            throw Error("found an operand of sizes " + to_string(operand.sizes) + ", expected a first dimension" +
                        (batch ? " of size " + std::to_string(*batch) : "") + ", the batch");
        batch = sizes[0];
        sizes.erase(sizes.begin());
        operand = ValueMeta::contiguous(operand.dtype, std::move(sizes));
    }
    return {std::move(operands), batch.value_or(0)};
}

ScanShape scan_shape(const AnyArguments auto& arguments, const std::vector<Sizes>& operands) {
    const bool batches = has_batches(arguments.nested("body"));
    return scan_shape(operands, arguments.integer("num_scan_inputs"), arguments.integers("scan_input_axes"),
                      arguments.integers(batches ? "directions" : "scan_input_directions"));
}

/// Metas of the body's own placeholders: states, then elements of the sequences.
std::vector<ValueMeta> scan_elements(const ScanShape& shape, const std::vector<ValueMeta>& operands) {
    std::vector<ValueMeta> metas(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(shape.states));
    for (std::size_t i = 0; i < shape.sequences; ++i) {
        Sizes sizes = operands[shape.states + i].sizes;
        sizes.erase(sizes.begin() + shape.input_axes[i]);
        metas.push_back(ValueMeta::contiguous(operands[shape.states + i].dtype, std::move(sizes)));
    }
    return metas;
}

/// The dimension along which result `i` of those that are collected grows.
std::int64_t output_axis(const AnyArguments auto& arguments, std::size_t i, const ValueMeta& element) {
    const std::vector<std::int64_t> axes = arguments.integers("scan_output_axes");
    if (!axes.empty() && i >= axes.size())
        throw Error("found " + std::to_string(axes.size()) +
                    " scan_output_axes, expected one for each collected result");
    return wrap_dim(axes.empty() ? 0 : axes[i], static_cast<std::int64_t>(element.sizes.size()) + 1);
}

std::vector<ValueMeta> infer_scan_of(const Arguments<ValueMeta>& arguments, const std::vector<ValueMeta>& operands) {
    std::vector<Sizes> sizes;
    for (const ValueMeta& operand : operands) sizes.push_back(operand.sizes);
    const ScanShape shape = scan_shape(arguments, sizes);
    std::vector<ValueMeta> metas =
        body_results(arguments.nested("body"), joined(scan_elements(shape, operands), arguments.tensors("captured")));
    if (metas.size() < shape.states)
        throw Error("found a scan body with " + std::to_string(metas.size()) + " results, expected at least " +
                    std::to_string(shape.states) + ": the states, then the collected results");
    for (std::size_t i = 0; i < metas.size(); ++i) {
        if (i < shape.states) {
            if (!same_type(operands[i], metas[i]))
                throw Error("found a scan body that changes state " + std::to_string(i) + " from " +
                            type_text(operands[i]) + " into " + type_text(metas[i]) + ", expected the same type");
            continue;
        }
        Sizes grown = metas[i].sizes;
        grown.insert(grown.begin() + output_axis(arguments, i - shape.states, metas[i]), shape.length);
        metas[i] = ValueMeta::contiguous(metas[i].dtype, std::move(grown));
    }
    return metas;
}

std::vector<ValueMeta> infer_scan(const Arguments<ValueMeta>& arguments) {
    const std::vector<ValueMeta> operands = scan_operands(arguments);
    if (!has_batches(arguments.nested("body"))) return infer_scan_of(arguments, operands);
    const auto [element, batch] = of_one_element(operands);
    std::vector<ValueMeta> metas = infer_scan_of(arguments, element);
    for (ValueMeta& meta : metas) {
        Sizes sizes = meta.sizes;
        sizes.insert(sizes.begin(), batch);
        meta = ValueMeta::contiguous(meta.dtype, std::move(sizes));
    }
    return metas;
}

std::vector<Tensor> eval_scan_of(const Arguments<Tensor>& arguments, const std::vector<Tensor>& operands) {
    std::vector<Sizes> sizes;
    for (const Tensor& operand : operands) sizes.push_back(operand.sizes());
    const ScanShape shape = scan_shape(arguments, sizes);
    const std::vector<Tensor> captured = arguments.tensors("captured");
    const Graph& body = arguments.nested("body");
    const std::vector<NodeId> outputs = body.outputs();
    const std::vector<std::int64_t> directions = arguments.integers("scan_output_directions");

    std::vector<Tensor> states(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(shape.states));
    std::vector<std::vector<Tensor>> collected(outputs.size() - shape.states);
    for (std::int64_t t = 0; t < shape.length; ++t) {
        std::vector<Tensor> inputs = states;
        for (std::size_t i = 0; i < shape.sequences; ++i)
            inputs.push_back(slice_of(operands[shape.states + i], shape.input_axes[i],
                                      shape.input_reversed[i] ? shape.length - 1 - t : t));
        const std::vector<Tensor> results = arguments.run_graph("body", joined(inputs, captured));
        states.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(shape.states));
        for (std::size_t k = 0; k < collected.size(); ++k) collected[k].push_back(results[shape.states + k]);
    }
    std::vector<Tensor> results = contiguous(states);
    for (std::size_t k = 0; k < collected.size(); ++k) {
        const ValueMeta& element = body.node({outputs[shape.states + k]}).meta();
        const bool reversed = k < directions.size() && directions[k] != 0;
        results.push_back(stack_slices(collected[k], element, output_axis(arguments, k, element), reversed));
    }
    return results;
}

std::vector<Tensor> eval_scan(const Arguments<Tensor>& arguments) {
    const std::vector<Tensor> operands = scan_operands(arguments);
    if (!has_batches(arguments.nested("body"))) return eval_scan_of(arguments, operands);
    std::vector<ValueMeta> metas;
    for (const Tensor& operand : operands) metas.push_back(ValueMeta::of(operand));
    const std::int64_t batch = of_one_element(metas).second;
    if (batch == 0) throw Error("found a scan over an empty batch, expected at least one element");
    std::vector<std::vector<Tensor>> results;  // of each result, one for each element
    for (std::int64_t i = 0; i < batch; ++i) {
        std::vector<Tensor> element;
        for (const Tensor& operand : operands) element.push_back(slice_of(operand, 0, i));
        const std::vector<Tensor> of_one = eval_scan_of(arguments, element);
        results.resize(of_one.size());
        for (std::size_t k = 0; k < of_one.size(); ++k) results[k].push_back(of_one[k]);
    }
    std::vector<Tensor> stacked;
    for (const std::vector<Tensor>& one : results)
        stacked.push_back(stack_slices(one, ValueMeta::of(one.front()), 0, false));
    return stacked;
}

constexpr OpDef kControlOps[] = {
    {.doc = "Runs one of two nested graphs",
     .schema = "If(Tensor cond, *, Graph then_branch, Graph else_branch, Tensor[] captured=[]) -> Tensor[]",
     .dtypes = kBool,
     .infer = infer_if,
     .eval = eval_if},
    {.doc = "Repeats a nested graph, carrying and collecting values",
     .schema = "Loop(Tensor? M=None, Tensor? cond=None, Tensor[] v_initial=[], *, Graph body, Tensor[] captured=[]) "
               "-> Tensor[]",
     .infer = infer_loop,
     .eval = eval_loop},
    {.doc = "Runs a nested graph on each element of sequences, carrying states",
     .schema = "Scan(Tensor?[] initial_state_and_scan_inputs, *, Graph body, int num_scan_inputs, "
               "int[]? directions=None, "
               "int[]? scan_input_axes=None, int[]? scan_input_directions=None, int[]? scan_output_axes=None, "
               "int[]? scan_output_directions=None, Tensor[] captured=[]) -> Tensor[]",
     .infer = infer_scan,
     .eval = eval_scan},
};

/// The operands that the call gives for a list parameter, and those of single ones before it.
std::vector<ValueMeta> metas_of(const Graph& graph, const Arg& arg) {
    std::vector<ValueMeta> metas;
    if (arg.node()) metas.push_back(graph.node(*arg.node()).meta());
    if (arg.list())
        for (const Arg& element : *arg.list()) metas.push_back(graph.node(*element.node()).meta());
    return metas;
}

}  // namespace

std::span<const OpDef> onnx_control_ops() { return kControlOps; }

std::vector<ValueMeta> onnx_body_inputs(const Graph& graph, const Node& call) {
    if (call.target == "onnx.If") return {};
    if (call.target == "onnx.Loop") {
        const std::vector<ValueMeta> head = {ValueMeta::contiguous(DType::i64, {}),
                                             ValueMeta::contiguous(DType::boolean, {})};
        return joined(head, call.args.size() > 2 ? metas_of(graph, call.args[2]) : std::vector<ValueMeta>());
    }
    if (call.target == "onnx.Scan") {
        const bool batches = has_batches(graph);
        std::vector<std::optional<ValueMeta>> given;
        if (!call.args.empty() && call.args[0].list())
            for (const Arg& operand : *call.args[0].list())
                given.push_back(operand.node() ? std::optional(graph.node(*operand.node()).meta()) : std::nullopt);
        std::vector<ValueMeta> operands = scan_operands(given, batches);
        if (batches) operands = of_one_element(std::move(operands)).first;
        const auto integers = [&](std::string_view name) {
            std::vector<std::int64_t> values;
            if (const Arg* arg = call.kwarg(name); arg && arg->list())
                for (const Arg& value : *arg->list())
                    if (const auto* integer = std::get_if<std::int64_t>(&value.value)) values.push_back(*integer);
            return values;
        };
        const Arg* count = call.kwarg("num_scan_inputs");
        const auto* sequences = count ? std::get_if<std::int64_t>(&count->value) : nullptr;
        std::vector<Sizes> sizes;
        for (const ValueMeta& operand : operands) sizes.push_back(operand.sizes);
        const ScanShape shape = scan_shape(sizes, sequences ? *sequences : 0, integers("scan_input_axes"),
                                           integers(batches ? "directions" : "scan_input_directions"));
        return scan_elements(shape, operands);
    }
    throw Error("found a nested graph in " + call.target + ", expected nested graphs only in If, Loop and Scan");
}

bool onnx_branches(const std::string& target) { return target == "onnx.If"; }

std::optional<std::string> onnx_chosen_branch(const Graph& graph, const Node& call) {
    if (!onnx_branches(call.target) || call.args.empty() || !call.args[0].node()) return std::nullopt;
    const Node& condition = graph.node(*call.args[0].node());
    if (condition.kind != NodeKind::get_attr || condition.meta().numel() != 1) return std::nullopt;
    return graph.attributes.at(condition.target).item().to_bool() ? "then_branch" : "else_branch";
}

}  // namespace whittle
