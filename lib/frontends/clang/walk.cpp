#include "frontends/clang/walk.h"

#include <clang/AST/RecursiveASTVisitor.h>

namespace whittle::cpp {
namespace {

class StatementWalk : public clang::RecursiveASTVisitor<StatementWalk> {
  public:
    StatementWalk(Code code, const std::function<bool(const clang::Stmt*)>& visit) : code_(code), visit_(visit) {}
    bool shouldVisitImplicitCode() const { return code_ == Code::implicit_too; }
    bool VisitStmt(clang::Stmt* statement) { return visit_(statement); }

  private:
    Code code_;
    const std::function<bool(const clang::Stmt*)>& visit_;
};

}  // namespace

void walk_statements(const clang::Stmt* root, Code code, const std::function<bool(const clang::Stmt*)>& visit) {
    StatementWalk(code, visit).TraverseStmt(const_cast<clang::Stmt*>(root));
}

}  // namespace whittle::cpp
