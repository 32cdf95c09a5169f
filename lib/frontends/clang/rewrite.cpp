// Inserting probes. Every insertion is an expression, a statement or a pair of braces on the line where it stands, so
// that lines stay what they were; a construct that cannot take them is left alone and listed.
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtOpenMP.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "frontends/clang/interest.h"
#include "frontends/clang/places.h"
#include "frontends/clang/visit.h"
#include "frontends/cpp/edits.h"
#include "frontends/cpp/tables.h"
#include "probe/probe.h"

namespace whittle::cpp {

using namespace clang;

namespace {

constexpr const char* kNoPlace = "the code comes from a macro or a macro's argument, or follows a pragma";

class ProbeWriter : public RecursiveASTVisitor<ProbeWriter> {
    using Base = RecursiveASTVisitor<ProbeWriter>;

  public:
    ProbeWriter(const Semantics& semantics, FunctionList& functions, Probed& result)
        : semantics_(semantics),
          sources_(semantics.sources()),
          places_(semantics),
          functions_(functions),
          result_(result) {}

    void write() {
        for (Decl* decl : semantics_.context().getTranslationUnitDecl()->decls())
            if (semantics_.in_main_file(decl->getLocation())) TraverseDecl(decl);
        const StringRef source = sources_.getBufferData(sources_.getMainFileID());
        result_.text = edits_.apply({source.data(), source.size()});
        std::sort(result_.skipped.begin(), result_.skipped.end(), [](const Skipped& a, const Skipped& b) {
            return std::tie(a.range, a.what) < std::tie(b.range, b.what);
        });
        // What a macro makes is in one place, however much it is.
        result_.skipped.erase(
            std::unique(result_.skipped.begin(), result_.skipped.end(),
                        [](const Skipped& a, const Skipped& b) { return a.range == b.range && a.what == b.what; }),
            result_.skipped.end());
    }

    bool shouldVisitTemplateInstantiations() const { return false; }

    // ---- functions

    bool TraverseFunctionDecl(FunctionDecl* f) {
        return function(f, [&] { return Base::TraverseFunctionDecl(f); });
    }
    bool TraverseCXXMethodDecl(CXXMethodDecl* f) {
        return function(f, [&] { return Base::TraverseCXXMethodDecl(f); });
    }
    bool TraverseCXXConstructorDecl(CXXConstructorDecl* f) {
        return function(f, [&] { return Base::TraverseCXXConstructorDecl(f); });
    }
    bool TraverseCXXDestructorDecl(CXXDestructorDecl* f) {
        return function(f, [&] { return Base::TraverseCXXDestructorDecl(f); });
    }
    bool TraverseCXXConversionDecl(CXXConversionDecl* f) {
        return function(f, [&] { return Base::TraverseCXXConversionDecl(f); });
    }
    bool TraverseLambdaExpr(LambdaExpr* lambda);

    // ---- what holds no code that runs, or code that must stay a constant expression

    bool TraverseStaticAssertDecl(StaticAssertDecl*) { return true; }
    bool TraverseParmVarDecl(ParmVarDecl*) { return true; }  // default arguments are evaluated by callers
    bool TraverseTypeLoc(TypeLoc) { return true; }
    bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr*) { return true; }
    bool TraverseCXXNoexceptExpr(CXXNoexceptExpr*) { return true; }
    bool TraverseCXXTypeidExpr(CXXTypeidExpr*) { return true; }
    bool TraverseRequiresExpr(RequiresExpr*) { return true; }
    bool TraverseConceptDecl(ConceptDecl*) { return true; }
    bool TraverseEnumDecl(EnumDecl*) { return true; }
    bool TraverseStmtExpr(StmtExpr*) { return true; }  // its last statement is its value
    bool TraverseVarDecl(VarDecl* v) { return v->isConstexpr() || Base::TraverseVarDecl(v); }
    bool TraverseVarTemplateDecl(VarTemplateDecl*) { return true; }
    bool TraverseTemplateArgumentLoc(const TemplateArgumentLoc&) { return true; }
    bool TraverseCaseStmt(CaseStmt* s) { return TraverseStmt(s->getSubStmt()); }

