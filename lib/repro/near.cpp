#include "repro/steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "frontends/onnx/versions.h"
#include "graph/value_ref.h"
#include "judge/judge.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/onnx/opset.h"
#include "printers/formula.h"
#include "printers/near_text.h"

namespace whittle::repro {
namespace {

constexpr std::size_t kMostTried = 24;

struct Candidate {
    NearCase near;
    Graph graph;
};

/// The graph with one change each, in the order in which they are tried.
class Changes {
  public:
    explicit Changes(const Graph& graph) : graph_(graph) {}

    std::vector<Candidate> all() {
        contiguous();
        for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); id++) {
            if (!is_op_call(graph_.node({id}))) continue;
            separate(id);
            swapped(id);
            without_attributes(id);
            without_operands(id);
            without_call(id);
        }
        not_returned();
        opsets();
        dtypes();
        return std::move(candidates_);
    }

  private:
    static Node& node_of(Graph& graph, NodeId id) { return graph.nodes.at(static_cast<std::size_t>(id)); }

    /// The graph as `edit` changes it.
    template <class Edit>
    void add(const NearCase& near, const Edit& edit) {
        edit(candidates_.emplace_back(Candidate{near, graph_}).graph);
    }

    void contiguous() {
        if (std::ranges::all_of(graph_.failure->inputs, &Tensor::is_contiguous)) return;
        add({.change = NearCase::Change::contiguous}, [](Graph& graph) {
            std::size_t next = 0;
            for (const NodeId input : graph.placeholders()) {
                Tensor& value = graph.failure->inputs.at(next++);
                value = value.contiguous();
                node_of(graph, input).results.at(0).strides = value.strides();
            }
        });
    }

    /// Behind the other placeholders: who comes after them is called otherwise.
    void separate(NodeId id) {
        const ArgList& args = graph_.node({id}).args;
        std::vector<std::size_t> again;  // places of what was read before
        for (std::size_t i = 0; i < args.size(); i++)
            if (args[i].node() && graph_.node(*args[i].node()).kind == NodeKind::placeholder &&
                std::find(args.begin(), args.begin() + static_cast<long>(i), args[i]) !=
                    args.begin() + static_cast<long>(i))
                again.push_back(i);
        if (again.empty()) return;
        const NodeId inputs = graph_.placeholders().back() + 1;
        const auto more = static_cast<NodeId>(again.size());
        const auto moved = [&](NodeRef ref) { return NodeRef{ref.id < inputs ? ref.id : ref.id + more}; };
        add({.change = NearCase::Change::separate, .node = id}, [&](Graph& graph) {
            graph.nodes.clear();
            for (NodeId i = 0; i < static_cast<NodeId>(graph_.nodes.size()); i++) {
                if (i == inputs)
                    for (const std::size_t at : again) {
                        Node copy = graph_.node(*args[at].node());
                        graph.failure->inputs.push_back(graph_.failure->inputs.at(input_number(args[at].node()->id)));
                        copy.name += "_" + std::to_string(at), copy.target = copy.name;
                        graph.nodes.push_back(std::move(copy));
                    }
                Node node = map_inputs(graph_.node({i}), moved);
                for (std::size_t k = 0; i == id && k < again.size(); k++)
                    node.args[again[k]] = NodeRef{inputs + static_cast<NodeId>(k)};
                graph.nodes.push_back(std::move(node));
            }
        });
    }

    std::size_t input_number(NodeId placeholder) const {
        const std::vector<NodeId> inputs = graph_.placeholders();
        return static_cast<std::size_t>(std::ranges::find(inputs, placeholder) - inputs.begin());
    }

    void swapped(NodeId id) {
        const ArgList& args = graph_.node({id}).args;
        if (args.size() != 2 || !args[0].node() || !args[1].node() || args[0] == args[1]) return;
        add({.change = NearCase::Change::swapped, .node = id},
            [&](Graph& graph) { std::swap(node_of(graph, id).args[0], node_of(graph, id).args[1]); });
    }

