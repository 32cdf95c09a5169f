#include "judge/interval.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/words.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "judge/interval_rules.h"
#include "judge/interval_values.h"
#include "ops/core/cost.h"
#include "ops/core/known.h"
#include "ops/core/memory.h"
#include "passes/widen.h"

namespace whittle {
namespace {

using Intervals = std::vector<Interval>;
using ValueOf = std::function<const Interval&(NodeRef)>;

Interval exact_interval(const Tensor& value) {
    return {.center = widen(std::span(&value, 1)).front(), .dtype = value.dtype()};
}

/// Host numbers as f32 computes with them: ATen rounds 0.1 before it compares it with an f32.
void round_numbers(Arg& arg) {
    if (auto* number = std::get_if<double>(&arg.value)) *number = static_cast<double>(static_cast<float>(*number));
    if (auto* list = std::get_if<ArgList>(&arg.value))
        for (Arg& item : *list) round_numbers(item);
}

bool any_floats(std::span<const ValueMeta> metas) {
    return std::ranges::any_of(metas, [](const ValueMeta& meta) { return is_inexact(meta.dtype); });
}
bool reads_floats(const Graph& graph, const Node& call) {
    bool any = false;
    for_each_input(call, [&](NodeRef ref) { any = any || any_floats(graph.node(ref).results); });
    return any;
}

/// The nodes of a graph, one after the other.
class IntervalWalk {
  public:
    IntervalWalk(const Accuracy& accuracy, bool exact) : accuracy_(accuracy), exact_(exact) {}

    /// `part_of`: the op that the graph is the expansion of, which reports name; empty for the graph itself.
    Intervals run(const Graph& graph, const Intervals& inputs, const std::string& part_of) {
        std::vector<Intervals> values(graph.nodes.size());
        const ValueOf value = [&](NodeRef ref) -> const Interval& {
            return values.at(static_cast<std::size_t>(ref.id)).at(0);
        };
        const std::vector<NodeId> outputs = graph.outputs();
        std::size_t next = 0;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (node.kind == NodeKind::output) {
                Intervals results;
                for (const Arg& arg : node.args) results.push_back(value(*arg.node()));
                return results;
            }
            if (node.kind == NodeKind::placeholder)
                values[i] = {inputs.at(next++)};
            else if (node.kind == NodeKind::get_attr)
                values[i] = {exact_interval(graph.attributes.at(node.target))};
            else if (const auto item = item_read(node))
                values[i] = {values.at(static_cast<std::size_t>(item->node)).at(static_cast<std::size_t>(item->index))};
            else
                values[i] = call(graph, node, value, part_of.empty() ? node.target : part_of);
            if (!is_op_call(node)) continue;
            const bool part = !part_of.empty(), last = std::ranges::find(outputs, NodeId(i)) != outputs.end();
            if (part && last) continue;  // it is a result of the whole call, which settles it
            for (Interval& result : values[i]) settle_overflow(result, part ? part_of : node.target, !part);
        }
        WHITTLE_CHECK(false, "graph " + graph.name + " has no output node");
        return {};
    }

  private:
    Intervals call(const Graph& graph, const Node& node, const ValueOf& value, const std::string& reported) {
        const RegisteredOp* op = Registry::instance().op(node.target);
        Interval unknown;
        bool exact = true;
        for_each_input(node, [&](NodeRef ref) {
            const Interval& operand = value(ref);
            if (!operand.unbounded.empty() && (unknown.unbounded.empty() || unknown.other_type)) unknown = operand;
            exact = exact && !operand.full;
        });
        if (!op || op->def->random || has_nested_graph(node)) unknown = {.unbounded = node.target};
        if (!unknown.unbounded.empty()) return nothing_known(node, unknown);
        const bool floats = any_floats(node.results);
        if (exact && !floats && !reads_floats(graph, node)) return exactly(graph, node, value, reported);
        if (op->def->bound.rule == Bound::Rule::none) {
            if (op->def->decompose || op->def->bound.parts) return run_parts(graph, node, value, reported);
            return exact && !floats ? exactly(graph, node, value, reported)
                                    : nothing_known(node, {.unbounded = exact_ ? reported : node.target});
        }
        if (std::ranges::any_of(node.results, [](const ValueMeta& meta) {
                return is_complex(meta.dtype) || info_of(meta.dtype).use == DTypeInfo::Use::stored;
            }))
            return nothing_known(node, {.unbounded = node.target, .other_type = true});
        if (exact_) return exact_results(in_f64(graph, node, value, reported), *op, accuracy_);
        const double terms = op->def->bound.rule == Bound::Rule::sums ? terms_of(graph, node) : 1;
        spend(node, terms);
        Intervals results = bounded_results(in_f64(graph, node, value, reported), *op, terms, accuracy_);
        const bool moves = op->def->bound.rule == Bound::Rule::exact || op->def->bound.rule == Bound::Rule::choice;
        const std::size_t from = moves ? only_origin(node, value) : 0;
        for (Interval& result : results)
            if (result.full) result.origin = from ? from : ++origins_;
        return results;
    }

    /// Of all operands that are not exact; 0: they have several.
    static std::size_t only_origin(const Node& node, const ValueOf& value) {
        std::set<std::size_t> origins;
        for_each_input(node, [&](NodeRef ref) {
            if (value(ref).full) origins.insert(value(ref).origin);
        });
        return origins.size() == 1 ? *origins.begin() : 0;
    }

