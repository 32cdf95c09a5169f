#include "ops/core/interpreter.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/placement.h"
#include "graph/run_observer.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/assertions.h"
#include "ops/core/draws.h"
#include "ops/core/layout.h"
#include "ops/core/memory.h"
#include "ops/core/mode.h"

namespace whittle {
namespace {

/// For each node the nodes that it reads last, itself included when nothing reads it.
std::vector<std::vector<NodeId>> last_uses(const Graph& graph) {
    std::vector<NodeId> last(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        last[i] = static_cast<NodeId>(i);
        for_each_input(graph.nodes[i],
                       [&](NodeRef ref) { last.at(static_cast<std::size_t>(ref.id)) = static_cast<NodeId>(i); });
    }
    std::vector<std::vector<NodeId>> used(graph.nodes.size());
    for (std::size_t i = 0; i < last.size(); ++i)
        used[static_cast<std::size_t>(last[i])].push_back(static_cast<NodeId>(i));
    return used;
}

/// Tells who observes this run, alone, of its calls.
class Told {
  public:
    Told(const Graph& graph, const std::vector<std::vector<Tensor>>& values)
        : graph_(graph), values_(values), observer_(steps_.before()) {}

    void begin() {
        if (observer_) start_ = std::chrono::steady_clock::now();
    }
    void end(const Node& call) const {
        if (!observer_) return;
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
        std::set<const Storage*> seen;
        for (const auto& [name, attribute] : graph_.attributes) seen.insert(attribute.storage().get());
        std::vector<RunObserver::Held> held;
        for (std::size_t i = 0; i < values_.size(); ++i) {
            std::int64_t bytes = 0;
            for (const Tensor& value : values_[i])
                if (seen.insert(value.storage().get()).second)
                    bytes += static_cast<std::int64_t>(value.storage()->bytes().size());
            if (!values_[i].empty()) held.push_back({graph_.nodes[i].name, bytes});
        }
        observer_->ran(call.name, seconds.count(), held);
    }

  private:
    const Graph& graph_;
    const std::vector<std::vector<Tensor>>& values_;
    const ObservingRuns steps_{nullptr};  // what a call runs is part of it
    RunObserver* const observer_;
    std::chrono::steady_clock::time_point start_ = {};
};

/// What is unknown, or data of a type that DType does not have, no kernel takes.
void check_type(const Graph& graph, const Node& leaf) {
    const ValueMeta& meta = leaf.meta();
    if (is_unknown(meta) || is_opaque(meta))
        throw Error("graph " + graph.name + ": %" + leaf.name + " is " + meta.placement->text() +
                    ", expected a tensor of numbers");
}

void check_input(const Graph& graph, const Node& placeholder, const Tensor& input) {
    const ValueMeta& meta = placeholder.meta();
    if (input.dtype() == meta.dtype && input.sizes() == meta.sizes) return;
    throw Error("graph " + graph.name + ": input %" + placeholder.name + " is " + std::string(name(input.dtype())) +
                to_string(input.sizes()) + ", expected " + std::string(name(meta.dtype)) + to_string(meta.sizes));
}

}  // namespace

/// The graphs that running a call takes, each prepared when it first runs.
class PreparedGraph::Parts {
  public:
    struct Decomposed {
        PreparedGraph graph;
        std::vector<NodeRef> operands;
        std::set<std::shared_ptr<Storage>> constants;  ///< its own: whoever is given a result may write to it
    };

    /// The composite's expansion. Throws as expand() does, NeedsConstant among others.
    const Decomposed& decomposed(const Graph& graph, const Node& call, bool attributes) {
        const std::lock_guard lock(mutex_);
        if (!decomposed_) decomposed_.emplace(of(graph, expand(graph, call, {}, attributes)));
        return *decomposed_;
    }
    static Decomposed of(const Graph& graph, Expansion expansion) {
        std::set<std::shared_ptr<Storage>> constants;
        for (const auto& [name, value] : expansion.graph.attributes) constants.insert(value.storage());
        for (const auto& [name, value] : graph.attributes) constants.erase(value.storage());
        return {PreparedGraph(std::move(expansion.graph)), std::move(expansion.operands), std::move(constants)};
    }

    const PreparedGraph& nested(const std::string& name, const Graph& body) {
        const std::lock_guard lock(mutex_);
        return nested_.try_emplace(name, body).first->second;
    }

  private:
    std::mutex mutex_;
    std::optional<Decomposed> decomposed_;
    std::map<std::string, PreparedGraph> nested_;
};

std::vector<PreparedGraph::Step> PreparedGraph::unbound(const Graph& graph) {
    std::vector<std::vector<NodeId>> last = last_uses(graph);
    std::vector<Step> steps(graph.nodes.size());
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i].last_used = std::move(last[i]);
    return steps;
}

