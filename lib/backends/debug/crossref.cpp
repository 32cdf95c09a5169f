#include "backends/debug/crossref.h"

#include "backends/debug/op_checks.h"
#include "ops/core/custom.h"

namespace whittle {
namespace {

class CrossRefInterpreter final : public NamingInterpreter {
  public:
    explicit CrossRefInterpreter(bool all) : all_(all) {}

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        const bool custom = custom_op(call.target) != nullptr;
        if (!all_ && !custom) return NamingInterpreter::step(graph, call, op, arguments);
        at_work(call);
        const std::vector<ValueMeta> inferred = infer(graph, call);
        const std::vector<Operand> operands = operands_of(call, op.schema, arguments);
        std::vector<Tensor> results = NamingInterpreter::step(graph, call, op, arguments);
        check_unwritten(call, operands);
        if (custom) check_unshared(call, op.schema, operands, results);
        check_metas(call, results, inferred, "inferred", op.def->name != call.target);
        return results;
    }

  private:
    const bool all_;
};

}  // namespace

std::unique_ptr<NamingInterpreter> make_crossref_interpreter(bool all) {
    return std::make_unique<CrossRefInterpreter>(all);
}

}  // namespace whittle
