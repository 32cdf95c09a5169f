// Predicting breaks: a walk over each function body that remembers in which condition or effect it is.
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <deque>
#include <set>

#include "frontends/clang/visit.h"

namespace whittle::cpp {

using namespace clang;

namespace {

/// The condition that the walk is inside of.
struct Branch {
    std::string what;  ///< "if", "while" …
    SourceRange range;
    bool reported = false;  ///< one branch is one break, however many reads decide it
};

struct Context {
    Branch* branch = nullptr;
    bool in_effect = false;  ///< reads are part of a break already reported
};

/// What the walk finds in one function; the instantiations of a template add to the same one.
struct Finding {
    std::vector<Prediction> predictions;
    std::set<const Decl*> calls;
    bool tensors = false;
};

const Decl* identity(const FunctionDecl* function) {
    if (const FunctionDecl* pattern = function->getTemplateInstantiationPattern()) function = pattern;
    return function->getCanonicalDecl();
}

class Predictor : public RecursiveASTVisitor<Predictor> {
  public:
    Predictor(const Semantics& semantics, FunctionList& functions) : semantics_(semantics), functions_(functions) {}

    bool shouldVisitTemplateInstantiations() const { return true; }
    bool TraverseDecl(Decl* decl) {
        if (decl && !isa<TranslationUnitDecl, NamespaceDecl, LinkageSpecDecl>(decl) &&
            !semantics_.in_main_file(decl->getLocation()))
            return true;
        return RecursiveASTVisitor::TraverseDecl(decl);
    }
    bool VisitFunctionDecl(FunctionDecl* function) {
        const auto* method = dyn_cast<CXXMethodDecl>(function);
        if (method && method->getParent()->isLambda()) return true;  // walked with the function around it
        if (method && semantics_.is_tensor(semantics_.context().getRecordType(method->getParent())))
            return true;  // how a tensor works is not for its users to avoid
        if (function->doesThisDeclarationHaveABody() && !function->isDependentContext() && !function->isDefaulted() &&
            semantics_.in_main_file(function->getLocation()))
            walk_function(function, qualified_name(*function));
        return true;
    }

    std::vector<Prediction> finish();

  private:
    void walk_function(const FunctionDecl* function, const std::string& name);
    void walk_lambda(const LambdaExpr* lambda);
    void walk(const Stmt* statement, Context context);
    bool walk_control(const Stmt* statement, Context context);
    void walk_condition(const char* what, const Stmt* condition, const VarDecl* variable, Context context);
    void walk_expression(const Expr* expression, Context& context);
    void emit(PredictedKind kind, bool possible, SourceRange range, std::string reason);
    std::string io_reason(const Expr* expression, const Effect& effect) const;
    bool prints_tensor(const Expr* expression) const;

