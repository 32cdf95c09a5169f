#include "frontends/clang/interest.h"

#include "frontends/clang/walk.h"

namespace whittle::cpp {

using namespace clang;

bool worth_probes(const Semantics& semantics, const Stmt* body) {
    bool found = false;
    walk_statements(body, Code::implicit_too, [&](const Stmt* statement) {
        const auto* e = dyn_cast<Expr>(statement);
        if (!e) return true;
        found = e->isTypeDependent() || semantics.holds_tensor(e->getType()) || semantics.effect(e);
        if (const auto* call = dyn_cast<CallExpr>(e); call && !found)
            found = semantics.is_foreign(call->getDirectCallee());
        return !found;
    });
    return found;
}

bool may_be_constant(const Stmt* body) {
    bool possible = true;
    walk_statements(body, Code::written, [&](const Stmt* statement) {
        const FunctionDecl* function = nullptr;
        if (const auto* call = dyn_cast<CallExpr>(statement)) function = call->getDirectCallee();
        if (const auto* made = dyn_cast<CXXConstructExpr>(statement)) function = made->getConstructor();
        possible = !function || function->isConstexpr();
        return possible;
    });
    return possible;
}

bool worth_telling(const Semantics& semantics, const Expr* condition, bool loop) {
    if (condition->isTypeDependent() || condition->isValueDependent()) return true;
    bool found = false;
    walk_statements(condition, Code::written, [&](const Stmt* statement) {
        if (const auto* e = dyn_cast<Expr>(statement)) found = semantics.is_tensor(e->getType());
        if (const auto* c = dyn_cast<CallExpr>(statement); c && semantics.is_foreign(c->getDirectCallee()))
            found = true;
        if (const auto* d = dyn_cast<DeclRefExpr>(statement); d && !loop && isa<ParmVarDecl>(d->getDecl()))
            found = true;
        return !found;
    });
    return found;
}

}  // namespace whittle::cpp
