#include <map>

#include "reduce/kernel/edits.h"
#include "reduce/kernel/kernel_case.h"

namespace whittle::reduce {
namespace {

using expr::Directive;
using expr::Expr;
using expr::Op;
using expr::Stage;

/// The words in turn, then the first with numbers.
std::string nth(const std::vector<std::string>& words, std::size_t n) {
    return n < words.size() ? words[n] : words.front() + std::to_string(n - words.size() + 2);
}

using Renaming = std::map<std::string, std::string>;

std::string renamed(const Renaming& names, const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
}

Expr renamed(const Renaming& tensors, const Renaming& loops, const Expr& root) {
    return expr::rewrite(root, [&](const Expr& e) {
        if (e->op == Op::variable) return expr::variable(renamed(loops, e->name));
        if (e->op == Op::load) return expr::load(renamed(tensors, e->name), e->dtype, e->operands);
        return e;
    });
}

/// The loops of a stage; those of an update on top.
Renaming loops_of(const Stage& stage) {
    Renaming names;
    for (std::size_t d = 0; d < stage.vars.size(); d++)
        names[stage.vars[d].name] = nth({"x", "y", "z", "w"}, stage.vars.size() - 1 - d);
    return names;
}

}  // namespace

KernelCase named(const KernelCase& kernel) {
    KernelCase result = kernel;
    Renaming tensors;
    const std::size_t inputs = result.group.inputs.size();
    for (std::size_t i = 0; i < inputs; i++)
        tensors[result.group.inputs[i].name] = inputs == 1 ? "in" : nth({"a", "b", "c", "d"}, i);
    for (std::size_t i = 0; i < result.group.stages.size(); i++)
        tensors[result.group.stages[i].name] = nth({"f", "g", "h"}, i);
    for (expr::Input& input : result.group.inputs) input.name = tensors.at(input.name);
    // By definition: what its loops are called now, those that a split made included.
    std::map<std::pair<std::string, int>, Renaming> loops;
    for (Stage& stage : result.group.stages) {
        const Renaming own = loops_of(stage);
        stage.value = renamed(tensors, own, stage.value);
        loops[{stage.name, -1}] = own;
        for (std::size_t u = 0; u < stage.updates.size(); u++) {
            expr::Update& update = stage.updates[u];
            Renaming all = own;
            const std::vector<std::string> words = update.domain.size() > 1
                                                       ? std::vector<std::string>{"rx", "ry", "rz", "rw"}
                                                       : std::vector<std::string>{"r"};
            for (std::size_t d = 0; d < update.domain.size(); d++) {
                std::string& name = update.domain[d].name;
                name = all[name] = nth(words, update.domain.size() - 1 - d) + (u ? std::to_string(u + 1) : "");
            }
            kernel::each_expression(update, [&](const Expr& root) { return renamed(tensors, all, root); });
            loops[{stage.name, static_cast<int>(u)}] = all;
        }
        for (expr::LoopVar& var : stage.vars) var.name = own.at(var.name);
    }
    for (Directive& directive : result.schedule) {
        Renaming& own = loops[{directive.stage, directive.update}];
        if (directive.kind == Directive::Kind::split) {
            const std::string old = renamed(own, directive.args.at(0));
            own[directive.args.at(1)] = old + "o";
            own[directive.args.at(2)] = old + "i";
        }
        const Renaming& at = directive.at.empty() ? own : loops[{directive.at, -1}];
        for (std::string& arg : directive.args) arg = renamed(at, arg);
        directive.stage = tensors.at(directive.stage);
        if (!directive.at.empty()) directive.at = tensors.at(directive.at);
    }
    for (Stage& stage : result.group.stages) {
        stage.name = tensors.at(stage.name);
        stage.origin.clear();
    }
    for (std::string& output : result.group.outputs) output = tensors.at(output);
    return result;
}

}  // namespace whittle::reduce