    const Semantics& semantics_;
    FunctionList& functions_;
    std::map<std::size_t, Finding> findings_;       // by position in functions_
    std::map<const Decl*, std::size_t> positions_;  // of functions of the main file
    std::size_t current_ = 0;
    std::string name_;
};

void Predictor::walk_function(const FunctionDecl* function, const std::string& name) {
    const Stmt* body = function->getBody();
    if (!body) return;
    const std::size_t outer = current_;
    const std::string outer_name = name_;
    current_ = functions_.add(body, name);
    name_ = name;
    positions_[identity(function)] = current_;
    for (const ParmVarDecl* parameter : function->parameters())
        if (semantics_.holds_tensor(parameter->getType())) findings_[current_].tensors = true;
    if (const auto* constructor = dyn_cast<CXXConstructorDecl>(function))
        for (const CXXCtorInitializer* initializer : constructor->inits())
            if (initializer->isWritten()) walk(initializer->getInit(), {});
    walk(body, {});
    current_ = outer;
    name_ = outer_name;
}

void Predictor::walk_lambda(const LambdaExpr* lambda) {
    const CXXMethodDecl* call = lambda->getCallOperator();
    findings_[current_].calls.insert(identity(call));
    const std::string name = name_ + "::lambda";
    if (const FunctionTemplateDecl* generic = call->getDescribedFunctionTemplate()) {
        for (const FunctionDecl* instance : generic->specializations()) walk_function(instance, name);
        positions_[identity(call)] = functions_.add(lambda->getBody(), name);
    } else {
        walk_function(call, name);
    }
}

void Predictor::emit(PredictedKind kind, bool possible, SourceRange range, std::string reason) {
    findings_[current_].predictions.push_back({kind, possible, semantics_.range(range), current_,
                                               semantics_.text(range), semantics_.line(range.getBegin()),
                                               std::move(reason)});
}

void Predictor::walk_condition(const char* what, const Stmt* condition, const VarDecl* variable, Context context) {
    if (variable) condition = variable->getInit();
    if (!condition) return;
    Branch branch{what, variable ? variable->getSourceRange() : condition->getSourceRange()};
    if (!context.branch) context.branch = &branch;  // the outer condition is what the user looks at
    walk(condition, context);
}

/// Statements with conditions. Returns false for the others.
bool Predictor::walk_control(const Stmt* statement, Context context) {
    if (const auto* s = dyn_cast<IfStmt>(statement)) {
        walk(s->getInit(), context);
        if (!s->isConstexpr()) walk_condition("if", s->getCond(), s->getConditionVariable(), context);
        walk(s->getThen(), context), walk(s->getElse(), context);
    } else if (const auto* s = dyn_cast<WhileStmt>(statement)) {
        walk_condition("while", s->getCond(), s->getConditionVariable(), context);
        walk(s->getBody(), context);
    } else if (const auto* s = dyn_cast<DoStmt>(statement)) {
        walk(s->getBody(), context);
        walk_condition("do", s->getCond(), nullptr, context);
    } else if (const auto* s = dyn_cast<ForStmt>(statement)) {
        walk(s->getInit(), context);
        walk_condition("for", s->getCond(), s->getConditionVariable(), context);
        walk(s->getInc(), context), walk(s->getBody(), context);
    } else if (const auto* s = dyn_cast<SwitchStmt>(statement)) {
        walk(s->getInit(), context);
        walk_condition("switch", s->getCond(), s->getConditionVariable(), context);
        walk(s->getBody(), context);
    } else if (const auto* s = dyn_cast<CXXForRangeStmt>(statement)) {
        walk(s->getInit(), context), walk(s->getRangeInit(), context), walk(s->getBody(), context);
    } else if (const auto* s = dyn_cast<ConditionalOperator>(statement)) {
        walk_condition("?:", s->getCond(), nullptr, context);
        walk(s->getTrueExpr(), context), walk(s->getFalseExpr(), context);
    } else if (const auto* s = dyn_cast<BinaryOperator>(statement); s && s->isLogicalOp()) {
        walk_condition(s->getOpcode() == BO_LAnd ? "&&" : "||", s->getLHS(), nullptr, context);
        walk(s->getRHS(), context);
    } else {
        return false;
    }
    return true;
}

/// Whether a tensor itself goes into the stream or function.
bool Predictor::prints_tensor(const Expr* expression) const {
    const auto is_tensor = [&](const Expr* e) { return semantics_.is_tensor(e->IgnoreParenImpCasts()->getType()); };
    while (const auto* chain = dyn_cast<CXXOperatorCallExpr>(expression->IgnoreParenImpCasts())) {
        if (chain->getNumArgs() != 2) return false;
        if (is_tensor(chain->getArg(1))) return true;
        expression = chain->getArg(0);
    }
    return false;
}

std::string Predictor::io_reason(const Expr* expression, const Effect& effect) const {
    const std::string reason = effect.what + (effect.by.empty() ? "" : " by " + effect.by + "()");
    if (prints_tensor(expression)) return reason + " of a tensor";
    const auto inside = semantics_.find_read(expression);
    return inside ? reason + "; " + inside->reason : reason;
}

void Predictor::walk_expression(const Expr* expression, Context& context) {
    Finding& finding = findings_[current_];
    if (semantics_.is_tensor(expression->getType())) finding.tensors = true;
    if (const auto* call = dyn_cast<CallExpr>(expression))
        if (const FunctionDecl* function = call->getDirectCallee()) finding.calls.insert(identity(function));
    if (const auto* construct = dyn_cast<CXXConstructExpr>(expression))
        finding.calls.insert(identity(construct->getConstructor()));
    if (context.in_effect) return;

    if (const auto effect = semantics_.effect(expression)) {
        emit(BreakKind::side_effect, false, expression->getSourceRange(), io_reason(expression, *effect));
        context.in_effect = true;
    } else if (const auto read = semantics_.read(expression)) {
        if (!context.branch || (read->kind != BreakKind::item && read->kind != BreakKind::compare)) {
            emit(read->kind, read->possible, expression->getSourceRange(), read->reason);
        } else if (!std::exchange(context.branch->reported, true)) {
            emit(BreakKind::branch, read->possible, context.branch->range,
                 "branch (" + context.branch->what + ") on tensor data: " + read->reason);
        }
    } else if (const std::string unknown = semantics_.unknown_call(expression); !unknown.empty()) {
        emit(std::nullopt, true, expression->getSourceRange(),
             unknown + " receives a tensor; the code behind this call is unknown");
    }
}

void Predictor::walk(const Stmt* statement, Context context) {
    if (!statement) return;
    if (const auto* lambda = dyn_cast<LambdaExpr>(statement)) {
        for (const Expr* captured : lambda->capture_inits()) walk(captured, context);
        return walk_lambda(lambda);
    }
    if (isa<CompoundStmt>(statement)) context = {};  // of a lambda or a statement expression
    if (walk_control(statement, context)) return;
    if (const auto* expression = dyn_cast<Expr>(statement)) walk_expression(expression, context);
    for (const Stmt* child : statement->children()) walk(child, context);
}

/// Keeps what lies in functions with tensors and in what they call, directly or through others.
std::vector<Prediction> Predictor::finish() {
    std::deque<std::size_t> reached;
    std::set<std::size_t> seen;
    for (const auto& [position, finding] : findings_) {
        functions_[position].tensors = finding.tensors;
        if (finding.tensors && seen.insert(position).second) reached.push_back(position);
    }
    std::vector<Prediction> predictions;
    for (; !reached.empty(); reached.pop_front()) {
        const Finding& finding = findings_[reached.front()];
        predictions.insert(predictions.end(), finding.predictions.begin(), finding.predictions.end());
        for (const Decl* callee : finding.calls)
            if (const auto at = positions_.find(callee); at != positions_.end() && seen.insert(at->second).second)
                reached.push_back(at->second);
    }
    // The kinds of breaks in their order, then calls, which are of none.
    const auto order = [](const Prediction& p) { return std::tuple(p.range, !p.kind, p.kind, p.reason); };
    std::sort(predictions.begin(), predictions.end(),
              [&](const Prediction& a, const Prediction& b) { return order(a) < order(b); });
    // Instantiations of a template say the same again.
    predictions.erase(
        std::unique(predictions.begin(), predictions.end(),
                    [](const Prediction& a, const Prediction& b) { return a.range == b.range && a.kind == b.kind; }),
        predictions.end());
    return predictions;
}

}  // namespace

std::vector<Prediction> predict(const Semantics& semantics, FunctionList& functions) {
    Predictor predictor(semantics, functions);
    predictor.TraverseDecl(semantics.context().getTranslationUnitDecl());
    return predictor.finish();
}

}  // namespace whittle::cpp