PreparedGraph::PreparedGraph(Graph graph)
    : graph_(std::move(graph)), steps_(unbound(graph_)), writes_(has_writes(graph_)) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Node& node = graph_.nodes[i];
        const RegisteredOp* op = node.kind == NodeKind::call ? kernel_of(node.target) : nullptr;
        if (!op) continue;
        try {
            steps_[i].bound = bind_arguments(op->schema, node);
            steps_[i].op = op;
            if (!op->def->eval || !graph_.subgraphs.empty()) steps_[i].parts = std::make_shared<Parts>();
        } catch (const Error&) {  // told with its place when the node runs, if it does
        }
    }
}

std::vector<Tensor> Interpreter::run(const Graph& graph, std::span<const Tensor> inputs) {
    const std::vector<PreparedGraph::Step> steps = PreparedGraph::unbound(graph);
    std::vector<Tensor> own(inputs.begin(), inputs.end());
    return has_writes(graph) ? run_in_memory(graph, steps, std::move(own)) : run(graph, steps, std::move(own), nullptr);
}

std::vector<Tensor> Interpreter::run(const PreparedGraph& prepared, std::span<const Tensor> inputs) {
    return run_boxed(prepared, {inputs.begin(), inputs.end()});
}

std::vector<Tensor> Interpreter::run_boxed(const PreparedGraph& prepared, std::vector<Tensor>&& inputs) {
    return prepared.writes_ ? run_in_memory(prepared.graph_, prepared.steps_, std::move(inputs))
                            : run(prepared.graph_, prepared.steps_, std::move(inputs), nullptr);
}

std::vector<Tensor> Interpreter::run_in_memory(const Graph& graph, const std::vector<PreparedGraph::Step>& steps,
                                               std::vector<Tensor> inputs) {
    in_memory_ = true;
    written_.clear();
    attributes_.clear();
    std::vector<Tensor> given;
    std::vector<Tensor> outputs = run(graph, steps, std::move(inputs), &given);
    for (Tensor& value : given)
        if (written_.contains(value.storage())) outputs.push_back(std::move(value));
    attributes_.clear();
    in_memory_ = false;
    return outputs;
}

std::vector<Tensor> Interpreter::run(const Graph& graph, const std::vector<PreparedGraph::Step>& steps,
                                     std::vector<Tensor> inputs, std::vector<Tensor>* given) {
    std::vector<std::vector<Tensor>> values(graph.nodes.size());
    const auto results_of = [&](NodeRef ref) -> const std::vector<Tensor>& {
        return values.at(static_cast<std::size_t>(ref.id));
    };
    std::size_t next_input = 0;
    Told told(graph, values);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        switch (node.kind) {
            case NodeKind::placeholder:
                if (next_input == inputs.size())
                    throw Error("graph " + graph.name + ": found " + std::to_string(inputs.size()) +
                                " inputs, expected " + std::to_string(graph.placeholders().size()));
                check_type(graph, node);
                check_input(graph, node, inputs[next_input]);
                values[i].push_back(std::move(inputs[next_input++]));
                break;
            case NodeKind::get_attr:
                check_type(graph, node);
                values[i] = {graph.attributes.at(node.target)};
                if (in_memory_ && !given) values[i][0] = own_attribute(values[i][0]);
                break;
            case NodeKind::call:
                told.begin();
                values[i] = call(graph, node, steps[i], results_of);
                told.end(node);
                break;
            case NodeKind::output: {
                if (next_input != inputs.size())
                    throw Error("graph " + graph.name + ": found " + std::to_string(inputs.size()) +
                                " inputs, expected " + std::to_string(next_input));
                std::vector<Tensor> outputs;
                for (const Arg& arg : node.args) outputs.push_back(results_of(*arg.node()).at(0));
                return outputs;
            }
        }
        if (given && node.kind != NodeKind::call) given->push_back(values[i][0] = own_copy(values[i][0]));
        observe(graph, static_cast<NodeId>(i), values[i]);
        for (const NodeId done : steps[i].last_used) values.at(static_cast<std::size_t>(done)).clear();
    }
    WHITTLE_CHECK(false, "graph " + graph.name + " has no output node");
    return {};
}

std::vector<Tensor> Interpreter::call(const Graph& graph, const Node& node, const PreparedGraph::Step& planned,
                                      const ResultsOf& results_of) {
    const std::function<Tensor(NodeRef)> value = [&](NodeRef ref) { return results_of(ref).at(0); };
    PreparedGraph::Parts own;
    PreparedGraph::Parts& parts = planned.parts ? *planned.parts : own;
    const auto run_nested = [&](const std::string& name, const std::vector<Tensor>& inputs) {
        const auto found = graph.subgraphs.find(name);
        if (found == graph.subgraphs.end())
            throw Error("graph " + graph.name + ": unknown nested graph '" + name + "'");
        const PreparedGraph& body = parts.nested(name, *found->second);
        return run(body.graph_, body.steps_, inputs, nullptr);
    };
    const auto finished = [&](const RegisteredOp& op, std::vector<Tensor> results) -> std::vector<Tensor> {
        if (op.name != node.target) return {write(node, value(written_operand(node)), results)};
        if (in_memory_) unshare(op.schema, node, results_of, results);
        return results;
    };
    const auto stepped = [&](const RegisteredOp& op, const Arguments<Tensor>& arguments) {
        const auto compute = [&] {
            running_ = {&node, &parts};
            return step(graph, node, op, arguments);
        };
        return finished(op, in_mode() ? under_modes({node, value}, compute) : compute());
    };
    try {
        if (planned.op)
            return stepped(*planned.op,
                           Arguments<Tensor>(planned.op->schema, &planned.bound, value, run_nested, &graph));
        if (const auto read = item_read(node))
            return {results_of({read->node}).at(static_cast<std::size_t>(read->index))};
        const RegisteredOp* const op = kernel_of(node.target);
        if (!op) return unknown(graph, node, value);
        return stepped(*op, Arguments<Tensor>(op->schema, node, value, run_nested, &graph));
    } catch (Error& error) {
        if (!error.where().position.empty()) throw;  // a nested graph has named its node
        if (asserts(node)) throw RefusedError(graph, node, error);
        error.locate({error.where().file, place_of(graph, node)});
        throw;
    }
}

