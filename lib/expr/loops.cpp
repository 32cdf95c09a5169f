#include "expr/loops.h"

#include <cstdlib>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "expr/bounds.h"
#include "expr/cpp_text.h"
#include "expr/loops_support.h"

namespace whittle::expr {

using language::cpp;

namespace {

/// Writes one definition of a stage as a loop nest.
class NestWriter {
  public:
    NestWriter(const Group& group, Naming& naming, std::set<std::string>& helpers, std::set<std::string>& loaded,
               std::vector<LoopVar> loops)
        : group_(group),
          naming_(naming),
          helpers_(helpers),
          loaded_(loaded),
          loops_(std::move(loops)),
          bounds_(loops_) {}

    std::string write(const Stage& stage, const std::vector<Expr>& where, const Expr& value, const Expr& condition) {
        const Expr offset = flattened(flat(stage.name, where)), stored = flattened(value);
        const Expr guard = condition ? flattened(condition) : nullptr;
        const Expr rest = added_to_itself(stage.name, offset, stored);
        naming_.begin({offset, rest ? rest : stored, guard});
        std::string test;
        if (guard) test = "if (" + emit(guard).text + ") ";
        const std::string element = stage.name + "[" + emit(offset).text + "]";
        const std::string assigned = rest ? " += " + emit(rest).text : " = " + emit(stored).text;
        return nest(test + element + assigned + ";");
    }

  private:
    /// Loads with one index: the offset of the element. Done before counting uses, so that offsets are shared as well.
    Expr flattened(const Expr& root) {
        return rewrite(root, [&](const Expr& e) {
            if (e->op == Op::load) return load(e->name, e->dtype, {flat(e->name, e->operands)});
            // What the types decide, gcc would warn about ("always false due to limited range").
            if (is_comparison(e->op) && !is_floating(e->operands[0]->dtype))
                if (const Interval truth = bounds_.of(e); truth.lo == truth.hi)
                    return constant(DType::boolean, truth.lo == 1);
            return e;
        });
    }

    Expr flat(const std::string& array, const std::vector<Expr>& indices) {
        const Input* input = group_.input(array);
        const Sizes sizes = input ? input->sizes : group_.stage(array)->sizes();
        const Strides strides = input ? input->strides : contiguous_strides(sizes);
        std::int64_t reach = 0;
        Expr offset = index(0);
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            if (sizes[d] <= 1) continue;  // its only index is 0
            std::int64_t term = 0;
            if (__builtin_mul_overflow(sizes[d] - 1, std::abs(strides[d]), &term) ||
                __builtin_add_overflow(reach, term, &reach) || reach > 0x7fffffff)
                throw Error({"kernel " + group_.name, array},
                            "found sizes " + to_string(sizes) + " with strides " + to_string(strides) +
                                ", expected strides with which all offsets are less than 2^31");
            offset = offset + indices[d] * index(strides[d]);
        }
        return offset;
    }

    /// What is added when `value` is stage[offset] + something in a type where C++'s += means the same, else null.
    static Expr added_to_itself(const std::string& stage, const Expr& offset, const Expr& value) {
        if (value->op != Op::add || !is_floating(value->dtype)) return nullptr;
        const Expr& self = value->operands[0];
        const bool itself = self->op == Op::load && self->name == stage && same(self->operands[0], offset);
        return itself ? value->operands[1] : nullptr;
    }

    std::string nest(const std::string& statement) const {
        std::string out, indent = "    ";
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            const LoopVar& v = loops_[i];
            const bool brace = i + 1 == loops_.size() && !declarations_.empty();
            out += indent + "for (int " + v.name + " = 0; " + v.name + " < " + std::to_string(v.extent) + "; " +
                   v.name + "++)" + (brace ? " {" : "") + "\n";
            indent += "    ";
        }
        // Without a loop, locals still need a scope of their own.
        const bool block = loops_.empty() && !declarations_.empty();
        if (block) out += "    {\n", indent += "    ";
        for (const std::string& line : declarations_) out += indent + line + "\n";
        out += indent + statement + "\n";
        if (!declarations_.empty()) out += indent.substr(4) + "}\n";
        return out;
    }

