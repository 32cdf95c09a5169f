// Operations that run nested graphs: cond, while_loop, map, scan. As torch.ops.higher_order; all that a nested graph
// reads is among its placeholders. Results are contiguous and share no memory with operands.
#include "base/error.h"
#include "base/joined.h"
#include "ops/aten/families.h"
#include "ops/core/nested.h"

namespace whittle {
namespace {

/// Contiguous, in memory of their own: a nested graph may return what it was given, or a view of it.
std::vector<Tensor> in_own_memory(std::vector<Tensor> results) {
    for (Tensor& result : results)
        result = result.storage().use_count() > 1 ? result.clone().contiguous() : result.contiguous();
    return results;
}

// --- cond ------------------------------------------------------------------------------------------------------------

void check_condition(const ValueMeta& condition, const char* what) {
    if (condition.dtype != DType::boolean || condition.numel() != 1)
        throw Error(std::string(what) + ": found " + type_text(condition) + ", expected a bool tensor with 1 element");
}

std::vector<ValueMeta> infer_cond(const Arguments<ValueMeta>& arguments) {
    check_condition(arguments.tensor("pred"), "pred");
    return alternative_results(arguments.nested("true_graph"), arguments.nested("false_graph"),
                               arguments.tensors("operands"));
}

std::vector<Tensor> eval_cond(const Arguments<Tensor>& arguments) {
    const bool condition = arguments.tensor("pred").item().to_bool();
    return in_own_memory(arguments.run_graph(condition ? "true_graph" : "false_graph", arguments.tensors("operands")));
}

// --- while_loop ------------------------------------------------------------------------------------------------------

std::vector<ValueMeta> infer_while_loop(const Arguments<ValueMeta>& arguments) {
    const std::vector<ValueMeta> carried = arguments.tensors("carried");
    const std::vector<ValueMeta> inputs = joined(carried, arguments.tensors("captured"));
    const std::vector<ValueMeta> condition = body_results(arguments.nested("cond_graph"), inputs);
    if (condition.size() != 1)
        throw Error("found a cond_graph with " + std::to_string(condition.size()) + " results, expected 1 result");
    check_condition(condition[0], "the condition's result");
    std::vector<ValueMeta> results = body_results(arguments.nested("body_graph"), inputs);
    if (results.size() != carried.size())
        throw Error("found a body_graph with " + std::to_string(results.size()) + " results, expected " +
                    std::to_string(carried.size()) + ", one for each carried value");
    check_carried(carried, results);
    return results;
}

std::vector<Tensor> eval_while_loop(const Arguments<Tensor>& arguments) {
    const std::vector<Tensor> captured = arguments.tensors("captured");
    std::vector<Tensor> carried = arguments.tensors("carried");
    while (arguments.run_graph("cond_graph", joined(carried, captured)).at(0).item().to_bool())
        carried = arguments.run_graph("body_graph", joined(carried, captured));
    return in_own_memory(std::move(carried));
}

// --- map and scan ----------------------------------------------------------------------------------------------------

std::int64_t slice_count(const std::vector<Sizes>& xs) {
    if (xs.empty()) throw Error("found no tensors in xs, expected at least one");
    for (const Sizes& sizes : xs) {
        if (sizes.empty()) throw Error("found a 0-d tensor in xs, expected at least 1 dimension");
        if (sizes[0] != xs[0][0])
            throw Error("found tensors in xs with " + std::to_string(xs[0][0]) + " and " + std::to_string(sizes[0]) +
                        " slices along dimension 0, expected equal numbers of slices");
    }
    return xs[0][0];
}

/// Results of a body on slices of `xs` along dimension 0, behind `carried` values, which each slice hands on to the
/// next one: the last carried ones, then what each slice gave, stacked.
std::vector<ValueMeta> infer_slices(const Arguments<ValueMeta>& arguments, const std::vector<ValueMeta>& carried) {
    std::vector<ValueMeta> slices = arguments.tensors("xs");
    std::vector<Sizes> sizes;
    for (const ValueMeta& meta : slices) sizes.push_back(meta.sizes);
    const std::int64_t length = slice_count(sizes);
    for (ValueMeta& meta : slices) meta.sizes.erase(meta.sizes.begin());
    std::vector<ValueMeta> results =
        body_results(arguments.nested("body_graph"), joined(joined(carried, slices), arguments.tensors("captured")));
    if (results.size() < carried.size())
        throw Error("found a body_graph with " + std::to_string(results.size()) + " results, expected at least " +
                    std::to_string(carried.size()) + ", one for each carried value");
    check_carried(carried, results);
    for (std::size_t k = carried.size(); k < results.size(); ++k) {
        results[k].sizes.insert(results[k].sizes.begin(), length);
        results[k] = ValueMeta::contiguous(results[k].dtype, results[k].sizes);
    }
    return results;
}

std::vector<Tensor> eval_slices(const Arguments<Tensor>& arguments, std::vector<Tensor> carried) {
    const std::vector<Tensor> xs = arguments.tensors("xs"), captured = arguments.tensors("captured");
    std::vector<Sizes> sizes;
    for (const Tensor& x : xs) sizes.push_back(x.sizes());
    const std::int64_t length = slice_count(sizes);
    const Graph& body = arguments.nested("body_graph");
    const std::vector<NodeId> outputs = body.outputs();
    const std::size_t handed_on = carried.size();
    std::vector<std::vector<Tensor>> collected(outputs.size() - handed_on);
    for (std::int64_t i = 0; i < length; ++i) {
        std::vector<Tensor> inputs = carried;
        for (const Tensor& x : xs) inputs.push_back(slice_of(x, 0, i));
        const std::vector<Tensor> results = arguments.run_graph("body_graph", joined(std::move(inputs), captured));
        carried.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(handed_on));
        for (std::size_t k = 0; k < collected.size(); ++k) collected[k].push_back(results[handed_on + k]);
    }
    std::vector<Tensor> results = in_own_memory(std::move(carried));
    for (std::size_t k = 0; k < collected.size(); ++k)
        results.push_back(stack_slices(collected[k], body.node({outputs[handed_on + k]}).meta(), 0, false));
    return results;
}

std::vector<ValueMeta> infer_map(const Arguments<ValueMeta>& arguments) { return infer_slices(arguments, {}); }
std::vector<Tensor> eval_map(const Arguments<Tensor>& arguments) { return eval_slices(arguments, {}); }

std::vector<ValueMeta> infer_scan(const Arguments<ValueMeta>& arguments) {
    return infer_slices(arguments, arguments.tensors("init"));
}
std::vector<Tensor> eval_scan(const Arguments<Tensor>& arguments) {
    return eval_slices(arguments, arguments.tensors("init"));
}

constexpr OpDef kHigherOrderOps[] = {
    {.doc = "Runs one of two nested graphs. torch.cond",
     .schema = "cond(Tensor pred, Graph true_graph, Graph false_graph, Tensor[] operands) -> Tensor[]",
     .dtypes = kBool,
     .infer = infer_cond,
     .eval = eval_cond,
     .higher_order = true},
    {.doc = "Repeats a nested graph while another gives true, carrying values. torch.while_loop",
     .schema = "while_loop(Graph cond_graph, Graph body_graph, Tensor[] carried, Tensor[] captured=[]) -> Tensor[]",
     .infer = infer_while_loop,
     .eval = eval_while_loop,
     .higher_order = true},
    {.doc = "Runs a nested graph on each slice along dimension 0 and stacks the results. torch map",
     .schema = "map(Graph body_graph, Tensor[] xs, Tensor[] captured=[]) -> Tensor[]",
     .infer = infer_map,
     .eval = eval_map,
     .higher_order = true},
    {.doc = "Runs a nested graph on each slice along dimension 0 and on values carried from one slice to the next "
            "slice. torch scan",
     .schema = "scan(Graph body_graph, Tensor[] init, Tensor[] xs, Tensor[] captured=[]) -> Tensor[]",
     .infer = infer_scan,
     .eval = eval_scan,
     .higher_order = true},
};

}  // namespace

std::span<const OpDef> higher_order_ops() { return kHigherOrderOps; }

}  // namespace whittle
