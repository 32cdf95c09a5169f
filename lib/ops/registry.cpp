#include "ops/registry.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "graph/text.h"
#include "ops/custom.h"
#include "ops/families.h"

namespace whittle {

namespace {

std::vector<std::span<const OpDef>> families() {
    return {
        unary_ops(),           //
        activation_ops(),      //
        arithmetic_ops(),      //
        division_ops(),        //
        power_ops(),           //
        compare_ops(),         //
        select_ops(),          //
        ternary_ops(),         //
        cast_ops(),            //
        reduction_ops(),       //
        extremum_ops(),        //
        statistic_ops(),       //
        softmax_ops(),         //
        norm_ops(),            //
        batch_norm_ops(),      //
        view_ops(),            //
        piece_ops(),           //
        reshape_ops(),         //
        join_ops(),            //
        pad_ops(),             //
        arrange_ops(),         //
        gather_ops(),          //
        index_ops(),           //
        scatter_ops(),         //
        overwrite_ops(),       //
        creation_ops(),        //
        range_ops(),           //
        triangle_ops(),        //
        scan_ops(),            //
        sort_ops(),            //
        search_ops(),          //
        matmul_ops(),          //
        linear_ops(),          //
        attention_ops(),       //
        conv_ops(),            //
        conv_form_ops(),       //
        pool_ops(),            //
        avg_pool_ops(),        //
        upsample_ops(),        //
        grid_ops(),            //
        distance_ops(),        //
        rnn_ops(),             //
        einsum_ops(),          //
        random_ops(),          //
        dropout_ops(),         //
        higher_order_ops(),    //
        backward_ops(),        //
        layer_backward_ops(),  //
        onnx_ops(),            //
    };
}

/// Levenshtein's distance, for suggestions.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t substitute = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

/// "aten.relu.default" -> "relu": what misspellings of the overload or the dialect have in common.
std::string_view middle(std::string_view target) {
    const std::size_t first = target.find('.');
    if (first == std::string_view::npos) return target;
    target.remove_prefix(first + 1);
    return target.substr(0, target.find('.'));
}

std::string close_spellings(std::span<const RegisteredOp> ops, std::string_view target) {
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const RegisteredOp& op : ops) {
        const std::size_t whole = edit_distance(op.def->name, target);
        const bool same_middle = middle(op.def->name) == middle(target);
        const bool close = whole <= 2 || whole * 5 <= target.size();
        if (same_middle || close) ranked.emplace_back(same_middle ? 0 : whole, op.def->name);
    }
    std::sort(ranked.begin(), ranked.end());
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(ranked.size(), 5); ++i)
        text += (i == 0 ? "did you mean " : ", ") + std::string(ranked[i].second);
    return text.empty() ? text : text + "?";
}

/// Result `i` of the node that a getitem call reads.
ValueMeta infer_getitem(const Graph& graph, const Node& call) {
    const NodeRef* source = call.args.size() == 2 ? call.args[0].node() : nullptr;
    const auto* position = source ? std::get_if<std::int64_t>(&call.args[1].value) : nullptr;
    if (!position) throw Error("getitem: expected a node and a position");
    const Node& node = graph.node(*source);
    if (*position < 0 || *position >= static_cast<std::int64_t>(node.results.size()))
        throw Error("getitem: position " + std::to_string(*position) + " of %" + node.name + ", which has " +
                    std::to_string(node.results.size()) + " results");
    return node.results[static_cast<std::size_t>(*position)];
}

}  // namespace

Registry::Registry() {
    for (const std::span<const OpDef> family : families())
        for (const OpDef& def : family) ops_.push_back({&def, Schema::parse(def.schema)});
    std::sort(ops_.begin(), ops_.end(),
              [](const RegisteredOp& a, const RegisteredOp& b) { return a.def->name < b.def->name; });
    by_name_.reserve(ops_.size());
    for (const RegisteredOp& op : ops_)
        WHITTLE_CHECK(by_name_.emplace(op.def->name, &op).second,
                      "op " + std::string(op.def->name) + " is registered twice");
}

