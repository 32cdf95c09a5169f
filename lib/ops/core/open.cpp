#include "ops/core/open.h"

#include <algorithm>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/run_observer.h"
#include "graph/value_ref.h"
#include "ops/core/draws.h"
#include "ops/core/interpreter.h"
#include "ops/core/layout.h"
#include "ops/core/memory.h"
#include "ops/core/mode.h"
#include "ops/core/open_rules.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

bool may_be_open(const Node& node, bool differ) {
    const RegisteredOp* op = node.kind == NodeKind::call ? kernel_of(node.target) : nullptr;
    if (!op || !op->def->open.ask || (op->def->open.if_different && !differ)) return false;
    return !op->def->open.integers_only || (!node.results.empty() && is_integer(node.meta().dtype));
}

bool may_be_open(const Graph& graph, bool differ) {
    return std::ranges::any_of(graph.nodes, [&](const Node& node) { return may_be_open(node, differ); }) ||
           std::ranges::any_of(graph.subgraphs, [&](const auto& entry) { return may_be_open(*entry.second, differ); });
}

/// For each node whether an asked call reads its results, directly or through others. Calls with nested graphs run,
/// too, if a call in one of those may be open.
std::vector<bool> nodes_to_run(const Graph& graph, bool differ) {
    const bool nested =
        std::ranges::any_of(graph.subgraphs, [&](const auto& entry) { return may_be_open(*entry.second, differ); });
    std::vector<bool> run(graph.nodes.size(), false);
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        const Node& node = graph.nodes[i];
        if (nested && has_nested_graph(node)) run[i] = true;
        if (run[i] || may_be_open(node, differ))
            for_each_input(node, [&](NodeRef ref) { run.at(static_cast<std::size_t>(ref.id)) = true; });
    }
    return run;
}

/// Stops the run.
struct Found {
    OpenInput input;
};

/// The floats of a call that converts each of them to an integer, and leaves those open that the integers do not hold;
/// nothing for other calls.
std::optional<Tensor> converted(const Node& call, const RegisteredOp& op, const Arguments<Tensor>& arguments) {
    const std::vector<Param>& params = op.schema.params;
    if (params.empty() || params.front().type != ParamType::tensor || params.front().optional) return {};
    if (call.results.size() != 1 || !is_integer(call.meta().dtype) || call.meta().dtype == DType::u64) return {};
    const auto given = arguments.operand(params.front().name);
    const Tensor* const from = std::get_if<Tensor>(&given);
    if (!from || !is_floating(from->dtype()) || from->sizes() != call.meta().sizes) return {};
    const Reason open = bad_conversion(call.target, *from, call.meta().dtype);
    return open && open == open_result(call, op, arguments) ? std::optional(*from) : std::nullopt;
}

/// Runs a graph as the reference does, but for open elements of conversions: those are `fill`.
class Filling final : public Interpreter {
  public:
    enum class Fill { zero, lowest, greatest };
    explicit Filling(Fill fill) : fill_(fill) {}

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        std::vector<Tensor> results = Interpreter::step(graph, call, op, arguments);
        if (!open_result(call, op, arguments)) return results;
        const DType dtype = results.front().dtype();
        const Scalar filled = fill_ == Fill::zero     ? Scalar(std::int64_t{0})
                              : fill_ == Fill::lowest ? lowest(dtype)
                                                      : greatest(dtype);
        const std::optional<Tensor> from = converted(call, op, arguments);
        if (!from) throw Error(call.target + " has a result that the standard leaves open");
        const std::vector<double> floats = from->values<double>();
        std::vector<std::int64_t> values = results.front().values<std::int64_t>();
        for (std::size_t i = 0; i < floats.size(); ++i)
            if (!holds_whole(dtype, floats[i])) values[i] = filled.to_integer();
        results.front() = laid_out_as(Tensor::of(values, results.front().sizes()).to(dtype), call.meta());
        return results;
    }

  private:
    Fill fill_;
};

