#include "judge/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/aten/random.h"
#include "ops/core/cost.h"
#include "ops/core/interpreter.h"
#include "ops/core/known.h"
#include "ops/core/memory.h"
#include "passes/widen.h"
#include "tensor/limits.h"
#include "tensor/random.h"
#include "tensor/reach.h"

namespace whittle {
namespace {

constexpr std::uint64_t kRuns = 3;

/// Each element by one unit of the dtype that it had, up or down; not those in `exact`, which is sorted.
Tensor moved(const Tensor& value, DType dtype, Random& random, std::span<const double> exact = {}) {
    if (value.dtype() != DType::f64 || !is_floating(dtype)) return value;
    std::vector<double> values = value.values<double>();
    const double unit = float_limits(dtype).epsilon;
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < values.size(); i++, signs >>= 1) {
        if (i % 64 == 0) signs = random.next();
        double& x = values[i];
        if (exact.empty() || !std::ranges::binary_search(exact, x)) x += (signs & 1 ? unit : -unit) * x;
    }
    return laid_out(Tensor::of(values, value.sizes()), value.strides());  // as_strided() reads memory
}

/// Tells of most values that they are none of those added.
class Sieve {
  public:
    explicit Sieve(std::size_t values)
        : bits_(static_cast<int>(std::bit_width(16 * values + 64))), words_(std::size_t{1} << (bits_ - 6)) {}
    void add(double x) { words_[place(x) / 64] |= std::uint64_t{1} << place(x) % 64; }
    bool may_have(double x) const { return words_[place(x) / 64] >> place(x) % 64 & 1; }

  private:
    /// The high bits of a product by 2^64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
    std::uint64_t place(double x) const {
        return std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x) * 0x9e3779b97f4a7c15 >> (64 - bits_);
    }
    const int bits_;
    std::vector<std::uint64_t> words_;
};

/// By graph and name: bodies have nodes of the same names as the graph around them.
using NodeKey = std::pair<std::string, std::string>;

void collect_dtypes(const Graph& graph, std::map<NodeKey, std::vector<DType>>& dtypes) {
    for (const Node& node : graph.nodes)
        for (const ValueMeta& meta : node.results) dtypes[{graph.name, node.name}].push_back(meta.dtype);
    for (const auto& [name, nested] : graph.subgraphs) collect_dtypes(*nested, dtypes);
}

class Shaken final : public Interpreter {
  public:
    Shaken(const Graph& original, Random& random) : random_(random) { collect_dtypes(original, dtypes_); }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        std::vector<Tensor> results = Interpreter::step(graph, call, op, arguments);
        const auto dtypes = dtypes_.find({graph.name, call.name});
        if (dtypes == dtypes_.end() || dtypes->second.size() != results.size()) return results;
        const std::vector<double> selected = selected_by(call, arguments, results);
        for (std::size_t i = 0; i < results.size(); i++)
            results[i] = moved(results[i], dtypes->second[i], random_, selected);
        return results;
    }

  private:
    /// What an operand has already was moved or selected, not rounded: what compares a maximum with what it is the
    /// maximum of still finds it. The elements of operands that the results may have, sorted.
    static std::vector<double> selected_by(const Node& call, const Arguments<Tensor>& arguments,
                                           std::span<const Tensor> results) {
        std::size_t made = 0;
        for (const Tensor& result : results) made += static_cast<std::size_t>(result.numel());
        Sieve sieve(made);
        for (const Tensor& result : results)
            if (result.dtype() == DType::f64)
                for (const double x : result.values<double>()) sieve.add(x);
        std::vector<double> all;
        for_each_input(call, [&](NodeRef ref) {
            const Tensor operand = arguments.value(ref);
            if (operand.dtype() != DType::f64) return;
            const std::vector<double> values = operand.values<double>();
            std::ranges::copy_if(values, std::back_inserter(all),
                                 [&](double x) { return sieve.may_have(x) && !std::isnan(x); });
        });
        std::ranges::sort(all);
        return all;
    }

    Random& random_;
    std::map<NodeKey, std::vector<DType>> dtypes_;  ///< of each node's results before they were widened
};

/// As terms_of(), in the parts of a call whose op is bounded by them: a mean within a batch norm adds all elements of a
/// channel, and few of the norm's steps are its own.
bool is_bounded_by_parts(const Node& call) {
    const RegisteredOp* const op = Registry::instance().op(call.target);
    return op && op->def->bound.rule == Bound::Rule::none && (op->def->bound.parts || op->def->decompose);
}
double most_terms(const Graph& graph, const Node& call) {
    if (!is_bounded_by_parts(call)) return terms_of(graph, call);
    try {
        const Expansion expansion = expand_for_bound(graph, call);
        double most = 1;
        for (const Node& part : expansion.graph.nodes)
            if (is_op_call(part)) most = std::max(most, most_terms(expansion.graph, part));
        return most;
    } catch (const Error&) {  // sizes are data, or the op refuses its operands
        return terms_of(graph, call);
    }
}

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

}  // namespace

std::vector<Rounding> rounding_of(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> exact) {
    std::vector<Rounding> result(exact.size());
    if (has_writes(graph)) return result;
    std::map<NodeId, double> terms, hidden;  // of what a value is computed from
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
        const Node& node = graph.node({id});
        const double own = is_op_call(node) ? most_terms(graph, node) : 1;
        terms[id] = own;
        hidden[id] = is_op_call(node) && is_bounded_by_parts(node) ? own : 1;
        for_each_input(node, [&](NodeRef ref) {
            terms[id] = std::max(terms[id], terms[ref.id]);
            hidden[id] = std::max(hidden[id], hidden[ref.id]);
        });
    }
    try {
        const Graph wide = widen(graph).graph;
        const std::vector<NodeId> outputs = graph.outputs();
        for (std::uint64_t run = 0; run < kRuns; run++) {
            const std::vector<Tensor> values = shaken(graph, wide, inputs, run);
            for (std::size_t i = 0; i < exact.size() && i < values.size(); i++) {
                result[i].terms = terms[outputs[i]];
                result[i].hidden = hidden[outputs[i]];
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