const Registry& Registry::instance() {
    static const Registry registry;
    return registry;
}

const RegisteredOp* Registry::op(std::string_view target) const {
    const auto found = by_name_.find(target);
    return found == by_name_.end() ? custom_op(target) : found->second;
}

const Schema* Registry::find(std::string_view target) const {
    if (const RegisteredOp* found = op(target)) return &found->schema;
    const InPlaceForm* form = in_place(target);
    return form ? &form->schema : nullptr;
}

const InPlaceForm* Registry::in_place(std::string_view target) const {
    // In-place names end in '_': nothing else is worth deriving the forms for.
    if (const std::size_t dot = target.rfind('.'); dot == std::string_view::npos || dot == 0 || target[dot - 1] != '_')
        return nullptr;
    std::call_once(derived_, [&] { in_place_ = in_place_forms(ops_); });
    const auto found = in_place_.find(target);
    return found == in_place_.end() ? nullptr : &found->second;
}

const RegisteredOp& Registry::require(std::string_view target) const {
    if (const RegisteredOp* found = op(target)) return *found;
    throw Error("unknown op '" + std::string(target) + "'", close_spellings(ops_, target));
}

namespace {

DType dtype_in(const ValueMeta& meta) { return meta.dtype; }
DType dtype_in(const Tensor& tensor) { return tensor.dtype(); }
DType dtype_in(const NodeValue& value) { return value.meta.dtype; }

/// The tensor "self" or "input", else the first tensor among the arguments, if there is one.
template <class T>
std::optional<T> main_operand(const Schema& schema, const Arguments<T>& arguments) {
    for (const char* name : {"self", "input"}) {
        const Param* param = schema.param(name);
        if (!param || param->type != ParamType::tensor || !arguments.has(name)) continue;
        const auto operand = arguments.operand(name);
        if (const T* tensor = std::get_if<T>(&operand)) return *tensor;
    }
    for (const Param& param : schema.params) {
        if (param.type == ParamType::tensor && arguments.has(param.name)) {
            const auto operand = arguments.operand(param.name);
            if (const T* tensor = std::get_if<T>(&operand)) return *tensor;
        }
        if (param.type == ParamType::tensor_list && arguments.has(param.name))
            for (const std::optional<T>& element : arguments.optional_tensors(param.name))
                if (element) return element;
    }
    return std::nullopt;
}

}  // namespace

template <class T>
void check_main_dtype(const RegisteredOp& op, const Arguments<T>& arguments) {
    const std::optional<T> operand = main_operand(op.schema, arguments);
    if (!operand || (op.def->dtypes & set_of(dtype_in(*operand)))) return;
    std::string allowed;
    for (const DType dtype : kAllDTypes)
        if (op.def->dtypes & set_of(dtype)) allowed += ' ' + std::string(name(dtype));
    throw Error(std::string(op.def->name) + " is not defined for " + std::string(name(dtype_in(*operand))),
                "it is for" + allowed);
}
template void check_main_dtype(const RegisteredOp&, const Arguments<Tensor>&);

Expansion expand(const Graph& graph, const Node& call) {
    const RegisteredOp& op = Registry::instance().require(call.target);
    WHITTLE_CHECK(op.def->decompose != nullptr, call.target + " is not a composite");
    Expansion result;
    Graph& body = result.graph;
    body.name = identifier(call.target);
    body.opset_imports = graph.opset_imports;
    body.subgraphs = graph.subgraphs;

    std::map<NodeId, NodeValue> mapped;
    for_each_input(call, [&](NodeRef ref) {
        if (mapped.count(ref.id) != 0) return;
        const Node& node = graph.node(ref);
        if (node.kind == NodeKind::get_attr) {
            const NodeRef constant = body.get_attr(node.target, graph.attributes.at(node.target));
            mapped[ref.id] = {constant, node.meta()};
        } else {
            mapped[ref.id] = {body.placeholder(node.name, node.meta()), node.meta()};
            result.operands.push_back(ref);
        }
    });
    GraphBuilder builder(body);
    const Arguments<NodeValue> arguments(
        op.schema, call, [&](NodeRef ref) { return mapped.at(ref.id); }, {}, &graph);
    check_main_dtype(op, arguments);
    body.output(op.def->decompose(builder, arguments));
    return result;
}

