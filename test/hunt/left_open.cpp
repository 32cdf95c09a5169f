#include "hunt/left_open.h"

#include <algorithm>
#include <limits>

#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "ops/core/reduce.h"
#include "passes/subgraph.h"

namespace whittle::hunt {
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

/// Some pair of the whole numbers that the call computes with is one of those.
bool some_pair(const Operands& operands, bool (*is)(std::int64_t a, std::int64_t b, DType dtype)) {
    const std::vector<OperandInfo> infos = {operand_info(operands, "self"), operand_info(operands, "other")};
    const DType common = result_type(infos);
    if (!is_integer(common)) return false;
    const Sizes sizes = broadcast_all(infos);
    const auto a = read<std::int64_t>(operands.operand("self"), sizes, common),
               b = read<std::int64_t>(operands.operand("other"), sizes, common);
    for (std::size_t i = 0; i < a.size(); i++)
        if (is(a[i], b[i], common)) return true;
    return false;
}

bool shifts_out(const Operands& operands) {
    return some_pair(operands, [](std::int64_t, std::int64_t by, DType dtype) {
        return by < 0 || by >= static_cast<std::int64_t>(8 * size_of(dtype));
    });
}

/// The least of i32 and i64: of narrower dtypes C++ computes the quotient in int.
bool has_no_quotient(const Operands& operands) {
    return some_pair(operands, [](std::int64_t a, std::int64_t b, DType dtype) {
        return b == -1 && ((dtype == DType::i32 && a == std::numeric_limits<std::int32_t>::min()) ||
                           (dtype == DType::i64 && a == std::numeric_limits<std::int64_t>::min()));
    });
}

/// Whether positions count in the output_shape or in what was pooled, the standard leaves open
/// (https://github.com/onnx/onnx/issues/2398); and which element is put where two belong.
bool unpools_anywhere(const Operands& operands) {
    if (operands.optional_tensor("output_shape")) return true;
    const Tensor places = operands.tensor("I");
    std::vector<std::int64_t> positions = load_broadcast<std::int64_t>(places, places.sizes());
    std::ranges::sort(positions);
    return std::ranges::adjacent_find(positions) != positions.end();
}

struct Rule {
    std::vector<std::string_view> ops;  ///< without "aten."
    bool (*applies)(const Operands&);
    std::string_view why;
};

const Rule* rule_of(std::string_view op) {
    static const Rule kRules[] = {
        {{"topk.default", "kthvalue.default", "median.dim", "sort.default", "argsort.default"},
         equal_elements,
         "which of equal elements it finds"},
        {{"bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar", "bitwise_right_shift.Tensor",
          "bitwise_right_shift.Tensor_Scalar", "__lshift__.Tensor", "__lshift__.Scalar", "__rshift__.Tensor",
          "__rshift__.Scalar"},
         shifts_out,
         "shifts by negative amounts, or by all bits and more"},
        {{"div.Tensor_mode", "div.Scalar_mode", "floor_divide.default", "floor_divide.Scalar", "remainder.Tensor",
          "remainder.Scalar", "fmod.Tensor", "fmod.Scalar"},
         has_no_quotient,
         "the least integer by -1"},
        {{"onnx.MaxUnpool"}, unpools_anywhere, "where elements are put by an output_shape, or twice at one position"},
    };
    if (op.starts_with("aten.")) op.remove_prefix(5);
    for (const Rule& rule : kRules)
        if (std::ranges::find(rule.ops, op) != rule.ops.end()) return &rule;
    return nullptr;
}

class Watch final : public Interpreter {
  public:
    std::vector<std::vector<Tensor>> values = {};  ///< of each node
    std::vector<NodeId> open = {};
    std::string why = {};

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Operands& operands) override {
        const Rule* rule = rule_of(op.def->name);
        open_ = rule && rule->applies(operands);
        if (open_ && why.empty()) why = std::string(op.def->name) + ": " + std::string(rule->why);
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

}  // namespace whittle::hunt
