#include "frontends/clang/interest.h"

#include <clang/AST/RecursiveASTVisitor.h>

namespace whittle::cpp {

using namespace clang;

namespace {

class Interest : public RecursiveASTVisitor<Interest> {
  public:
    Interest(const Semantics& semantics, const Stmt* body) : semantics_(semantics) {
        TraverseStmt(const_cast<Stmt*>(body));
    }
    bool shouldVisitImplicitCode() const { return true; }
    bool VisitExpr(Expr* e) {
        found = e->isTypeDependent() || semantics_.holds_tensor(e->getType()) || semantics_.effect(e);
        if (const auto* call = dyn_cast<CallExpr>(e); call && !found)
            found = semantics_.is_foreign(call->getDirectCallee());
        return !found;
    }
    bool found = false;

  private:
    const Semantics& semantics_;
};

class Constant : public RecursiveASTVisitor<Constant> {
  public:
    explicit Constant(const Stmt* body) { TraverseStmt(const_cast<Stmt*>(body)); }
    bool VisitCallExpr(CallExpr* call) { return check(call->getDirectCallee()); }
    bool VisitCXXConstructExpr(CXXConstructExpr* e) { return check(e->getConstructor()); }
    bool possible = true;

  private:
    bool check(const FunctionDecl* function) {
        if (function && !function->isConstexpr()) possible = false;
        return possible;
    }
};

}  // namespace

bool worth_probes(const Semantics& semantics, const Stmt* body) { return Interest(semantics, body).found; }

bool may_be_constant(const Stmt* body) { return Constant(body).possible; }

bool worth_telling(const Semantics& semantics, const Expr* condition, bool loop) {
    if (condition->isTypeDependent() || condition->isValueDependent()) return true;
    struct Calls : RecursiveASTVisitor<Calls> {
        const Semantics& own;
        bool loop, found = false;
        Calls(const Semantics& s, bool in_loop) : own(s), loop(in_loop) {}
        bool VisitExpr(Expr* e) {
            if (own.is_tensor(e->getType())) found = true;
            if (const auto* c = dyn_cast<CallExpr>(e); c && own.is_foreign(c->getDirectCallee())) found = true;
            if (const auto* d = dyn_cast<DeclRefExpr>(e); d && !loop && isa<ParmVarDecl>(d->getDecl())) found = true;
            return !found;
        }
    } calls(semantics, loop);
    calls.TraverseStmt(const_cast<Expr*>(condition));
    return calls.found;
}

}  // namespace whittle::cpp
