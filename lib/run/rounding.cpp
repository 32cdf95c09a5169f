#include "run/rounding.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/aten/random.h"
#include "ops/core/interpreter.h"
#include "ops/core/memory.h"
#include "passes/widen.h"
#include "tensor/limits.h"
#include "tensor/random.h"

namespace whittle {
namespace {

constexpr std::uint64_t kRuns = 3;

/// Each element by one unit of the dtype that it had, up or down.
Tensor moved(const Tensor& value, DType dtype, Random& random) {
    if (value.dtype() != DType::f64 || !is_floating(dtype)) return value;
    std::vector<double> values = value.values<double>();
    const double unit = float_limits(dtype).epsilon;
    for (double& x : values) x += (random.next() & 1 ? unit : -unit) * x;
    return Tensor::of(values, value.sizes());
}

class Shaken final : public Interpreter {
  public:
    Shaken(const Graph& original, Random& random) : random_(random) {
        for (const Node& node : original.nodes)
            for (const ValueMeta& meta : node.results) dtypes_[node.name].push_back(meta.dtype);
    }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        std::vector<Tensor> results = Interpreter::step(graph, call, op, arguments);
        const auto dtypes = dtypes_.find(call.name);
        if (dtypes == dtypes_.end() || dtypes->second.size() != results.size()) return results;
        for (std::size_t i = 0; i < results.size(); i++) results[i] = moved(results[i], dtypes->second[i], random_);
        return results;
    }

  private:
    Random& random_;
    std::map<std::string, std::vector<DType>> dtypes_;  ///< of each node's results before they were widened
};

std::vector<Tensor> shaken(const Graph& original, const Graph& wide, std::span<const Tensor> inputs,
                           std::uint64_t seed) {
    Random random(seed);
    Graph graph = wide;
    for (auto& [name, value] : graph.attributes) value = moved(value, original.attributes.at(name).dtype(), random);
    std::vector<Tensor> values = widen(inputs);
    for (std::size_t i = 0; i < values.size(); i++) values[i] = moved(values[i], inputs[i].dtype(), random);
    seed_random_ops(0);
    return Shaken(original, random).run(graph, values);
}

double most_elements(const Graph& graph, const Node& call) {
    std::int64_t most = 1;
    for_each_input(call, [&](NodeRef ref) {
        for (const ValueMeta& meta : graph.node(ref).results) most = std::max(most, element_count(meta.sizes));
    });
    return static_cast<double>(most);
}

}  // namespace

std::vector<Rounding> rounding_of(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> exact) {
    std::vector<Rounding> result(exact.size());
    if (has_writes(graph)) return result;
    std::map<NodeId, double> terms;  // of what a value is computed from
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
        const Node& node = graph.nodes[static_cast<std::size_t>(id)];
        double most = node.kind == NodeKind::call ? most_elements(graph, node) : 1;
        for_each_input(node, [&](NodeRef ref) { most = std::max(most, terms[ref.id]); });
        terms[id] = most;
    }
    try {
        const Graph wide = widen(graph).graph;
        const std::vector<NodeId> outputs = graph.outputs();
        for (std::uint64_t run = 0; run < kRuns; run++) {
            const std::vector<Tensor> values = shaken(graph, wide, inputs, run);
            for (std::size_t i = 0; i < exact.size() && i < values.size(); i++) {
                result[i].terms = terms[outputs[i]];
                if (!is_floating(exact[i].dtype()) || values[i].sizes() != exact[i].sizes()) continue;
                const std::vector<double> moved = values[i].values<double>(), at = exact[i].values<double>();
                result[i].sway.resize(at.size());
                for (std::size_t k = 0; k < at.size(); k++)
                    if (std::isfinite(moved[k]) && std::isfinite(at[k]))
                        result[i].sway[k] = std::max(result[i].sway[k], std::fabs(moved[k] - at[k]));
            }
        }
    } catch (const Error&) {
        return std::vector<Rounding>(exact.size());
    }
    return result;
}

}  // namespace whittle
