#include "backends/debug/op_checks.h"

#include <algorithm>

#include "graph/text.h"
#include "ops/core/custom.h"
#include "ops/core/layout.h"
#include "ops/core/memory.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

/// A tensor that a call reads, with what it held before.
struct Operand {
    const Param* param;
    NodeId node;
    Tensor tensor, before;
};

/// A call as it ran.
struct CheckedCall {
    const Node& node;
    const RegisteredOp& op;
    const std::vector<Operand>& operands;
    const std::vector<Tensor>& results;

    bool in_place() const { return op.name != node.target; }
};

/// `copies`: what the schema does not declare is a copy, to which the call may do anything.
std::vector<Operand> operands_of(const Schema& schema, const Arguments<Tensor>& arguments, bool copies) {
    const ArgList& bound = arguments.bound();
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < bound.size(); ++i)
        for (const Arg& arg : bound[i].list() ? *bound[i].list() : ArgList{bound[i]})
            if (const NodeRef* ref = arg.node()) {
                const Tensor value = arguments.value(*ref);
                const bool as_it_is = !copies || !schema.params[i].alias.empty();
                operands.push_back({&schema.params[i], ref->id, as_it_is ? value : own_copy(value), own_copy(value)});
            }
    return operands;
}

/// The operands are copies already, whose fate nobody else sees.
std::vector<Tensor> run_on_copies(const RegisteredOp& op, const Arguments<Tensor>& arguments,
                                  const std::vector<Operand>& operands) {
    const auto given = [&](NodeRef ref) {
        return std::ranges::find(operands, ref.id, [](const Operand& operand) { return operand.node; })->tensor;
    };
    return run_custom(op, Arguments<Tensor>(op.schema, &arguments.bound(), given));
}

std::string undeclared(const std::string& promise) { return promise + ", which the schema of the op does not declare"; }

/// The first result that is of another dtype, sizes or strides than was said; as many were.
std::optional<std::size_t> first_misfit(const CheckedCall& call, const std::vector<ValueMeta>& said) {
    for (std::size_t i = 0; i < call.results.size(); ++i) {
        const ValueMeta got = ValueMeta::of(call.results[i]);
        const bool same = got.sizes == said[i].sizes &&
                          (call.in_place() || (got.dtype == said[i].dtype && same_strides(got, said[i])));
        if (!same) return i;
    }
    return std::nullopt;
}

bool is_from_outside(const CheckedCall& call) { return custom_op(call.node.target) != nullptr; }

void check_unwritten(const CheckedCall& call) {
    for (const Operand& operand : call.operands) {
        if (operand.param->mutates) continue;
        if (!compare(operand.tensor, operand.before, Accuracy{.mode = Accuracy::Mode::strict})) continue;
        HeldOperand held{.node = call.node.name, .parameter = operand.param->name};
        if (!is_from_outside(call)) held.after = own_copy(operand.tensor);
        throw WrongCall(
            undeclared(call.node.target + " wrote to the operand '" + operand.param->name + "'") + " as written", held);
    }
}

void check_unshared(const CheckedCall& call) {
    if (!is_from_outside(call)) return;
    const std::string& target = call.node.target;
    const auto declared = [&](std::size_t i) -> const std::string& {
        const std::vector<Return>& returns = call.op.schema.returns;
        return returns[std::min(i, returns.size() - 1)].alias;
    };
    const std::vector<Tensor>& results = call.results;
    for (const Operand& operand : call.operands)
        for (std::size_t i = 0; i < results.size(); ++i) {
            const bool view = !declared(i).empty() && declared(i) == operand.param->alias;
            if (view || results[i].storage() != operand.tensor.storage()) continue;
            throw WrongCall(undeclared("result " + std::to_string(i) + " of " + target +
                                       " shares memory with the operand '" + operand.param->name + "'"),
                            HeldOperand{call.node.name, operand.param->name, i});
        }
    for (std::size_t i = 0; i < results.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (results[i].storage() == results[k].storage() && (declared(i).empty() || declared(i) != declared(k)))
                throw WrongCall(undeclared("results " + std::to_string(k) + " and " + std::to_string(i) + " of " +
                                           target + " share memory"));
}

void check_metas(const CheckedCall& call, const std::vector<ValueMeta>& said, const std::string& said_is) {
    const std::string& target = call.node.target;
    if (call.results.size() != said.size())
        throw WrongCall(target + " gave " + std::to_string(call.results.size()) + " results, " + said_is + " are " +
                        std::to_string(said.size()));
    const auto i = first_misfit(call, said);
    if (!i) return;
    const ValueMeta computed = ValueMeta::of(call.results[*i]);
    HeldResult held{.node = call.node.name, .result = *i, .computed = computed, .said = said[*i], .said_is = said_is};
    throw WrongCall(held.text(target, kind_text(computed), kind_text(said[*i])), held);
}

}  // namespace

std::string kind_text(ValueMeta meta) {
    meta.requires_grad = false;
    return print(meta);
}

std::vector<Tensor> HoldingInterpreter::step(const Graph& graph, const Node& call, const RegisteredOp& op,
                                             const Arguments<Tensor>& arguments) {
    at_work(call);
    const std::optional<std::vector<ValueMeta>> said = said_of(graph, call);
    if (!said) return NamingInterpreter::step(graph, call, op, arguments);
    const bool from_library = !op_library(call.target).empty();
    const std::vector<Operand> operands = operands_of(op.schema, arguments, from_library);
    std::vector<Tensor> results =
        from_library ? run_on_copies(op, arguments, operands) : NamingInterpreter::step(graph, call, op, arguments);
    try {
        const CheckedCall checked{call, op, operands, results};
        check_unwritten(checked);
        check_unshared(checked);
        check_metas(checked, *said, said_is());
    } catch (const WrongCall& wrong) {
        wrong_ = wrong.held();
        throw;
    }
    return results;
}

std::optional<Held> first_wrong(HoldingInterpreter& interpreter, const Graph& graph, std::span<const Tensor> inputs) {
    std::vector<Tensor> copies;
    for (const Tensor& input : inputs) copies.push_back(own_copy(input));
    try {
        interpreter.run(graph, copies);
    } catch (const Error&) {  // where it is what is looked for, the interpreter knows
    }
    return interpreter.wrong();
}

SuspectCode held_code(const EmitRequest& request, std::optional<Held> wrong, const FindBackend& find,
                      const std::string& who) {
    if (!wrong) throw Error("cannot write the failing call as a standalone program");
    const std::unique_ptr<Backend> libtorch = find("libtorch");
    Emitter* const by = offered<Emitter>(*libtorch);
    WHITTLE_CHECK(by, "the backend libtorch writes no programs");
    EmitRequest own = request;
    own.held = std::move(wrong);
    SuspectCode code = by->emit(own);
    const std::string node = std::visit([](const auto&held) { return held.node; }, *own.held),
                      target = request.graph.find(node)->target;
    const auto* operand = std::get_if<HeldOperand>(&*own.held);
    const bool outside = operand && !operand->after;
    code.label = outside ? target + " or the schema of the op" : who + " of " + target;
    code.header =
        (outside ? target + ", checked against the schema of the op" : who + " of " + target + ", compared with ") +
        (outside ? "" : code.header);
    code.judges_reference = true;
    return code;
}

}  // namespace whittle
