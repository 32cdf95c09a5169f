#include "fuzz/left_open.h"

#include <algorithm>

#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "ops/core/open.h"
#include "ops/core/reduce.h"
#include "passes/subgraph.h"

namespace whittle::fuzz {
namespace {

using Operands = Arguments<Tensor>;

/// Of a line along the dimension `dim`, two elements are equal, or both no number.
bool equal_elements(const Operands& operands) {
    const Tensor self = operands.tensor("self");
    const Reduction lines = reduction(self.sizes(), {operands.integer("dim")}, false);
    const auto repeats = [&]<class T>(const Rows<T>& rows) {
        for (std::int64_t i = 0; i < rows.count; i++) {
            const auto begin = rows.elements.begin() + i * rows.length;
            std::vector<T> line(begin, begin + rows.length);
            const auto no_numbers = std::partition(line.begin(), line.end(), [](T x) { return x == x; });
            std::sort(line.begin(), no_numbers);
            if (line.end() - no_numbers > 1 || std::adjacent_find(line.begin(), no_numbers) != no_numbers) return true;
        }
        return false;
    };
    if (is_floating(self.dtype())) return repeats(rows<double>(self, lines, self.dtype()));
    return repeats(rows<std::int64_t>(self, lines, self.dtype()));
}

/// Of selections, which of equal elements they find; else what the op's own rule says.
std::optional<std::string> why_open(const Node& call, const RegisteredOp& op, const Operands& operands) {
    static constexpr std::string_view kSelections[] = {"aten.topk.default", "aten.kthvalue.default", "aten.median.dim",
                                                       "aten.sort.default", "aten.argsort.default"};
    if (std::ranges::find(kSelections, op.name) == std::end(kSelections)) return open_result(call, op, operands);
    if (!equal_elements(operands)) return std::nullopt;
    return call.target +
           " selects one of several equal elements, and the specification of the op does not say which element";
}

class Watch final : public Interpreter {
  public:
    std::vector<std::vector<Tensor>> values = {};  ///< of each node
    std::vector<NodeId> open = {};
    std::string why = {};

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Operands& operands) override {
        const std::optional<std::string> reason = why_open(call, op, operands);
        open_ = reason.has_value();
        if (open_ && why.empty()) why = *reason;
        return Interpreter::step(graph, call, op, operands);
    }
    void observe(const Graph&, NodeId node, std::span<const Tensor> results) override {
        values.resize(std::max(values.size(), static_cast<std::size_t>(node) + 1));
        values[static_cast<std::size_t>(node)] = {results.begin(), results.end()};
        if (open_) open.push_back(node);
        open_ = false;
    }

  private:
    bool open_ = false;  ///< the call that was stepped last
};

}  // namespace

std::string left_open(const Graph& graph, std::span<const Tensor> inputs) {
    Watch watch;
    watch.run(graph, inputs);
    return watch.why;
}

Model without_open(const Model& model) {
    Watch watch;
    watch.run(model.graph, model.inputs);
    std::vector<NodeId> kept = model.graph.calls();
    std::erase_if(kept, [&](NodeId id) {
        return is_getitem(model.graph.node({id})) || std::ranges::find(watch.open, id) != watch.open.end();
    });
    Subgraph rest = subgraph(model.graph, kept);
    Model result{std::move(rest.graph), {}};
    for (const ValueRef& input : rest.inputs)
        result.inputs.push_back(
            watch.values.at(static_cast<std::size_t>(input.node)).at(static_cast<std::size_t>(input.index)));
    return result;
}

}  // namespace whittle::fuzz
