// Stages and updates that the failure does not need.
#include <algorithm>
#include <optional>

#include "expr/interpret.h"
#include "reduce/kernel/edits.h"
#include "reduce/kernel/search.h"

namespace whittle::reduce::kernel {
namespace {

using expr::Expr;
using expr::Group;
using expr::Stage;

/// An output is stored anyway.
KernelCase stored_by_nature(KernelCase kernel) {
    const auto storing = [&](const expr::Directive& directive) {
        return directive.stage == kernel.group.outputs[0] &&
               expr::info(directive.kind).scope == expr::DirectiveKind::Scope::func;
    };
    release(kernel, storing);
    drop_directives(kernel, storing);
    return kernel;
}

/// One stage alone as the output, the earliest that will do.
void one_output(Search& search) {
    for (std::size_t i = 0; i < search.best().group.stages.size(); i++) {
        KernelCase candidate = search.best();
        candidate.group.outputs = {candidate.group.stages[i].name};
        if (!drop_unused(candidate)) continue;
        if (search.attempt(stored_by_nature(candidate)) || search.attempt(std::move(candidate))) return;
    }
}

/// The stage as an input that holds what it computes.
std::optional<KernelCase> as_input(const KernelCase& kernel, std::size_t index) {
    KernelCase result = kernel;
    Stage stage = result.group.stages[index];
    Group upto = kernel.group;
    upto.stages.resize(index + 1);
    upto.outputs = {stage.name};
    const Tensor value = expr::interpret(upto, kernel.inputs).at(0).contiguous();
    if (value.numel() == 0) return std::nullopt;
    result.group.stages.erase(result.group.stages.begin() + static_cast<std::ptrdiff_t>(index));
    result.group.inputs.push_back({stage.name, stage.dtype, stage.sizes(), contiguous_strides(stage.sizes())});
    result.inputs.push_back(value);
    if (!drop_unused(result)) return std::nullopt;
    return result;
}

/// The stage written where it is loaded.
std::optional<KernelCase> inlined(const KernelCase& kernel, std::size_t index) {
    KernelCase result = kernel;
    const Stage stage = result.group.stages[index];
    if (!stage.updates.empty()) return std::nullopt;
    each_expression(result.group, [&](const Expr& root) {
        return with_loads(root, stage.name, [&](const Expr& load) {
            std::map<std::string, Expr> at;
            for (std::size_t d = 0; d < stage.vars.size(); d++) at[stage.vars[d].name] = load->operands[d];
            return substituted(stage.value, at);
        });
    });
    if (!drop_unused(result)) return std::nullopt;
    return result;
}

void without_stages(Search& search) {
    for (std::size_t i = search.best().group.stages.size(); i-- > 0;) {
        const KernelCase& best = search.best();
        if (i >= best.group.stages.size() || best.group.outputs[0] == best.group.stages[i].name) continue;
        for (const auto change : {as_input, inlined})
            if (std::optional<KernelCase> candidate = change(search.best(), i))
                if (search.attempt(std::move(*candidate))) break;
    }
}

bool drop_update(KernelCase& kernel, std::size_t at, std::size_t index) {
    Stage& stage = kernel.group.stages[at];
    const int gone = static_cast<int>(index);
    if (!drop_directives(kernel, [&](const expr::Directive& directive) {
            return directive.stage == stage.name && directive.update == gone;
        }))
        return false;
    for (expr::Directive& directive : kernel.schedule)
        if (directive.stage == stage.name && directive.update > gone) directive.update--;
    stage.updates.erase(stage.updates.begin() + gone);
    return drop_unused(kernel);
}

bool drop_condition(KernelCase& kernel, std::size_t at, std::size_t index) {
    Expr& condition = kernel.group.stages[at].updates[index].condition;
    if (!condition) return false;
    condition = nullptr;
    return drop_unused(kernel);
}

void fewer_updates(Search& search) {
    for (std::size_t s = 0; s < search.best().group.stages.size(); s++)
        for (std::size_t i = search.best().group.stages[s].updates.size(); i-- > 0;) {
            search.attempt_with([&](KernelCase& kernel) { return drop_update(kernel, s, i); });
            if (s >= search.best().group.stages.size()) return;
            if (i < search.best().group.stages[s].updates.size())
                search.attempt_with([&](KernelCase& kernel) { return drop_condition(kernel, s, i); });
        }
}

}  // namespace

void fewer_stages(Search& search) {
    one_output(search);
    if (search.best().group.outputs.size() > 1) return;
    without_stages(search);
    fewer_updates(search);
}

}  // namespace whittle::reduce::kernel