    // ---- statements

    /// Code that several threads run at once has one frame between them.
    bool dataTraverseStmtPre(Stmt* s) {
        if (!isa<OMPExecutableDirective>(s)) return true;
        if (scope_) skip(s->getSourceRange(), "statement", "an OpenMP directive");
        return false;
    }
    bool VisitCompoundStmt(CompoundStmt* block) {
        if (scope_)
            for (Stmt* s : block->body()) statement(s);
        return true;
    }
    bool VisitIfStmt(IfStmt* s) {
        if (!scope_) return true;
        std::string names = s->getInit() ? names_in(s->getInit()) : std::string();
        if (s->getConditionVariable())
            names += names_of(s->getConditionVariable());
        else if (!s->isConstexpr())
            condition("if", s->getCond());
        body(s->getThen(), names);
        if (s->getElse() && !isa<IfStmt>(s->getElse())) body(s->getElse(), {});
        return true;
    }
    bool VisitWhileStmt(WhileStmt* s) {
        if (!scope_) return true;
        if (!s->getConditionVariable()) condition("while", s->getCond());
        body(s->getBody(), s->getConditionVariable() ? names_of(s->getConditionVariable()) : std::string());
        return true;
    }
    bool VisitDoStmt(DoStmt* s) {
        if (!scope_) return true;
        condition("do", s->getCond());
        body(s->getBody(), {});
        return true;
    }
    bool VisitForStmt(ForStmt* s) {
        if (!scope_) return true;
        if (s->getCond() && !s->getConditionVariable()) condition("for", s->getCond());
        body(s->getBody(), s->getInit() ? names_in(s->getInit()) : std::string());
        return true;
    }
    bool TraverseCXXForRangeStmt(CXXForRangeStmt* s) {  // without the statements that it stands for
        if (scope_) body(s->getBody(), names_of(s->getLoopVariable()));
        return TraverseStmt(s->getInit()) && TraverseStmt(s->getRangeInit()) && TraverseStmt(s->getBody());
    }
    bool VisitSwitchStmt(SwitchStmt* s) {
        if (scope_ && !s->getConditionVariable()) selector(s->getCond());
        return true;
    }
    bool VisitConditionalOperator(ConditionalOperator* e) {
        if (scope_) condition("?:", e->getCond());
        return true;
    }

  private:
    /// The function around what is visited.
    struct Scope {
        std::size_t position;  ///< in functions_
        std::string name, frame;
    };

    template <class Traverse>
    bool function(FunctionDecl* f, Traverse traverse);
    std::string refusal(const FunctionDecl* f) const;
    void enter(const FunctionDecl* f, const Stmt* body, const std::string& name);
    template <class Traverse>
    bool inside(const FunctionDecl* f, const Stmt* body, const std::string& name, Traverse traverse);

    void statement(Stmt* s);
    void statement_end(const Stmt* s, SourceLocation begin);
    void effects(const Stmt* s, std::string& text);
    void body(Stmt* s, const std::string& names);
    void condition(const char* what, const Expr* e);
    void selector(const Expr* e);

    std::size_t site(SiteKind kind, SourceRange range, std::string what = {});
    std::string call(const std::string& member, std::size_t site) const {
        return scope_->frame + "." + member + "(" + std::to_string(site) + ")";
    }
    bool wants_name(QualType type) const;
    std::string names_of(const Decl* d) const;
    std::string names_in(const Stmt* declaration) const;
    std::string name_call(const ValueDecl* v) const {
        return scope_->frame + ".name(" + cpp_literal(v->getName().str()) + "," + v->getName().str() + ");";
    }

    std::size_t offset(SourceLocation place) const { return sources_.getFileOffset(place); }
    void skip(SourceRange range, std::string what, std::string reason) {
        result_.skipped.push_back({semantics_.range(range), std::move(what), std::move(reason)});
    }