/// A kernel may hand on an operand that is its result already; where that is no view, writes to one must not show in
/// the other.
void Interpreter::unshare(const Schema& schema, const Node& call, const ResultsOf& results_of,
                          std::vector<Tensor>& results) {
    if (schema.returns.empty() || !schema.returns.front().alias.empty()) return;
    for_each_input(call, [&](NodeRef ref) {
        for (const Tensor& operand : results_of(ref))
            for (Tensor& result : results)
                if (result.storage() == operand.storage()) result = own_copy(result);
    });
}

Tensor Interpreter::own_attribute(const Tensor& value) {
    const auto [known, added] =
        attributes_.try_emplace({value.storage(), value.offset(), value.sizes(), value.strides()}, value);
    if (added) known->second = own_copy(value);
    return known->second;
}

Tensor Interpreter::write(const Node& call, Tensor self, const std::vector<Tensor>& results) {
    WHITTLE_CHECK(in_memory_, call.target + " writes in place, but this run expects a graph without writes");
    write_into(self, results.at(0));
    written_.insert(self.storage());
    return self;
}

std::vector<Tensor> Interpreter::step(const Graph& graph, const Node& call, const RegisteredOp& op,
                                      const Arguments<Tensor>& arguments) {
    if (op.def->eval) {
        check_main_dtype(op, arguments);
        return run_kernel(op, arguments);
    }
    if (!op.def->decompose) throw Error(call.target + ": the op has neither a kernel nor a decomposition");
    const auto run = [&](const PreparedGraph::Parts::Decomposed& decomposed) {
        std::vector<Tensor> inputs;
        for (const NodeRef operand : decomposed.operands) inputs.push_back(arguments.value(operand));
        std::vector<Tensor> results = Interpreter().run_boxed(decomposed.graph, std::move(inputs));
        for (Tensor& result : results)
            if (decomposed.constants.contains(result.storage())) result = own_copy(result);
        lay_out(op, arguments, results);
        return results;
    };
    PreparedGraph::Parts own;
    PreparedGraph::Parts& parts = running_.call == &call ? *running_.parts : own;
    try {
        return run(parts.decomposed(graph, call, !in_memory_));
    } catch (const NeedsConstant&) {  // here every value is known
        std::map<NodeId, Tensor> values;
        const auto known = [&](NodeRef ref) -> const Tensor* {
            return &values.try_emplace(ref.id, arguments.value(ref)).first->second;
        };
        return run(PreparedGraph::Parts::of(graph, expand(graph, call, known, !in_memory_)));
    }
}

std::vector<Tensor> Interpreter::unknown(const Graph&, const Node& call, const std::function<Tensor(NodeRef)>&) {
    Registry::instance().require(call.target);  // throws
    return {};
}

void Interpreter::observe(const Graph&, NodeId, std::span<const Tensor>) {}

std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs) {
    Interpreter interpreter;
    return interpreter.run(graph, inputs);
}

namespace {

/// The outputs of a graph without inputs, if they are the same at each run.
std::vector<Tensor> constant_outputs(const Graph& graph) {
    if (has_writes(graph) || draws_random_numbers(graph)) return {};
    try {
        return evaluate(graph, {});
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

std::vector<Tensor> constant_results(const Graph& graph, const Node& call, const KnownValue& known) {
    bool constant = !has_nested_graph(call);
    for_each_input(call, [&](NodeRef ref) { constant = constant && known(ref); });
    if (!constant) return {};
    Graph alone = blank_graph(graph, "constants");
    const NodeRef result = alone.add(
        map_inputs(call, [&](NodeRef ref) { return Arg(alone.get_attr(graph.node(ref).name, *known(ref))); }));
    alone.output(add_results(alone, result));
    return constant_outputs(alone);
}

std::vector<Tensor> constant_results(const Expansion& expansion) {
    return expansion.operands.empty() ? constant_outputs(expansion.graph) : std::vector<Tensor>();
}

}  // namespace whittle