    void without_attributes(NodeId id) {
        const Node& call = graph_.node({id});
        const Schema* const schema = Registry::instance().find(call.target);
        const auto alike = [&](NodeId other) { return graph_.node({other}).target == call.target; };
        if (std::ranges::count_if(graph_.calls(), alike) > 1) return;  // which one is meant is hard to say
        for (std::size_t i = 0; i < call.kwargs.size(); i++) {
            const auto& [name, value] = call.kwargs[i];
            const Param* const param = schema ? schema->param(name) : nullptr;
            if (!param || value.is_none() || !(param->optional || param->default_value)) continue;
            if (param->default_value && *param->default_value == value) continue;
            if (name == "num_outputs" || name == "captured") continue;  // the file has no such
            add({.change = NearCase::Change::without_attribute, .node = id, .attribute = name}, [&](Graph& graph) {
                auto& kwargs = node_of(graph, id).kwargs;
                kwargs.erase(kwargs.begin() + static_cast<long>(i));
            });
        }
    }

    void without_operands(NodeId id) {
        const Node& call = graph_.node({id});
        const Schema* const schema = Registry::instance().find(call.target);
        for (std::size_t i = 1; schema && i < call.args.size() && i < schema->params.size(); i++) {
            const Param& param = schema->params[i];
            if (!param.optional || !call.args[i].node()) continue;
            const std::string name = parameter_name(*schema, param);
            add({.change = NearCase::Change::without_attribute, .node = id, .attribute = name},
                [&](Graph& graph) { node_of(graph, id).args[i] = Arg(); });
        }
    }

    void without_call(NodeId id) {
        const Node& call = graph_.node({id});
        if (call.args.empty() || !call.args[0].node() || call.results.size() != 1 || op_count(graph_) < 2) return;
        const NodeRef of = *call.args[0].node();
        const ValueMeta& from = graph_.node(of).results.at(0);
        if (from.dtype != call.meta().dtype || from.sizes != call.meta().sizes) return;
        add({.change = NearCase::Change::without_call, .node = id}, [&](Graph& graph) {
            for (Node& node : graph.nodes)
                if (node.kind != NodeKind::placeholder)
                    node = map_inputs(node, [&](NodeRef ref) { return ref.id == id ? of : ref; });
        });
    }

    /// What another call reads, too.
    void not_returned() {
        const std::vector<NodeId> outputs = graph_.outputs();
        const auto readers = users(graph_);
        for (std::size_t i = 0; outputs.size() > 1 && i < outputs.size(); i++) {
            if (readers.at(static_cast<std::size_t>(outputs[i])).size() < 2) continue;
            if (graph_.failure->signature.kind == name(Outcome::Kind::mismatch)) continue;  // it may be the wrong one
            add({.change = NearCase::Change::not_returned, .node = outputs[i]}, [&](Graph& graph) {
                ArgList& returned = graph.nodes.back().args;
                returned.erase(returned.begin() + static_cast<long>(i));
            });
        }
    }

    /// The nearest at which one of the ops is another version.
    void opsets() {
        const auto found = graph_.opset_imports.find("");
        if (graph_.dialect != "onnx" || found == graph_.opset_imports.end()) return;
        constexpr std::int64_t kOldest = 7;
        const auto same = [&](std::int64_t opset) {
            return std::ranges::all_of(graph_.calls(), [&](NodeId id) {
                const std::string& target = graph_.node({id}).target;
                const std::string op = target.substr(target.find('.') + 1);
                return schema_version(op, opset) == schema_version(op, found->second);
            });
        };
        for (const int step : {1, -1}) {
            std::int64_t opset = found->second + step;
            while (opset >= kOldest && opset <= kMaxOpset && same(opset)) opset += step;
            if (opset < kOldest || opset > kMaxOpset) continue;
            add({.change = NearCase::Change::opset, .opset = opset},
                [&](Graph& graph) { graph.opset_imports[""] = opset; });
        }
    }

    static bool is_exact_in_f32(const Tensor& value) {
        return !is_floating(value.dtype()) || same_bits(value.to(DType::f32).to(value.dtype()), value);
    }

