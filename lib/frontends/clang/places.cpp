#include "frontends/clang/places.h"

#include <clang/Lex/Lexer.h>

namespace whittle::cpp {

using namespace clang;

/// Where text can be put in front of a statement; none inside macros.
std::optional<std::size_t> Places::before(const Stmt* s) const {
    SourceLocation place = s->getBeginLoc();
    if (place.isMacroID()) {
        SourceLocation start;
        if (sources_.isMacroArgExpansion(place) || !Lexer::isAtStartOfMacroExpansion(place, sources_, options_, &start))
            return std::nullopt;
        place = start;
    }
    if (!place.isFileID() || !sources_.isInMainFile(place) || behind_pragma(sources_.getFileOffset(place)))
        return std::nullopt;
    return sources_.getFileOffset(place);
}

/// Whether the line before is a pragma: it speaks of the statement that follows.
bool Places::behind_pragma(std::size_t place) const {
    const StringRef before = sources_.getBufferData(sources_.getMainFileID()).take_front(place).rtrim();
    StringRef line = before.substr(before.rfind('\n') + 1).ltrim();  // npos + 1 is 0
    return line.consume_front("#") && line.ltrim().take_front(6) == "pragma";
}

/// Where text can be put behind a statement and its ';'.
std::optional<std::size_t> Places::after(const Stmt* s) const {
    if (const auto* i = dyn_cast<IfStmt>(s)) return after(i->getElse() ? i->getElse() : i->getThen());
    if (const auto* i = dyn_cast<ForStmt>(s)) return after(i->getBody());
    if (const auto* i = dyn_cast<WhileStmt>(s)) return after(i->getBody());
    if (const auto* i = dyn_cast<CXXForRangeStmt>(s)) return after(i->getBody());
    if (const auto* i = dyn_cast<SwitchStmt>(s)) return after(i->getBody());
    if (const auto* i = dyn_cast<SwitchCase>(s)) return after(i->getSubStmt());
    if (const auto* i = dyn_cast<LabelStmt>(s)) return after(i->getSubStmt());
    if (const auto* i = dyn_cast<AttributedStmt>(s)) return after(i->getSubStmt());
    SourceLocation place = s->getEndLoc();
    if (place.isMacroID()) {
        SourceLocation end;
        if (sources_.isMacroArgExpansion(place) || !Lexer::isAtEndOfMacroExpansion(place, sources_, options_, &end))
            return std::nullopt;
        place = end;
    }
    if (!place.isFileID() || !sources_.isInMainFile(place)) return std::nullopt;
    const bool ends_itself = isa<CompoundStmt, DeclStmt, CXXTryStmt, NullStmt>(s);  // with '}' or ';'
    const SourceLocation end = ends_itself ? Lexer::getLocForEndOfToken(place, 0, sources_, options_)
                                           : Lexer::findLocationAfterToken(place, tok::semi, sources_, options_, false);
    if (end.isInvalid()) return std::nullopt;
    return sources_.getFileOffset(end);
}

/// Begin and end of an expression that can be wrapped; none inside macros.
std::optional<std::pair<std::size_t, std::size_t>> Places::around(const Expr* e) const {
    SourceLocation begin = e->getBeginLoc(), end = e->getEndLoc(), whole;
    if (begin.isMacroID()) {
        if (sources_.isMacroArgExpansion(begin) || !Lexer::isAtStartOfMacroExpansion(begin, sources_, options_, &whole))
            return std::nullopt;
        begin = whole;
    }
    if (end.isMacroID()) {
        if (sources_.isMacroArgExpansion(end) || !Lexer::isAtEndOfMacroExpansion(end, sources_, options_, &whole))
            return std::nullopt;
        end = whole;
    }
    if (!sources_.isInMainFile(begin) || !sources_.isInMainFile(end)) return std::nullopt;
    const SourceLocation behind = Lexer::getLocForEndOfToken(end, 0, sources_, options_);
    if (behind.isInvalid()) return std::nullopt;
    return std::pair(sources_.getFileOffset(begin), sources_.getFileOffset(behind));
}

/// A statement's own text: of control statements, up to the closing parenthesis.
SourceRange Places::head(const Stmt* s) {
    if (const auto* i = dyn_cast<IfStmt>(s)) return {i->getBeginLoc(), i->getRParenLoc()};
    if (const auto* i = dyn_cast<ForStmt>(s)) return {i->getBeginLoc(), i->getRParenLoc()};
    if (const auto* i = dyn_cast<WhileStmt>(s)) return {i->getBeginLoc(), i->getRParenLoc()};
    if (const auto* i = dyn_cast<SwitchStmt>(s)) return {i->getBeginLoc(), i->getRParenLoc()};
    if (const auto* i = dyn_cast<CXXForRangeStmt>(s)) return {i->getBeginLoc(), i->getRParenLoc()};
    if (isa<DoStmt, CXXTryStmt>(s)) return {s->getBeginLoc(), s->getBeginLoc()};
    return s->getSourceRange();
}

}  // namespace whittle::cpp