std::vector<ValueMeta> infer(const Graph& graph, const Node& call) {
    if (call.target == kGetItem) return {infer_getitem(graph, call)};
    const RegisteredOp& op = Registry::instance().require(call.target);
    if (op.def->infer) {
        const Arguments<ValueMeta> arguments(
            op.schema, call, [&](NodeRef ref) { return graph.node(ref).meta(); }, {}, &graph);
        check_main_dtype(op, arguments);
        return op.def->infer(arguments);
    }
    WHITTLE_CHECK(op.def->decompose != nullptr, call.target + " has neither infer nor decompose");
    const Expansion expansion = expand(graph, call);
    std::vector<ValueMeta> results;
    for (const NodeId id : expansion.graph.outputs())
        results.push_back(expansion.graph.nodes[static_cast<std::size_t>(id)].meta());
    return results;
}

void infer_all(Graph& graph) {
    for (Node& node : graph.nodes) {
        if (node.kind == NodeKind::get_attr) node.results = {ValueMeta::of(graph.attributes.at(node.target))};
        if (node.kind != NodeKind::call) continue;
        try {
            node.results = infer(graph, node);
        } catch (const Error& error) {
            throw Error({error.where().file, place_of(graph, node)}, error.message(), error.hint());
        }
    }
}

std::vector<Tensor> Sample::inputs() const {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (std::find(constants.begin(), constants.end(), i) == constants.end()) result.push_back(tensors[i]);
    return result;
}

Graph graph_of(const RegisteredOp& op, const Sample& sample) {
    Graph graph;
    graph.name = identifier(op.def->name);
    if (op.def->name.starts_with("onnx.")) graph.dialect = "onnx";
    graph.opset_imports = sample.opset_imports;
    graph.subgraphs = sample.subgraphs;

    std::vector<NodeRef> tensors(sample.tensors.size());
    const auto is_constant = [&](std::size_t i) {
        return std::find(sample.constants.begin(), sample.constants.end(), i) != sample.constants.end();
    };
    for (const bool constants : {false, true})  // placeholders come first in a graph
        for (std::size_t i = 0; i < sample.tensors.size(); ++i) {
            if (is_constant(i) != constants) continue;
            const std::string name = (constants ? "constant" : "input") + std::to_string(i);
            tensors[i] = constants ? graph.get_attr(name, sample.tensors[i])
                                   : graph.placeholder(name, ValueMeta::of(sample.tensors[i]));
        }

    Node call;
    call.target = std::string(op.def->name);
    call.args = sample.args;
    call.kwargs = sample.kwargs;
    call = map_inputs(call, [&](NodeRef ref) { return Arg(tensors.at(static_cast<std::size_t>(ref.id))); });
    call.results = infer(graph, call);
    const std::size_t count = call.results.size();
    const NodeRef result = graph.add(std::move(call));
    std::vector<NodeRef> outputs = {result};
    const bool several = op.schema.returns.size() != 1 || op.schema.returns[0].list;
    if (several) {
        outputs.clear();
        GraphBuilder builder(graph);
        for (std::size_t i = 0; i < count; ++i)
            outputs.push_back(builder.call(kGetItem, {Arg(result), Arg(static_cast<std::int64_t>(i))}).ref);
    }
    graph.output(outputs);
    return graph;
}

}  // namespace whittle