    Code emit(const Expr& e) {
        if (const auto found = done_.find(e); found != done_.end()) return found->second;
        std::vector<Code> operands;
        for (const Expr& operand : e->operands) operands.push_back(emit(operand));
        Code code = node(e, operands);
        if (naming_.wants_name(e, code)) {
            const std::string name = naming_.fresh();
            declarations_.push_back("const " + cpp.type(e->dtype) + " " + name + " = " + code.text + ";");
            code = {name};
        }
        return done_[e] = code;
    }

    Code node(const Expr& e, const std::vector<Code>& in) {
        switch (e->op) {
            case Op::constant:
                note_struct(e->dtype);
                return literal(e->dtype, e->number);
            case Op::variable:
                return {e->name};
            case Op::load:
                loaded_.insert(e->name);
                return {e->name + "[" + in[0].text + "]"};
            case Op::cast:
                return cast_code(e, in[0]);
            case Op::select:
                return {in[0].at(Code::either) + " ? " + in[1].at(Code::either) + " : " + in[2].at(Code::either),
                        Code::ternary};
            case Op::logical_not:
                return {"!" + in[0].at(Code::prefix), Code::prefix};
            default:
                break;
        }
        if (is_integer(e->dtype)) return integer_code(e, in);
        if (const std::string_view function = info_of(e->op).function; !function.empty())
            return call("std::" + std::string(function), in);
        return infix_code(e->op, in[0], in[1]);
    }

    static Code call(const std::string& function, const std::vector<Code>& in) {
        return {function + "(" + join(in, &Code::text) + ")"};
    }

    Code cast_code(const Expr& e, const Code& in) {
        const DType from = e->operands[0]->dtype;
        note_struct(from);
        note_struct(e->dtype);
        if (e->dtype == DType::boolean)
            return infix_code(Op::ne, in, {!is_floating(from) ? "0" : from == DType::f64 ? "0.0" : "0.0f"});
        return call(cpp.type(e->dtype), {in});
    }

    /// Notes that the type may need a struct.
    void note_struct(DType dtype) {
        if (is_reduced(dtype)) helpers_.insert(cpp.type(dtype));
    }

    Code helper_call(const std::string& name, const std::vector<Code>& in) {
        helpers_.insert(name);
        return call(name, in);
    }

    Code helper(const std::string& name, DType dtype, const std::vector<Code>& in) {
        helpers_.insert(name);
        return call(name + "<" + cpp.type(dtype) + ">", in);
    }

    Code integer_code(const Expr& e, const std::vector<Code>& in) {
        const DType dtype = e->dtype;
        const bool narrow = size_of(dtype) < 4;  // C++ computes these in int and does not overflow
        const auto narrowed = [&](const Code& code) {
            return narrow && bounds_.may_wrap(e) ? call(cpp.type(dtype), {code}) : code;
        };
        switch (e->op) {
            case Op::add:
            case Op::sub:
            case Op::mul:
                if (narrow || !bounds_.may_wrap(e)) return narrowed(infix_code(e->op, in[0], in[1]));
                return helper("wrap_" + std::string(name(e->op)), dtype, in);
            case Op::div:
            case Op::mod: {
                if (dtype == DType::u64) return helper_call("unsigned_" + std::string(name(e->op)), in);
                // C++ truncates: the same as Euclid when nothing is negative.
                if (bounds_.of(e->operands[0]).lo >= 0 && bounds_.of(e->operands[1]).lo > 0)
                    return infix_code(e->op, in[0], in[1]);
                const Code euclidean = helper_call("euclidean_" + std::string(name(e->op)), in);
                return dtype == DType::i64 ? euclidean : call(cpp.type(dtype), {euclidean});
            }
            case Op::abs:
                return helper("wrap_abs", dtype, in);
            case Op::min:
            case Op::max:
                return call(
                    "std::" + std::string(name(e->op)) + (dtype == DType::i32 ? "" : "<" + cpp.type(dtype) + ">"), in);
            case Op::bit_not:
                return call(cpp.type(dtype), {{"~" + in[0].at(Code::prefix), Code::prefix}});
            case Op::shl:
                return helper("wrap_shl", dtype, in);
            default:  // bit_and, bit_or, bit_xor, shr: no result leaves the range of the operands' type
                return infix_code(e->op, in[0], in[1]);
        }
    }

