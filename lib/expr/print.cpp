// Printed forms of expressions and groups: for messages, logs and tests.
#include <cmath>

#include "base/number_text.h"
#include "base/words.h"
#include "expr/group.h"

namespace whittle::expr {
namespace {

/// Whether it prints as in C++. Operators on bits print as calls.
bool is_infix(const OpInfo& op) {
    return op.kind == OpInfo::Kind::infix && op.strength != Strength::bits && op.strength != Strength::shift;
}

std::string print_number(DType dtype, const Scalar& number) {
    if (number.is_boolean()) return number.to_bool() ? "true" : "false";
    if (number.is_integer()) return number.integer_text();
    const double v = number.to_double();
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
    return shortest(v, dtype != DType::f64);
}

/// Expressions share operands, so the tree can be exponentially larger than the graph: printing stops at a limit.
constexpr std::size_t kPrintLimit = 20000;

/// In parentheses where it binds less than `needed`.
void print_to(std::string& out, const Expr& e, Strength needed) {
    if (out.size() > kPrintLimit) {
        if (!out.ends_with("...")) out += "...";
        return;
    }
    const auto list = [&](const std::string& head, char open, char close) {
        out += head;
        out += open;
        for (std::size_t i = 0; i < e->operands.size(); ++i) {
            if (i) out += ", ";
            print_to(out, e->operands[i], Strength::ternary);
        }
        out += close;
    };
    switch (e->op) {
        case Op::constant:
            out += print_number(e->dtype, e->number);
            return;
        case Op::variable:
            out += e->name;
            return;
        case Op::load:
            return list(e->name, '[', ']');
        case Op::cast:
            return list(std::string(name(e->dtype)), '(', ')');
        case Op::logical_not:
            out += '!';
            return print_to(out, e->operands[0], Strength::atom);
        default:
            break;
    }
    const OpInfo& op = info_of(e->op);
    if (!is_infix(op)) return list(std::string(op.name), '(', ')');
    const bool weak = op.strength < needed;
    if (weak) out += '(';
    print_to(out, e->operands[0], op.strength);
    out.append(" ").append(op.symbol).append(" ");
    print_to(out, e->operands[1], static_cast<Strength>(static_cast<int>(op.strength) + 1));
    if (weak) out += ')';
}

std::string print_loops(const std::vector<LoopVar>& vars) {
    return join(vars, [](const LoopVar& v) { return v.name + " < " + std::to_string(v.extent); });
}

std::string print_element(const std::string& stage, const std::vector<Expr>& where) {
    return stage + "[" + join(where, [](const Expr& e) { return print(e); }) + "]";
}

}  // namespace

std::string print(const Expr& expr) {
    std::string out;
    print_to(out, expr, Strength::ternary);
    return out;
}

std::string print(const Group& group) {
    std::string out = "group " + group.name + "\n";
    for (const Input& in : group.inputs)
        out += "input " + in.name + ": " + std::string(name(in.dtype)) + to_string(in.sizes) + " strides " +
               to_string(in.strides) + (in.constant ? " constant" : "") + "\n";
    for (const Stage& stage : group.stages) {
        out += "\n";
        if (!stage.origin.empty()) out += "# " + stage.origin + "\n";
        out += "stage " + stage.name + ": " + std::string(name(stage.dtype)) + to_string(stage.sizes()) + "\n";
        const std::vector<Expr> self = variables(stage.vars);
        out += "  for " + print_loops(stage.vars) + ": " + print_element(stage.name, self) + " = " +
               print(stage.value) + "\n";
        for (const Update& update : stage.updates) {
            out += "  then for " + print_loops(update.domain);
            if (update.condition) out += " if " + print(update.condition);
            out += ": " + print_element(stage.name, update.where) + " = " + print(update.value) + "\n";
        }
    }
    return out + "\noutput " + join(group.outputs) + "\n";
}

}  // namespace whittle::expr
