// Changes to a kernel that keep the rest of it right: what loads, writes or schedules what is changed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/parts.h"
#include "reduce/kernel/kernel_case.h"

namespace whittle::reduce::kernel {

/// One expression of a kernel, wherever it stands.
struct Root {
    expr::Expr* place;
    std::vector<expr::LoopVar> loops;  ///< that it runs in
};
/// All that are there, in the order of the stages.
std::vector<Root> roots(expr::Group& group);

/// Every expression by what `f` makes of it; `f` is not called for the condition that is not there.
void each_expression(expr::Update& update, const std::function<expr::Expr(const expr::Expr&)>& f);
void each_expression(expr::Stage& stage, const std::function<expr::Expr(const expr::Expr&)>& f);
void each_expression(expr::Group& group, const std::function<expr::Expr(const expr::Expr&)>& f);

/// Loads of `name` by what `f` makes of their indices.
expr::Expr with_loads(const expr::Expr& root, const std::string& name,
                      const std::function<expr::Expr(const expr::Expr& load)>& f);

/// Drops the directives that `gone` names, and those that require them; positions stay right. False where the culprit
/// one is among them: then the case is no longer one.
bool drop_directives(KernelCase& kernel, const std::function<bool(const expr::Directive&)>& gone);

/// Directives that `granted` names need not be asked for any more: no other requires them.
void release(KernelCase& kernel, const std::function<bool(const expr::Directive&)>& granted);

/// Drops stages that no output needs, with their directives, and inputs that no stage loads.
bool drop_unused(KernelCase& kernel);

}  // namespace whittle::reduce::kernel