    /// `unknown`: which op has no rule.
    static Intervals nothing_known(const Node& node, const Interval& unknown) {
        Intervals results;
        for (const ValueMeta& meta : node.results)
            results.push_back({.dtype = meta.dtype,
                               .unbounded = unknown.unbounded,
                               .other_type = unknown.other_type,
                               .inexact = unknown.inexact});
        return results;
    }

    Intervals exactly(const Graph& graph, const Node& node, const ValueOf& value, const std::string& reported) {
        spend(node, 1);
        const WideCall wide = in_f64(graph, node, value, reported);
        Intervals results;
        for (const Tensor& center : evaluated(wide, [&](NodeRef ref) { return wide.value(ref).center; }))
            results.push_back({.center = center, .dtype = center.dtype()});
        return results;
    }

    /// The call alone, in f64. Exact integers are constants: sizes may depend on them.
    static WideCall in_f64(const Graph& graph, const Node& node, const ValueOf& value, const std::string& reported) {
        Graph alone = blank_graph(graph, "alone");
        std::map<NodeId, NodeRef> mapped;
        std::map<std::string, const Interval*> operands;
        for_each_input(node, [&](NodeRef ref) {
            if (mapped.contains(ref.id)) return;
            const Interval& operand = value(ref);
            const bool known = !operand.full && !is_inexact(operand.dtype);
            const NodeRef to = known ? alone.get_attr(graph.node(ref).name, operand.center)
                                     : alone.placeholder(graph.node(ref).name, graph.node(ref).meta());
            mapped[ref.id] = to;
            operands[alone.node(to).name] = &operand;
        });
        Node call = map_inputs(node, [&](NodeRef ref) { return Arg(mapped.at(ref.id)); });
        bool wide = false;
        for_each_input(node, [&](NodeRef ref) { wide = wide || graph.node(ref).meta().dtype == DType::f64; });
        for (const ValueMeta& meta : node.results) wide = wide || meta.dtype == DType::f64;
        if (!wide) {
            for (Arg& arg : call.args) round_numbers(arg);
            for (auto& [key, arg] : call.kwargs) round_numbers(arg);
        }
        const std::string name = alone.node(alone.add(std::move(call))).name;
        alone.output(add_results(alone, {static_cast<NodeId>(alone.nodes.size()) - 1}));
        return {widen(alone).graph, name, node.results, operands, reported};
    }

    /// Through the op's decomposition. The decomposition gets operands that are computed but exact: sizes may depend on
    /// them.
    Intervals run_parts(const Graph& graph, const Node& node, const ValueOf& value, const std::string& reported) {
        std::map<NodeId, Tensor> known;
        const KnownValue exact_operand = [&](NodeRef ref) -> const Tensor* {
            const Interval& operand = value(ref);
            if (operand.full || is_inexact(operand.dtype)) return nullptr;
            return &known.try_emplace(ref.id, operand.center).first->second;
        };
        const Expansion expansion = expand_for_bound(graph, node, exact_operand);
        Intervals inputs;
        for (const NodeRef operand : expansion.operands) inputs.push_back(value(operand));
        return run(expansion.graph, inputs, reported);
    }

    void spend(const Node& node, double terms) {
        if (exact_) return;
        for (const ValueMeta& meta : node.results) steps_ += static_cast<double>(meta.numel()) * terms;
        if (steps_ > kMostIntervalSteps) throw Error("the graph is too large for interval arithmetic");
    }

    const Accuracy& accuracy_;
    const bool exact_;  ///< results are exact or not known
    double steps_ = 0;
    std::size_t origins_ = 0;
};

/// The op, or a part of its expansion, has a rule.
bool has_bound(const Graph& graph, const Node& call) {
    const RegisteredOp* op = Registry::instance().op(call.target);
    if (!op || op->def->random || has_nested_graph(call)) return false;
    if (!any_floats(call.results) && !reads_floats(graph, call)) return true;
    if (op->def->bound.rule != Bound::Rule::none) return true;
    if (!op->def->decompose && !op->def->bound.parts) return false;
    try {
        const Expansion expansion = expand_for_bound(graph, call);
        return std::ranges::all_of(expansion.graph.nodes, [&](const Node& part) {
            return !is_op_call(part) || has_bound(expansion.graph, part);
        });
    } catch (const NeedsConstant&) {  // sizes are data, which whoever runs the graph knows
        return true;
    } catch (const Error&) {  // it refuses its operands
        return false;
    }
}

}  // namespace

static std::optional<Intervals> walked(const Graph& graph, std::span<const Tensor> inputs, const Accuracy& accuracy,
                                       bool exact, std::string* why) {
    const auto nothing = [&](std::string reason) -> std::optional<Intervals> {
        if (why) *why = std::move(reason);
        return std::nullopt;
    };
    if (has_writes(graph)) return nothing("the graph writes to memory");
    try {
        Intervals given;
        for (const Tensor& input : inputs) given.push_back(exact_interval(input));
        return IntervalWalk(accuracy, exact).run(graph, given, {});
    } catch (const Error& error) {
        return nothing(error.message());
    }
}

std::optional<Intervals> intervals_of(const Graph& graph, std::span<const Tensor> inputs, const Accuracy& accuracy,
                                      std::string* why) {
    return walked(graph, inputs, accuracy, false, why);
}

std::optional<Intervals> exact_intervals_of(const Graph& graph, std::span<const Tensor> inputs, std::string* why) {
    return walked(graph, inputs, {}, true, why);
}

std::vector<std::string> ops_without_bound(const Graph& graph) {
    std::vector<std::string> ops;
    for (const Node& node : graph.nodes)
        if (is_op_call(node) && !has_bound(graph, node)) add_once(ops, node.target);
    return ops;
}

}  // namespace whittle