    void dtypes() {
        for (const DType dtype : {DType::f16, DType::bf16, DType::f64}) {
            const auto has = [&](const Tensor& value) { return value.dtype() == dtype; };
            if (std::ranges::none_of(graph_.failure->inputs, has)) continue;
            const auto exact = [](const auto& attribute) { return is_exact_in_f32(attribute.second); };
            if (!std::ranges::all_of(graph_.failure->inputs, is_exact_in_f32)) continue;  // those would be other values
            if (!std::ranges::all_of(graph_.attributes, exact)) continue;
            add({.change = NearCase::Change::f32, .dtype = dtype}, [&](Graph& graph) {
                const auto change = [&](Tensor& value) {
                    if (has(value)) value = value.to(DType::f32);
                };
                for (Tensor& value : graph.failure->inputs) change(value);
                for (auto& [name, value] : graph.attributes) change(value);
                for (Node& node : graph.nodes)
                    for (ValueMeta& meta : node.results)
                        if (node.kind == NodeKind::placeholder && meta.dtype == dtype) meta.dtype = DType::f32;
            });
        }
    }

    const Graph& graph_;
    std::vector<Candidate> candidates_;
};

bool is_right(const Graph& graph, std::span<const Tensor> expected, Backend& backend) {
    constexpr int kRuns = 2;
    const auto empty = [](const Tensor& value) { return value.numel() == 0; };
    if (expected.empty() || std::ranges::any_of(expected, empty)) return false;
    const Question question{.graph = graph, .expected = expected, .compares = true};
    return ask_again(question, backend, kRuns).again == Again::right;
}

constexpr int kSaysNothing = 3;

/// How much the candidate says, 0 the most.
int rank_of(Candidate& candidate, const Repro& repro, std::span<const Tensor> got, bool controlled, Backend& backend) {
    Graph& graph = candidate.graph;
    std::vector<Tensor> expected;
    try {
        infer_all(graph);
        expected = evaluate(graph, graph.failure->inputs);
    } catch (const Error&) {  // it is no graph
        return kSaysNothing;
    }
    expected.resize(graph.outputs().size());
    if (!is_right(graph, expected, backend)) return kSaysNothing;
    if (graph.failure->signature.kind != name(Outcome::Kind::mismatch)) return 1;
    const auto same = [&](std::span<const Tensor> values) {
        return values.size() == expected.size() &&
               !judge(Outcome{.outputs = {values.begin(), values.end()}}, expected, graph.failure->accuracy).failed();
    };
    candidate.near.same_result = !got.empty() && same(got);
    if (candidate.near.same_result) return 0;
    if (same(repro.expected)) return 1;
    // What computes something else may be right for any reason.
    const NearCase::Change change = candidate.near.change;
    const bool says_little = change == NearCase::Change::swapped || change == NearCase::Change::without_call;
    return controlled || says_little ? kSaysNothing : 2;
}

}  // namespace

std::optional<NearCase> near_case(const Repro& repro, std::span<const Tensor> got, bool controlled, Backend& backend) {
    const Signature& signature = repro.failure().signature;
    if (signature.kind != "mismatch" && signature.kind != "exception" && signature.kind != "crash") return std::nullopt;
    if (signature.rate.flaky()) return std::nullopt;  // two runs tell nothing
    std::vector<Candidate> candidates = Changes(repro.graph).all();
    std::ranges::stable_sort(candidates, {}, [](const Candidate& one) { return one.near.change; });
    if (candidates.size() > kMostTried) candidates.erase(candidates.begin() + kMostTried, candidates.end());
    std::optional<NearCase> best;
    const int least = signature.kind == "mismatch" ? 0 : 1;
    int rank = kSaysNothing;
    for (Candidate& candidate : candidates) {
        const int found = rank_of(candidate, repro, got, controlled, backend);
        if (found < rank) best = candidate.near, rank = found;
        if (rank == least) break;
    }
    if (best) log_info(LogChannel::repro, "near: " + near_text(repro.graph, *best));
    return best;
}

}  // namespace whittle::repro
