// Where in the main file text can be put around a statement or an expression; nowhere inside macros.
// Internal: includes Clang's headers.
#pragma once

#include <optional>
#include <utility>

#include "frontends/clang/semantics.h"

namespace whittle::cpp {

class Places {
  public:
    explicit Places(const Semantics& semantics)
        : sources_(semantics.sources()), options_(semantics.context().getLangOpts()) {}

    // All are offsets in the file.
    std::optional<std::size_t> before(const clang::Stmt* s) const;
    /// Behind it and its ';'.
    std::optional<std::size_t> after(const clang::Stmt* s) const;
    /// Begin and end of an expression that can be wrapped.
    std::optional<std::pair<std::size_t, std::size_t>> around(const clang::Expr* e) const;

    /// A statement's own text: of control statements, up to the closing parenthesis.
    static clang::SourceRange head(const clang::Stmt* s);

  private:
    bool behind_pragma(std::size_t place) const;

    clang::SourceManager& sources_;
    const clang::LangOptions& options_;
};

}  // namespace whittle::cpp
