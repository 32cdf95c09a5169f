#include "backends/debug/debug.h"
#include "backends/debug/op_checks.h"
#include "backends/eager/interpreted.h"
#include "ops/core/custom.h"

namespace whittle {
namespace {

class CheckingInterpreter final : public NamingInterpreter {
  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        const std::vector<Operand> operands = operands_of(call, op.schema, arguments);
        std::vector<Tensor> results = NamingInterpreter::step(graph, call, op, arguments);
        check_unwritten(call, operands);
        if (custom_op(call.target)) check_unshared(call, op.schema, operands, results);
        check_metas(call, results, call.results, "recorded", op.def->name != call.target);
        return results;
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
