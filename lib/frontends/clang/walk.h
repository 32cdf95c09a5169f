// A walk over statements. Internal: includes Clang's headers.
#pragma once

#include <clang/AST/Stmt.h>
#include <llvm/ADT/STLExtras.h>

namespace whittle::cpp {

/// What of a statement is walked over.
enum class Code { written, implicit_too };

/// Calls `visit` for the statement and for all within it, parents first, until it returns false. Clang's visitor is a
/// template that takes seconds to compile: this is its one instance for walks that look at statements alone.
void walk_statements(const clang::Stmt* root, Code code, llvm::function_ref<bool(const clang::Stmt*)> visit);

}  // namespace whittle::cpp
