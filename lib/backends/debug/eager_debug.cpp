#include <algorithm>

#include "backends/debug/debug.h"
#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "graph/text.h"
#include "ops/core/custom.h"
#include "ops/core/memory.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

/// A tensor that a call reads, with what it held before.
struct Operand {
    const Param* param;
    Tensor tensor, before;
};

class CheckingInterpreter final : public NamingInterpreter {
  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        const std::vector<Operand> operands = read_by(call, op.schema, arguments);
        std::vector<Tensor> results = NamingInterpreter::step(graph, call, op, arguments);
        for (const Operand& operand : operands) {
            check_unwritten(call, operand);
            if (custom_op(call.target)) check_unshared(call, op.schema, operand, results);
        }
        check_metas(call, op, results);
        return results;
    }

  private:
    static std::vector<Operand> read_by(const Node& call, const Schema& schema, const Arguments<Tensor>& arguments) {
        const ArgList bound = bind_arguments(schema, call);
        std::vector<Operand> operands;
        for (std::size_t i = 0; i < bound.size(); ++i)
            for (const Arg& arg : bound[i].list() ? *bound[i].list() : ArgList{bound[i]})
                if (const NodeRef* ref = arg.node()) {
                    const Tensor tensor = arguments.value(*ref);
                    operands.push_back({&schema.params[i], tensor, own_copy(tensor)});
                }
        return operands;
    }

    static void check_unwritten(const Node& call, const Operand& operand) {
        if (operand.param->mutates) return;
        const auto changed = compare(operand.tensor, operand.before, Accuracy{.mode = Accuracy::Mode::strict});
        if (changed)
            throw Error(call.target + " wrote to its operand '" + operand.param->name +
                        "', which its schema does not declare as written: " + changed->description);
    }

    static void check_unshared(const Node& call, const Schema& schema, const Operand& operand,
                               const std::vector<Tensor>& results) {
        for (std::size_t i = 0; i < results.size(); ++i) {
            const Return& declared = schema.returns[std::min(i, schema.returns.size() - 1)];
            const bool view = !declared.alias.empty() && declared.alias == operand.param->alias;
            if (!view && results[i].storage() == operand.tensor.storage())
                throw Error("result " + std::to_string(i) + " of " + call.target + " shares memory with its operand '" +
                            operand.param->name + "', which its schema does not declare");
        }
    }

    static void check_metas(const Node& call, const RegisteredOp& op, const std::vector<Tensor>& results) {
        const bool in_place = op.def->name != call.target;  // what it writes keeps its dtype and strides
        if (results.size() != call.results.size())
            throw Error(call.target + " gave " + std::to_string(results.size()) + " results, recorded are " +
                        std::to_string(call.results.size()));
        for (std::size_t i = 0; i < results.size(); ++i) {
            const ValueMeta &recorded = call.results[i], got = ValueMeta::of(results[i]);
            const bool same =
                in_place ? got.sizes == recorded.sizes
                         : got.dtype == recorded.dtype && got.sizes == recorded.sizes && same_strides(got, recorded);
            if (!same)
                throw Error("result " + std::to_string(i) + " of " + call.target + " is " + print(got) +
                            ", recorded is " + print(recorded));
        }
    }

    /// Those of dimensions with one element, or of no elements at all, place nothing.
    static bool same_strides(const ValueMeta& a, const ValueMeta& b) {
        if (a.numel() == 0) return true;
        for (std::size_t i = 0; i < a.sizes.size(); ++i)
            if (a.sizes[i] != 1 && a.strides[i] != b.strides[i]) return false;
        return true;
    }
};

class EagerDebug final : public InterpretingBackend {
  public:
    std::string name() const override { return "eager_debug"; }
    std::string description() const override {
        return "eager, with each op held to its schema (writes, aliases) and to the recorded dtype, sizes and strides";
    }

  private:
    CompileResult compiled(const Graph& graph) override {
        return interpreted(graph, [] { return std::make_unique<CheckingInterpreter>(); });
    }
};

}  // namespace

std::unique_ptr<Backend> make_eager_debug_backend() { return std::make_unique<EagerDebug>(); }

}  // namespace whittle
