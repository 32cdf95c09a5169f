#include "backends/debug/crossref.h"

#include "backends/debug/op_checks.h"
#include "base/error.h"
#include "ops/core/custom.h"

namespace whittle {
namespace {

class CrossRefInterpreter final : public NamingInterpreter {
  public:
    explicit CrossRefInterpreter(bool all) : all_(all) {}

    const std::optional<InferredResult>& wrong() const { return wrong_; }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        const bool custom = custom_op(call.target) != nullptr, in_place = op.def->name != call.target;
        if (!all_ && !custom) return NamingInterpreter::step(graph, call, op, arguments);
        at_work(call);
        const std::vector<ValueMeta> inferred = infer(graph, call);
        const std::vector<Operand> operands = operands_of(call, op.schema, arguments);
        std::vector<Tensor> results = NamingInterpreter::step(graph, call, op, arguments);
        check_unwritten(call, operands);
        if (custom) check_unshared(call, op.schema, operands, results);
        if (results.size() == inferred.size())
            if (const auto i = first_misfit(results, inferred, in_place))
                wrong_ = InferredResult{call.name, *i, inferred[*i]};
        check_metas(call, results, inferred, "inferred", in_place);
        return results;
    }

  private:
    const bool all_;
    std::optional<InferredResult> wrong_;
};

}  // namespace

std::unique_ptr<NamingInterpreter> make_crossref_interpreter(bool all) {
    return std::make_unique<CrossRefInterpreter>(all);
}

std::optional<InferredResult> first_inferred_wrongly(const Graph& graph, std::span<const Tensor> inputs, bool all) {
    CrossRefInterpreter interpreter(all);
    try {
        interpreter.run(graph, inputs);
    } catch (const Error&) {  // where it is what is looked for, the interpreter knows
    }
    return interpreter.wrong();
}

SuspectCode crossref_code(const EmitRequest& request, Emitter& by, bool all) {
    EmitRequest own = request;
    own.inferred = first_inferred_wrongly(request.graph, request.graph.failure->inputs, all);
    if (!own.inferred) throw Error("what an op says of its operands' memory has no program without Whittle");
    SuspectCode code = by.emit(own);
    const std::string target = request.graph.find(own.inferred->node)->target;
    code.label = "what Whittle infers of " + target;
    code.header = "the inference of " + target + ", held against " + code.header;
    code.judges_reference = true;
    return code;
}

}  // namespace whittle
