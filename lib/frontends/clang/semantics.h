// What C++ expressions mean for capture: which types are tensors, which expressions hand tensor data to the host, which
// have effects that capture can neither undo nor repeat. Internal: includes Clang's headers.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "frontends/cpp/analysis.h"

namespace whittle::cpp {

/// The qualified name as reports say it: without anonymous and inline namespaces.
std::string qualified_name(const clang::NamedDecl& declaration);

/// Why an expression is a read of tensor data, or needs it.
struct Read {
    BreakKind kind;  ///< item, compare, data_pointer, dynamic_shape or backward
    bool possible;
    std::string reason;  ///< ".item<float>() reads tensor data"
};

/// Input or output of the program.
struct Effect {
    std::string what;     ///< "stream output", "C output" …
    std::string by = {};  ///< the C function that does it, where many do the same
};

class Semantics {
  public:
    explicit Semantics(clang::ASTContext& context) : context_(context), sources_(context.getSourceManager()) {}

    clang::ASTContext& context() const { return context_; }
    clang::SourceManager& sources() const { return sources_; }

    /// A class that identifies tensors (unsafeGetTensorImpl() or whittle_identity(), own or inherited), or a reference
    /// to one. By what it offers, so that every library's tensor is one.
    bool is_tensor(clang::QualType type) const;
    /// A tensor, or a pointer to, container, tuple or optional of tensors.
    bool holds_tensor(clang::QualType type) const { return holds_tensor(type, 0); }

    /// What `expression` itself (not its parts) reads.
    std::optional<Read> read(const clang::Expr* expression) const;
    /// The first read in `tree`, lambdas excluded; follows calls of functions whose bodies are in user files.
    std::optional<Read> find_read(const clang::Stmt* tree) const;

    /// Nothing when `expression` itself is no input or output.
    std::optional<Effect> effect(const clang::Expr* expression) const;
    /// The name of the function called, when its body cannot be seen, it is in no library we know, and it gets a
    /// tensor.
    std::string unknown_call(const clang::Expr* expression) const;
    /// Whether a call of this function may issue ops or have effects: it belongs to neither the standard library nor
    /// the compiler.
    bool is_foreign(const clang::FunctionDecl* function) const;

    bool in_main_file(clang::SourceLocation place) const;
    /// The range in the file that the user sees, macros expanded where they are used.
    Range range(clang::SourceRange range) const;
    /// The source text of that range, on one line, at most `limit` bytes.
    std::string text(clang::SourceRange range, std::size_t limit = 160) const;
    /// The source line where `place` is, without indentation.
    std::string line(clang::SourceLocation place) const;

  private:
    bool identifies_tensors(const clang::CXXRecordDecl* record) const;
    bool holds_tensor(clang::QualType type, int depth) const;
    std::optional<Read> member_read(const clang::CXXMemberCallExpr* call) const;
    std::optional<Read> function_read(const clang::CallExpr* call) const;
    std::optional<Read> index_read(const clang::CallExpr* call) const;
    bool is_mask(const clang::Expr* expression, int depth) const;
    bool returns_read(const clang::FunctionDecl* function) const;
    clang::CharSourceRange visible(clang::SourceRange range) const;

    clang::ASTContext& context_;
    clang::SourceManager& sources_;
    mutable std::map<const clang::CXXRecordDecl*, bool> tensors_;
    mutable std::map<const clang::FunctionDecl*, bool> returns_read_;
};

}  // namespace whittle::cpp