    const Group& group_;
    Naming& naming_;
    std::set<std::string>& helpers_;
    std::set<std::string>& loaded_;
    std::vector<LoopVar> loops_;
    Bounds bounds_;
    ExprMap<Code> done_;
    std::vector<std::string> declarations_;
};

/// Writes the function and collects the helpers that it uses.
class LoopsWriter {
  public:
    explicit LoopsWriter(const Group& group) : group_(group), naming_(group) {
        for (const std::string& output : group.outputs) outputs_.insert(output);
        for (const Input& in : group.inputs) note_type(in.dtype);
        for (const Stage& stage : group.stages) note_type(stage.dtype);
    }

    std::string function(const std::string& name) {
        std::string body;
        for (const Stage& stage : group_.stages) body += write(stage);
        std::string out = "static void " + name + "(" + parameters() + ") {\n";
        for (const Input& in : group_.inputs)
            if (!loaded_.contains(in.name)) out += "    (void)" + in.name + ";\n";
        return out + body + "}\n";
    }

    const std::set<std::string>& helpers() const { return helpers_; }

  private:
    void note_type(DType dtype) {
        if (!half_support_cpp(dtype).empty()) helpers_.insert(cpp.type(dtype));
    }

    std::string parameters() const {
        std::vector<std::string> all;
        for (const Input& in : group_.inputs) all.push_back("const " + cpp.type(in.dtype) + "* " + in.name);
        for (const std::string& name : group_.outputs) all.push_back(cpp.type(group_.stage(name)->dtype) + "* " + name);
        return join(all);
    }

    std::string write(const Stage& stage) {
        std::string out = stage.origin.empty() ? "" : "    // " + stage.origin + "\n";
        if (!outputs_.contains(stage.name)) {
            // std::vector<bool> has no elements to point to.
            const std::string type = stage.dtype == DType::boolean ? "uint8_t" : cpp.type(stage.dtype);
            out += "    std::vector<" + type + "> " + stage.name + "(" + std::to_string(element_count(stage.sizes())) +
                   ");\n";
        } else if (element_count(stage.sizes()) == 0) {
            out += "    (void)" + stage.name + ";\n";
        }
        const std::vector<Expr> self = variables(stage.vars);
        out += definition(stage, stage.vars, self, stage.value, nullptr);
        for (const Update& update : stage.updates)
            out += definition(stage, loops_of(stage, update), update.where, update.value, update.condition);
        return out;
    }

    std::string definition(const Stage& stage, std::vector<LoopVar> loops, const std::vector<Expr>& where,
                           const Expr& value, const Expr& condition) {
        return NestWriter(group_, naming_, helpers_, loaded_, std::move(loops)).write(stage, where, value, condition);
    }

    const Group& group_;
    Naming naming_;
    std::set<std::string> outputs_, helpers_, loaded_;
};

}  // namespace

std::string support_cpp(const std::vector<const Group*>& groups) {
    std::set<std::string> helpers;
    for (const Group* group : groups) {
        LoopsWriter writer(*group);
        writer.function("f");
        helpers.insert(writer.helpers().begin(), writer.helpers().end());
    }
    std::string out;
    for (const auto& [name, text] : kLoopHelpers)
        if (helpers.contains(std::string(name))) out.append(out.empty() ? "" : "\n").append(text);
    return out;
}

std::string_view half_support_cpp(DType dtype) {
    for (const auto& [name, text] : kLoopHelpers)
        if (is_reduced(dtype) && name == info_of(dtype).cpp) return text;
    return {};
}

std::string to_loops_cpp(const Group& group, const std::string& function_name) {
    return LoopsWriter(group).function(function_name);
}

}  // namespace whittle::expr
