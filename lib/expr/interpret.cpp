#include "expr/interpret.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "expr/exprmap.h"
#include "expr/interpreter_kernels.h"

namespace whittle::expr {
namespace {

using interpreter::Array;
using interpreter::Instruction;
using interpreter::Slot;

/// One definition of a stage, compiled: loops from the outside in, each with the instructions that depend on its
/// variable but on no inner one, so that what is invariant in a loop is computed outside it.
class Nest {
  public:
    Nest(const std::map<std::string, Array>& arrays, const Array& target, std::vector<LoopVar> vars)
        : arrays_(arrays), target_(target), vars_(std::move(vars)), levels_(vars_.size() + 1) {
        for (std::size_t v = 0; v < vars_.size(); ++v) {
            const std::uint32_t reg = fresh(v + 1);
            loop_registers_.push_back(reg);
            known_[variable(vars_[v].name)] = reg;
        }
    }

    void store(const std::vector<Expr>& where, const Expr& value, const Expr& condition) {
        if (condition) condition_ = compile(condition);
        store_.result = compile(value);
        for (const Expr& index : where) store_.operands.push_back(compile(index));
        store_.array = &target_;
        store_.kernel = interpreter::store_of(value->dtype);
    }

    /// Stores a value into another array, too.
    void keep(const Watched& watched, const Array& into) {
        Instruction in{
            .kernel = interpreter::store_of(watched.value->dtype), .result = compile(watched.value), .array = &into};
        std::size_t level = level_of_[in.result];
        for (const LoopVar& loop : watched.loops) {
            in.operands.push_back(known_.at(variable(loop.name)));
            level = std::max(level, level_of_[in.operands.back()]);
        }
        levels_[level].push_back(std::move(in));
    }

    void run() {
        for (const LoopVar& v : vars_)
            if (v.extent == 0) return;
        execute(0);
        loop(0);
    }

  private:
    std::uint32_t fresh(std::size_t level) {
        registers_.push_back({});
        level_of_.push_back(level);
        return static_cast<std::uint32_t>(registers_.size() - 1);
    }

    std::uint32_t compile(const Expr& root) {
        visit(root, [&](const Expr& e) {
            if (known_.contains(e)) return;
            if (e->op == Op::constant) {
                const std::uint32_t reg = fresh(0);
                set_constant(registers_[reg], *e);
                known_[e] = reg;
                return;
            }
            WHITTLE_CHECK(e->op != Op::variable, "unbound variable " + e->name);
            Instruction in;
            std::size_t level = 0;
            for (const Expr& operand : e->operands) {
                in.operands.push_back(known_.at(operand));
                level = std::max(level, level_of_[in.operands.back()]);
            }
            if (e->op == Op::load) {
                in.array = &arrays_.at(e->name);
                if (in.array == &target_) level = vars_.size();  // it changes in the innermost loop
            }
            in.kernel = interpreter::kernel_of(e);
            WHITTLE_CHECK(in.kernel,
                          "no kernel for " + std::string(name(e->op)) + " of " + std::string(name(e->dtype)));
            in.result = fresh(level);
            known_[e] = in.result;
            levels_[level].push_back(std::move(in));
        });
        return known_.at(root);
    }

    static void set_constant(Slot& slot, const Node& node) {
        if (node.dtype == DType::f64)
            slot.d = node.number.to_double();
        else if (is_floating(node.dtype))
            slot.f = static_cast<float>(node.number.to_double());
        else
            slot.i = node.number.to_integer();
    }

    void execute(std::size_t level) {
        for (const Instruction& in : levels_[level]) in.kernel(registers_.data(), in);
    }

    void loop(std::size_t depth) {
        if (depth == vars_.size()) {
            if (condition_ == kNone || registers_[condition_].i) store_.kernel(registers_.data(), store_);
            return;
        }
        for (std::int64_t i = 0; i < vars_[depth].extent; ++i) {
            registers_[loop_registers_[depth]].i = i;
            execute(depth + 1);
            loop(depth + 1);
        }
    }

    static constexpr std::uint32_t kNone = 0xffffffff;
    const std::map<std::string, Array>& arrays_;
    const Array& target_;
    std::vector<LoopVar> vars_;
    std::vector<std::vector<Instruction>> levels_;
    std::vector<Slot> registers_;
    std::vector<std::size_t> level_of_;  ///< of each register: the number of loops around it
    std::vector<std::uint32_t> loop_registers_;
    ExprMap<std::uint32_t> known_;
    std::uint32_t condition_ = kNone;
    Instruction store_;
};

void check_inputs(const Group& group, std::span<const Tensor> inputs) {
    if (inputs.size() != group.inputs.size())
        throw Error("found " + std::to_string(inputs.size()) + " inputs for kernel " + group.name + ", expected " +
                    std::to_string(group.inputs.size()) + " inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Input& in = group.inputs[i];
        if (inputs[i].dtype() != in.dtype || inputs[i].sizes() != in.sizes)
            throw Error("found " + std::string(name(inputs[i].dtype())) + to_string(inputs[i].sizes()) + " for input " +
                        in.name + ", expected " + std::string(name(in.dtype)) + to_string(in.sizes));
    }
}

}  // namespace

std::vector<Tensor> interpret(const Group& group, std::span<const Tensor> inputs) {
    std::vector<Tensor> none;
    return interpret(group, inputs, {}, none);
}

std::vector<Tensor> interpret(const Group& group, std::span<const Tensor> inputs, std::span<const Watched> watched,
                              std::vector<Tensor>& kept) {
    check_inputs(group, inputs);
    std::vector<Array> kept_arrays;
    for (const Watched& value : watched) {
        Sizes sizes;
        for (const LoopVar& loop : value.loops) sizes.push_back(loop.extent);
        Tensor& made = kept.emplace_back(value.value->dtype, sizes);
        kept_arrays.push_back({"a watched value", made.sizes(), made.strides(), made.mutable_raw()});
    }
    std::map<std::string, Array> arrays;
    std::map<std::string, Tensor> results;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        arrays[group.inputs[i].name] = {group.inputs[i].name, inputs[i].sizes(), inputs[i].strides(), inputs[i].raw()};
    for (const Stage& stage : group.stages) {
        Tensor& result = results.emplace(stage.name, Tensor(stage.dtype, stage.sizes())).first->second;
        Array& array = arrays[stage.name];
        array = {stage.name, result.sizes(), result.strides(), result.mutable_raw()};
        const auto run = [&](int definition, std::vector<LoopVar> vars, const std::vector<Expr>& where,
                             const Expr& value, const Expr& condition) {
            Nest nest(arrays, array, std::move(vars));
            nest.store(where, value, condition);
            for (std::size_t i = 0; i < watched.size(); ++i)
                if (watched[i].stage == stage.name && watched[i].update == definition)
                    nest.keep(watched[i], kept_arrays[i]);
            try {
                nest.run();
            } catch (const Error& e) {
                throw Error({"group " + group.name, "stage " + stage.name}, e.message());
            }
        };
        const std::vector<Expr> self = variables(stage.vars);
        int definition = -1;
        run(definition, stage.vars, self, stage.value, nullptr);
        for (const Update& update : stage.updates)
            run(++definition, loops_of(stage, update), update.where, update.value, update.condition);
    }
    std::vector<Tensor> outputs;
    for (const std::string& name : group.outputs) outputs.push_back(results.at(name));
    return outputs;
}

}  // namespace whittle::expr