/// What the open elements of conversions are makes a difference for the results of the graph.
bool conversions_matter(const Graph& graph, std::span<const Tensor> inputs) {
    if (draws_random_numbers(graph)) return true;
    try {
        const std::vector<Tensor> results = Filling(Filling::Fill::zero).run(graph, inputs);
        for (const Filling::Fill fill : {Filling::Fill::lowest, Filling::Fill::greatest}) {
            const std::vector<Tensor> others = Filling(fill).run(graph, inputs);
            if (!std::ranges::equal(results, others, same_bits)) return true;
        }
        return false;
    } catch (const Error&) {  // or somebody refuses them
        return true;
    }
}

/// Runs as much of a graph as nodes_to_run() says and asks the calls. Where a call of the graph itself fails, the run
/// goes on without what depends on it; an Error in a nested graph fails the call that runs the nested graph. A graph
/// that writes runs as a whole and to its first Error: a write may change what any later call reads.
class Asking final : public Interpreter {
  public:
    Asking(const Graph& graph, bool differ)
        : graph_(graph),
          differ_(differ),
          run_(nodes_to_run(graph, differ)),
          missing_(graph.nodes.size()),
          writes_(has_writes(graph)) {}

    /// The first conversion with open elements, which do not stop the run.
    const std::optional<OpenInput>& conversion() const { return conversion_; }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        if (&graph != &graph_ || writes_) return asked(graph, call, op, arguments);
        const auto id = static_cast<std::size_t>(&call - graph.nodes.data());
        for_each_input(call, [&](NodeRef ref) {
            if (missing_[static_cast<std::size_t>(value_of(graph, ref).node)]) missing_[id] = true;
        });
        try {
            if (!missing_[id]) return run_[id] ? asked(graph, call, op, arguments) : ask(call, op, arguments);
        } catch (const Error&) {
            missing_[id] = true;
        }
        return stand_ins(call);
    }
    std::vector<Tensor> unknown(const Graph& graph, const Node& call,
                                const std::function<Tensor(NodeRef)>& value) override {
        if (&graph != &graph_ || writes_) return Interpreter::unknown(graph, call, value);
        missing_[static_cast<std::size_t>(&call - graph.nodes.data())] = true;
        return stand_ins(call);
    }

  private:
    /// Throws Found.
    std::vector<Tensor> ask(const Node& call, const RegisteredOp& op, const Arguments<Tensor>& arguments) {
        if (!may_be_open(call, differ_)) return stand_ins(call);
        if (auto reason = op.def->open.ask(call.target, arguments)) {
            OpenInput open{call.name, call.target, std::move(*reason)};
            if (!converted(call, op, arguments)) throw Found{std::move(open)};
            if (!conversion_) conversion_ = std::move(open);
        }
        return stand_ins(call);
    }
    std::vector<Tensor> asked(const Graph& graph, const Node& call, const RegisteredOp& op,
                              const Arguments<Tensor>& arguments) {
        ask(call, op, arguments);
        if (draws_random_numbers(graph, call)) throw Error(call.target + " draws random numbers");
        return Interpreter::step(graph, call, op, arguments);
    }
    /// What nobody reads.
    static std::vector<Tensor> stand_ins(const Node& call) {
        return std::vector<Tensor>(std::max<std::size_t>(call.results.size(), 1));
    }

    const Graph& graph_;
    const bool differ_;
    const std::vector<bool> run_;
    std::vector<bool> missing_;  ///< nodes without results
    const bool writes_;
    std::optional<OpenInput> conversion_ = {};
};

}  // namespace

std::optional<std::string> open_result(const Node& call, const RegisteredOp& op, const Arguments<Tensor>& arguments) {
    return may_be_open(call, true) ? op.def->open.ask(call.target, arguments) : std::nullopt;
}

std::optional<OpenInput> open_input(const Graph& graph, std::span<const Tensor> inputs, bool differ) {
    if (!may_be_open(graph, differ)) return std::nullopt;
    const ObservingRuns unobserved{nullptr};
    const WithoutModes computed_here;
    Asking asking(graph, differ);
    try {
        asking.run(graph, inputs);
    } catch (const Found& found) {
        return asking.conversion() ? asking.conversion() : found.input;
    } catch (const Error&) {  // whoever runs the graph meets the same error, with more to say
    }
    return asking.conversion() && conversions_matter(graph, inputs) ? asking.conversion() : std::nullopt;
}

}  // namespace whittle