    const Semantics& semantics_;
    SourceManager& sources_;
    const Places places_;
    FunctionList& functions_;
    Probed& result_;
    Edits edits_;
    const Scope* scope_ = nullptr;  // null outside functions, and in functions without probes
    unsigned frames_ = 0;
    std::set<std::size_t> begun_;  // offsets of statements: one macro may hold several
};

// ---- functions

/// Why a function cannot have probes; empty when it can.
std::string ProbeWriter::refusal(const FunctionDecl* f) const {
    const Stmt* body = f->getBody();
    if (f->isConstexpr()) return f->isConsteval() ? "consteval" : "constexpr";
    if (isa<CoroutineBodyStmt>(body)) return "a coroutine";
    if (isa<CXXTryStmt>(body)) return "the body is a try block";
    if (f->hasAttr<NakedAttr>()) return "naked";
    if (f->getBeginLoc().isMacroID() || !isa<CompoundStmt>(body) || !cast<CompoundStmt>(body)->getLBracLoc().isFileID())
        return "the code comes from a macro";
    return {};
}

/// Nothing inside a function that is refused has probes either.
template <class Traverse>
bool ProbeWriter::function(FunctionDecl* f, Traverse traverse) {
    if (!semantics_.in_main_file(f->getLocation()) || !f->doesThisDeclarationHaveABody() || f->isDefaulted() ||
        f->isImplicit() || !f->getBody())
        return true;
    const Scope* const outer = std::exchange(scope_, nullptr);
    bool going = true;
    if (const std::string reason = refusal(f); !reason.empty()) {
        skip(f->getNameInfo().getSourceRange(), "function '" + qualified_name(*f) + "'", reason);
    } else if (worth_probes(semantics_, f->getBody())) {
        going = inside(f, f->getBody(), qualified_name(*f), traverse);
    }
    scope_ = outer;
    return going;
}

bool ProbeWriter::TraverseLambdaExpr(LambdaExpr* lambda) {
    const CXXMethodDecl* call = lambda->getCallOperator();
    const Stmt* const block = lambda->getBody();
    std::string reason;
    if (!lambda->getBeginLoc().isFileID() || !lambda->getEndLoc().isFileID())
        reason = "the code comes from a macro or a macro's argument";
    else if (isa<CoroutineBodyStmt>(call->getBody() ? call->getBody() : block))
        reason = "a coroutine";
    else if (call->isConstexpr() && !call->getDescribedFunctionTemplate() && may_be_constant(block))
        reason = worth_probes(semantics_, block) ? "may be a constant expression" : "";
    else if (worth_probes(semantics_, block)) {
        const std::string name = scope_ ? scope_->name + "::lambda" : "lambda";
        for (Expr* captured : lambda->capture_inits())
            if (!TraverseStmt(captured)) return false;
        return inside(call, block, name, [&] { return TraverseStmt(lambda->getBody()); });
    }
    if (!reason.empty()) skip(lambda->getIntroducerRange(), "lambda", reason);
    return true;
}

template <class Traverse>
bool ProbeWriter::inside(const FunctionDecl* f, const Stmt* body, const std::string& name, Traverse traverse) {
    const Scope scope{functions_.add(body, name), name, "whittle_frame_" + std::to_string(frames_++) + "_"};
    const Scope* const outer = std::exchange(scope_, &scope);
    enter(f, body, name);
    const bool going = traverse();
    scope_ = outer;
    return going;
}

/// The frame object, with the parameters' values.
void ProbeWriter::enter(const FunctionDecl* f, const Stmt* body, const std::string&) {
    std::string text =
        "::whittle::probe::Frame " + scope_->frame + "(whittle_probe_file_," + std::to_string(scope_->position);
    for (const ParmVarDecl* p : f->parameters()) {
        if (!p->getIdentifier() || p->isParameterPack()) continue;
        const QualType type = p->getType().getNonReferenceType();
        const bool described = type->isDependentType() || type->isArithmeticType() || type->isEnumeralType() ||
                               semantics_.holds_tensor(type) ||
                               (type->isPointerType() && type->getPointeeType()->isCharType()) ||
                               (type->getAsCXXRecordDecl() && type->getAsCXXRecordDecl()->isInStdNamespace());
        const std::string quoted_name = cpp_literal(p->getName().str());
        text += described ? ",::whittle::probe::named(" + quoted_name + "," + p->getName().str() + ")"
                          : ",::whittle::probe::Opaque{" + quoted_name + "}";
    }
    edits_.end(offset(cast<CompoundStmt>(body)->getLBracLoc()) + 1, text + ");");
}

std::size_t ProbeWriter::site(SiteKind kind, SourceRange range, std::string what) {
    result_.sites.push_back({kind, scope_->position, semantics_.range(range), semantics_.text(range), std::move(what)});
    return result_.sites.size() - 1;
}

// ---- names

bool ProbeWriter::wants_name(QualType type) const {
    if (type.isNull()) return true;
    if (type->isDependentType()) return true;
    const AutoType* deduced = type->getContainedAutoType();
    return semantics_.holds_tensor(type) || (deduced && !deduced->isDeduced());
}

std::string ProbeWriter::names_of(const Decl* d) const {
    std::string text;
    if (const auto* group = dyn_cast<DecompositionDecl>(d)) {
        for (const BindingDecl* b : group->bindings())
            if (b->getIdentifier() && wants_name(b->getType())) text += name_call(b);
    } else if (const auto* v = dyn_cast<VarDecl>(d)) {
        if (v->getIdentifier() && wants_name(v->getType()) && !v->isConstexpr()) text += name_call(v);
    }
    return text;
}

std::string ProbeWriter::names_in(const Stmt* declaration) const {
    std::string text;
    if (const auto* s = dyn_cast<DeclStmt>(declaration))
        for (const Decl* d : s->decls()) text += names_of(d);
    return text;
}

// ---- statements

/// The effects of a statement's own expressions, one probe each.
void ProbeWriter::effects(const Stmt* s, std::string& text) {
    if (!s || isa<LambdaExpr>(s) || isa<CompoundStmt>(s)) return;
    if (const auto* e = dyn_cast<Expr>(s)) {
        if (const auto effect = semantics_.effect(e)) {
            text += call("effect", site(SiteKind::effect, e->getSourceRange(), effect->what)) + ";";
            return;
        }
    }
    if (const auto* i = dyn_cast<IfStmt>(s)) return effects(i->getInit(), text), effects(i->getCond(), text);
    if (const auto* i = dyn_cast<SwitchStmt>(s)) return effects(i->getInit(), text), effects(i->getCond(), text);
    if (const auto* i = dyn_cast<ForStmt>(s)) return effects(i->getInit(), text), effects(i->getCond(), text);
    if (const auto* i = dyn_cast<WhileStmt>(s)) return effects(i->getCond(), text);
    if (const auto* i = dyn_cast<CXXForRangeStmt>(s)) return effects(i->getRangeInit(), text);
    if (isa<DoStmt, CXXTryStmt>(s)) return;
    for (const Stmt* child : s->children()) effects(child, text);
}

/// `s` stands in a block, or in braces put around it.
void ProbeWriter::statement(Stmt* s) {
    while (isa<SwitchCase, LabelStmt>(s))  // probes stand behind labels
        s = isa<SwitchCase>(s) ? cast<SwitchCase>(s)->getSubStmt() : cast<LabelStmt>(s)->getSubStmt();
    if (isa<NullStmt, CompoundStmt, CXXCatchStmt, OMPExecutableDirective>(s)) return;
    if (const auto* a = dyn_cast<AttributedStmt>(s); a && isa<NullStmt>(a->getSubStmt())) return;  // [[fallthrough]];
    if (const auto* d = dyn_cast<DeclStmt>(s))
        if (std::none_of(d->decl_begin(), d->decl_end(), [](const Decl* x) { return isa<VarDecl>(x); })) return;
    const auto place = places_.before(s);
    if (!place) return skip(s->getSourceRange(), "statement", kNoPlace);
    if (!begun_.insert(*place).second) return;
    std::string text = call("at", site(SiteKind::statement, places_.head(s))) + ";";
    effects(s, text);
    edits_.begin(*place, text);

    std::string names = names_in(s);
    if (const auto* e = dyn_cast<Expr>(s)) {
        const Expr* target = nullptr;
        const Expr* inner = e->IgnoreImplicit();
        if (const auto* o = dyn_cast<CXXOperatorCallExpr>(inner); o && o->isAssignmentOp()) target = o->getArg(0);
        if (const auto* o = dyn_cast<BinaryOperator>(inner); o && o->isAssignmentOp()) target = o->getLHS();
        const auto* variable = target ? dyn_cast<DeclRefExpr>(target->IgnoreParenImpCasts()) : nullptr;
        if (variable && variable->getDecl()->getIdentifier() && !variable->hasQualifier() &&
            wants_name(variable->getType()))
            names = name_call(variable->getDecl());
    }
    if (names.empty()) return;
    if (const auto end = places_.after(s))
        edits_.end(*end, names);
    else
        skip(s->getSourceRange(), "names", "the code follows a macro");
}

/// The body of a control statement: braces are put around a single statement; `names` are told first.
void ProbeWriter::body(Stmt* s, const std::string& names) {
    Stmt* inner = s;
    while (auto* attributed = dyn_cast<AttributedStmt>(inner)) inner = attributed->getSubStmt();
    if (isa<NullStmt, OMPExecutableDirective>(inner)) return;
    if (const auto* block = dyn_cast<CompoundStmt>(inner)) {
        if (!names.empty() && block->getLBracLoc().isFileID()) edits_.end(offset(block->getLBracLoc()) + 1, names);
        return;
    }
    const auto begin = places_.before(s), end = places_.after(s);
    if (!begin || !end) return skip(s->getSourceRange(), "statement", kNoPlace);
    edits_.begin(*begin, "{" + names);
    edits_.end(*end, "}");
    statement(s);
}

// ---- conditions

void ProbeWriter::condition(const char* what, const Expr* e) {
    if (!e->isValueDependent() && !e->isTypeDependent() && e->isEvaluatable(semantics_.context())) return;
    const StringRef kind = what;
    if (!worth_telling(semantics_, e, kind == "for" || kind == "while" || kind == "do")) return;
    const auto place = places_.around(e);
    if (!place) return skip(e->getSourceRange(), "condition", "the code comes from a macro or a macro's argument");
    const std::size_t number = site(SiteKind::branch, e->getSourceRange(), what);
    const std::string id = std::to_string(number);
    edits_.begin(place->first, scope_->frame + ".test(" + id + ",(" + call("before", number) + ",static_cast<bool>(");
    edits_.end(place->second, ")))");
}

void ProbeWriter::selector(const Expr* e) {
    const Expr* written = e->IgnoreImplicit();
    if (e->isTypeDependent() || e->isEvaluatable(semantics_.context()) || !worth_telling(semantics_, e, false)) return;
    if (!written->getType()->isIntegralOrEnumerationType() || written->getObjectKind() != OK_Ordinary) return;
    const auto place = places_.around(written);
    if (!place) return skip(e->getSourceRange(), "condition", "the code comes from a macro or a macro's argument");
    const std::size_t number = site(SiteKind::branch, e->getSourceRange(), WHITTLE_PROBE_SWITCH);
    edits_.begin(place->first,
                 scope_->frame + ".select(" + std::to_string(number) + ",(" + call("before", number) + ",");
    edits_.end(place->second, "))");
}

}  // namespace

void insert_probes(const Semantics& semantics, FunctionList& functions, Probed& result) {
    ProbeWriter(semantics, functions, result).write();
}

}  // namespace whittle::cpp
