// Indexing with tensors: numbers gather, masks select, and then the size of the result is data.
#include "frontends/clang/semantics.h"

#include <algorithm>
#include <string_view>

namespace whittle::cpp {

using namespace clang;

namespace {

constexpr int kDeep = 8;  // operators and variables on the way to a comparison

bool makes_mask(const FunctionDecl* function) {
    constexpr std::string_view kNames[] = {"lt",        "le",          "gt",         "ge",          "eq",
                                           "ne",        "less",        "less_equal", "greater",     "greater_equal",
                                           "not_equal", "logical_and", "logical_or", "logical_xor", "logical_not",
                                           "isnan",     "isinf",       "isfinite",   "isposinf",    "isneginf"};
    if (!function || !function->getIdentifier()) return false;
    const StringRef name = function->getName();
    return std::find(std::begin(kNames), std::end(kNames), std::string_view(name.data(), name.size())) !=
           std::end(kNames);
}

/// Calls f(expression) for the outermost ones that are tensors, among what constructors and lists make indices of.
template <class F>
void for_each_index(const Semantics& semantics, const Stmt* tree, F&& f) {
    const auto* expression = dyn_cast_or_null<Expr>(tree);
    if (!expression || isa<LambdaExpr>(expression)) return;
    if (semantics.is_tensor(expression->getType())) return f(expression);
    if (isa<CallExpr>(expression)) return;  // makes something else of tensors
    for (const Stmt* child : expression->children()) for_each_index(semantics, child, f);
}

}  // namespace

/// Of a comparison, or of such put together, as far as the source shows it.
bool Semantics::is_mask(const Expr* expression, int depth) const {
    if (!expression || depth > kDeep) return false;
    expression = expression->IgnoreUnlessSpelledInSource()->IgnoreParenImpCasts();
    if (!is_tensor(expression->getType())) return false;
    if (const auto* name = dyn_cast<DeclRefExpr>(expression)) {
        const auto* variable = dyn_cast<VarDecl>(name->getDecl());
        return variable && !isa<ParmVarDecl>(variable) && is_mask(variable->getInit(), depth + 1);
    }
    const auto part = [&](const CallExpr* call, unsigned i) { return is_mask(call->getArg(i), depth + 1); };
    if (const auto* call = dyn_cast<CXXOperatorCallExpr>(expression)) switch (call->getOperator()) {
            case OO_Less:
            case OO_LessEqual:
            case OO_Greater:
            case OO_GreaterEqual:
            case OO_EqualEqual:
            case OO_ExclaimEqual:
            case OO_Exclaim:
                return true;
            case OO_Tilde:
                return part(call, 0);
            case OO_Amp:
            case OO_Pipe:
            case OO_Caret:
                return call->getNumArgs() == 2 && part(call, 0) && part(call, 1);
            default:
                return false;
        }
    const auto* call = dyn_cast<CallExpr>(expression);
    return call && makes_mask(call->getDirectCallee());
}

std::optional<Read> Semantics::index_read(const CallExpr* call) const {
    bool tensors = false, masks = false;
    // Of at::index() the first argument is what is indexed.
    for (unsigned i = isa<CXXMemberCallExpr>(call) ? 0 : 1; i < call->getNumArgs(); ++i)
        for_each_index(*this, call->getArg(i), [&](const Expr* index) {
            tensors = true;
            masks = masks || is_mask(index, 0);
        });
    if (!tensors) return std::nullopt;
    return Read{BreakKind::dynamic_shape, !masks,
                masks
                    ? "the size of a selection by mask depends on tensor data"
                    : "the size of the result of index() depends on tensor data if one of the index tensors is a mask"};
}

}  // namespace whittle::cpp
