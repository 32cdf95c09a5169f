// A walk over statements. Internal: includes Clang's headers.
#pragma once

#include <clang/AST/Stmt.h>

#include <functional>

namespace whittle::cpp {

/// What of a statement is walked over.
enum class Code { written, implicit_too };

/// Calls `visit` for the statement and for all within it, parents first, until it returns false. Clang's visitor is a
/// template that takes seconds to compile: this is its one instance for walks that look at statements alone.
void walk_statements(const clang::Stmt* root, Code code, const std::function<bool(const clang::Stmt*)>& visit);

}  // namespace whittle::cpp
