#include "frontends/clang/semantics.h"

#include "frontends/clang/walk.h"
#include "ops/aten/capture.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/Builtins.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace whittle::cpp {

std::string qualified_name(const clang::NamedDecl& declaration) {
    clang::PrintingPolicy policy = declaration.getASTContext().getPrintingPolicy();
    policy.SuppressUnwrittenScope = true;
    std::string text;
    llvm::raw_string_ostream out(text);
    declaration.printQualifiedName(out, policy);
    return out.str();
}

using namespace clang;

namespace {

bool one_of(StringRef name, std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), std::string_view(name.data(), name.size())) != names.end();
}

/// Whether a declaration lies in one of these top-level namespaces.
bool in_namespace(const Decl* declaration, std::initializer_list<std::string_view> names) {
    for (const DeclContext* c = declaration->getDeclContext(); c; c = c->getParent())
        if (const auto* space = dyn_cast<NamespaceDecl>(c))
            if (space->getParent()->getRedeclContext()->isTranslationUnit() && one_of(space->getName(), names))
                return true;
    return false;
}

bool is_tensor_library(const Decl* d) { return in_namespace(d, {"at", "torch", "c10", "caffe2", "whittle"}); }
bool is_autograd(const Decl* d) {
    const auto* space = dyn_cast<NamespaceDecl>(d->getDeclContext());
    return space && space->getName() == "autograd";
}
bool is_standard_library(const Decl* d) { return in_namespace(d, {"std", "__gnu_cxx", "__cxxabiv1"}); }

StringRef plain_name(const FunctionDecl* function) {
    return function && function->getIdentifier() ? function->getName() : StringRef();
}

const CXXRecordDecl* record_of(QualType type) {
    if (type.isNull()) return nullptr;
    type = type.getNonReferenceType();
    return type->getAsCXXRecordDecl();
}

/// What a tensor says of itself without its elements: no data is read.
bool is_metadata(StringRef name) {
    return one_of(name, {"size",
                         "sizes",
                         "dim",
                         "ndimension",
                         "numel",
                         "stride",
                         "strides",
                         "dtype",
                         "scalar_type",
                         "type",
                         "device",
                         "layout",
                         "defined",
                         "requires_grad",
                         "is_leaf",
                         "is_contiguous",
                         "itemsize",
                         "nbytes",
                         "element_size",
                         "has_storage",
                         "storage_offset",
                         "is_cuda",
                         "is_cpu",
                         "is_sparse",
                         "is_floating_point",
                         "is_complex",
                         "is_signed",
                         "use_count",
                         "weak_use_count",
                         "unsafeGetTensorImpl",
                         "whittle_identity",
                         "options",
                         "is_same",
                         "is_same_size",
                         "get_device",
                         "output_nr",
                         "_version",
                         "name",
                         "key_set",
                         "retains_grad",
                         "is_view",
                         "is_inference",
                         "has_names",
                         "is_quantized",
                         "is_non_overlapping_and_dense",
                         "toString",
                         "sym_size",
                         "rank"});
}

/// What ATen's function of that name does.
CaptureRole role_of(StringRef name) { return capture_role({name.data(), name.size()}); }

bool is_host_value(QualType type) {
    type = type.getNonReferenceType();
    if (type->isArithmeticType() || type->isEnumeralType()) return true;
    const CXXRecordDecl* record = type->getAsCXXRecordDecl();
    return record && (record->getName() == "Scalar" || record->getName() == "basic_string");
}

/// A stream, by its class or a base; `text_only` becomes true for streams into strings.
bool is_stream(const CXXRecordDecl* record, bool& text_only) {
    if (!record) return false;
    const StringRef name = record->getIdentifier() ? record->getName() : StringRef();
    if (one_of(name, {"basic_ostringstream", "basic_istringstream", "basic_stringstream"})) return text_only = true;
    if (one_of(name, {"basic_ostream", "basic_istream", "basic_iostream"})) return true;
    if (!record->hasDefinition()) return false;
    for (const CXXBaseSpecifier& base : record->getDefinition()->bases())
        if (is_stream(base.getType()->getAsCXXRecordDecl(), text_only)) return true;
    return false;
}

/// The object at the left of `a << b << c`, or what such a call is a member of.
const Expr* stream_root(const Expr* expression) {
    for (;;) {
        expression = expression->IgnoreParenImpCasts();
        if (const auto* call = dyn_cast<CXXOperatorCallExpr>(expression); call && call->getNumArgs() == 2)
            expression = call->getArg(0);
        else if (const auto* member = dyn_cast<CXXMemberCallExpr>(expression))
            expression = member->getImplicitObjectArgument();
        else
            return expression;
    }
}

std::optional<Effect> stream_effect(const Expr* expression, bool output) {
    bool text_only = false;
    is_stream(record_of(stream_root(expression)->getType()), text_only);
    if (text_only) return {};
    return Effect{output ? "stream output" : "stream input"};
}

std::optional<Effect> c_effect(StringRef name) {
    if (one_of(name, {"printf", "fprintf", "vprintf", "vfprintf", "dprintf", "puts", "fputs", "putchar", "putc",
                      "fputc", "fwrite", "perror", "fflush", "write", "pwrite", "writev"}))
        return Effect{"C output", name.str()};
    if (one_of(name, {"scanf", "fscanf", "vscanf", "gets", "fgets", "getchar", "getc", "fgetc", "fread", "read",
                      "pread", "readv"}))
        return Effect{"C input", name.str()};
    if (one_of(name, {"fopen", "fclose", "open", "close", "remove", "rename", "unlink"})) return Effect{"file access"};
    if (one_of(name, {"system", "popen", "fork", "execv", "execvp", "execve"})) return Effect{"another program"};
    return {};
}

}  // namespace

// ---- types

bool Semantics::identifies_tensors(const CXXRecordDecl* record) const {
    if (!record || !record->hasDefinition()) return false;
    record = record->getDefinition();
    if (const auto known = tensors_.find(record); known != tensors_.end()) return known->second;
    tensors_[record] = false;
    bool found = false;
    for (const CXXMethodDecl* method : record->methods())
        found = found || one_of(plain_name(method), {"unsafeGetTensorImpl", "whittle_identity"});
    for (const CXXBaseSpecifier& base : record->bases())
        found = found || identifies_tensors(base.getType()->getAsCXXRecordDecl());
    return tensors_[record] = found;
}

bool Semantics::is_tensor(QualType type) const { return identifies_tensors(record_of(type)); }

bool Semantics::holds_tensor(QualType type, int depth) const {
    if (type.isNull() || depth > 4) return false;
    type = type.getNonReferenceType();
    if (type->isPointerType() || type->isArrayType())
        return holds_tensor(
            type->isPointerType() ? type->getPointeeType() : QualType(type->getArrayElementTypeNoTypeQual(), 0),
            depth + 1);
    const CXXRecordDecl* record = type->getAsCXXRecordDecl();
    if (!record) return false;
    if (identifies_tensors(record)) return true;
    const auto* specialization = dyn_cast<ClassTemplateSpecializationDecl>(record);
    if (!specialization) return false;
    for (const TemplateArgument& argument : specialization->getTemplateArgs().asArray()) {
        if (argument.getKind() == TemplateArgument::Type && holds_tensor(argument.getAsType(), depth + 1)) return true;
        if (argument.getKind() == TemplateArgument::Pack)
            for (const TemplateArgument& element : argument.pack_elements())
                if (element.getKind() == TemplateArgument::Type && holds_tensor(element.getAsType(), depth + 1))
                    return true;
    }
    return false;
}

// ---- reads

std::optional<Read> Semantics::member_read(const CXXMemberCallExpr* call) const {
    const CXXMethodDecl* method = call->getMethodDecl();
    if (!method || !is_tensor(call->getObjectType())) return std::nullopt;
    const QualType result = call->getType();
    if (isa<CXXConversionDecl>(method)) {
        if (!is_host_value(result)) return std::nullopt;
        return Read{
            BreakKind::item, false,
            "conversion of a tensor to " + result.getUnqualifiedType().getAsString(context_.getPrintingPolicy())};
    }
    const StringRef name = plain_name(method);
    if (name == "backward") return Read{BreakKind::backward, false, ".backward() runs a backward pass"};
    if (role_of(name) == CaptureRole::dynamic_shape)
        return Read{BreakKind::dynamic_shape, false,
                    "the size of the result of ." + name.str() + "() depends on tensor data"};
    if (role_of(name) == CaptureRole::indexes) return index_read(call);
    if (name.empty() || is_tensor(result)) return std::nullopt;
    if (one_of(name, {"data_ptr", "mutable_data_ptr", "const_data_ptr", "data", "accessor", "packed_accessor",
                      "packed_accessor32", "packed_accessor64", "storage"}))
        return Read{BreakKind::data_pointer, true, "." + name.str() + "() gives access to tensor data"};
    if (!is_metadata(name) && is_host_value(result))
        return Read{role_of(name) == CaptureRole::compares ? BreakKind::compare : BreakKind::item, false,
                    "." + name.str() + "() reads tensor data"};
    return std::nullopt;
}

std::optional<Read> Semantics::function_read(const CallExpr* call) const {
    const FunctionDecl* function = call->getDirectCallee();
    if (!function || isa<CXXMethodDecl>(function) || !is_tensor_library(function)) return std::nullopt;
    const bool gets_tensor =
        std::any_of(call->arg_begin(), call->arg_end(), [&](const Expr* a) { return holds_tensor(a->getType()); });
    const StringRef name = plain_name(function);
    if (!gets_tensor || name.empty()) return std::nullopt;
    if (is_autograd(function) && one_of(name, {"backward", "grad"}))
        return Read{BreakKind::backward, false, name.str() + "() runs a backward pass"};
    if (role_of(name) == CaptureRole::indexes) return index_read(call);
    const bool finds = name == "where" && call->getNumArgs() == 1;  // positions, as nonzero()
    if (finds || role_of(name) == CaptureRole::dynamic_shape)
        return Read{BreakKind::dynamic_shape, false,
                    "the size of the result of " + name.str() + "() depends on tensor data"};
    if (!is_metadata(name) && is_host_value(call->getType()))
        return Read{role_of(name) == CaptureRole::compares ? BreakKind::compare : BreakKind::item, false,
                    name.str() + "() reads tensor data"};
    return std::nullopt;
}

std::optional<Read> Semantics::read(const Expr* expression) const {
    if (const auto* member = dyn_cast<CXXMemberCallExpr>(expression)) return member_read(member);
    if (const auto* dependent = dyn_cast<CXXDependentScopeMemberExpr>(expression)) {
        const std::string name = dependent->getMember().getAsString();
        const CaptureRole role = capture_role(name);
        if (role == CaptureRole::reads_elements || role == CaptureRole::branches)
            return Read{BreakKind::item, true, "." + name + "() reads tensor data"};
        return std::nullopt;
    }
    if (const auto* output = dyn_cast<CXXOperatorCallExpr>(expression); output && output->getNumArgs() == 2) {
        bool text_only = false;
        if (output->getOperator() == OO_LessLess && is_tensor(output->getArg(1)->getType()) &&
            is_stream(record_of(output->getArg(0)->getType()), text_only))
            return Read{BreakKind::item, false, "a tensor is formatted as text"};
        if (output->getOperator() == OO_Subscript && is_tensor(output->getArg(0)->getType()) &&
            is_tensor(output->getArg(1)->getType()))
            return Read{BreakKind::item, false, "indexing with a tensor reads the value of the tensor"};
    }
    if (const auto* call = dyn_cast<CallExpr>(expression)) return function_read(call);
    return std::nullopt;
}

std::optional<Read> Semantics::find_read(const Stmt* tree) const {
    if (!tree || isa<LambdaExpr>(tree)) return std::nullopt;
    if (const auto* expression = dyn_cast<Expr>(tree)) {
        if (auto found = read(expression)) return found;
        if (const auto* call = dyn_cast<CallExpr>(expression))
            if (const FunctionDecl* callee = call->getDirectCallee(); callee && returns_read(callee))
                return Read{BreakKind::item, false, callee->getNameAsString() + "() returns tensor data"};
    }
    for (const Stmt* child : tree->children())
        if (auto found = find_read(child)) return found;
    return std::nullopt;
}

bool Semantics::returns_read(const FunctionDecl* function) const {
    const FunctionDecl* body = nullptr;
    if (!function->hasBody(body) || sources_.isInSystemHeader(body->getLocation()) ||
        !is_host_value(body->getReturnType()))
        return false;
    const auto [known, fresh] = returns_read_.try_emplace(body, false);  // false also ends recursion
    if (!fresh) return known->second;
    bool found = false;
    walk_statements(body->getBody(), Code::written, [&](const Stmt* statement) {
        const auto* returned = dyn_cast<ReturnStmt>(statement);
        found = returned && find_read(returned->getRetValue());
        return !found;
    });
    return returns_read_[body] = found;
}

// ---- effects and calls

std::optional<Effect> Semantics::effect(const Expr* expression) const {
    bool text_only = false;
    if (const auto* call = dyn_cast<CXXOperatorCallExpr>(expression)) {
        const OverloadedOperatorKind op = call->getOperator();
        if ((op == OO_LessLess || op == OO_GreaterGreater) && call->getNumArgs() == 2 &&
            is_stream(record_of(call->getArg(0)->getType()), text_only) &&
            is_stream(record_of(call->getType()), text_only))
            return stream_effect(expression, op == OO_LessLess);
        return {};
    }
    if (const auto* call = dyn_cast<CXXMemberCallExpr>(expression)) {
        if (!is_stream(record_of(call->getObjectType()), text_only)) return {};
        const StringRef name = plain_name(call->getMethodDecl());
        if (one_of(name, {"write", "put", "flush", "open"})) return stream_effect(expression, true);
        if (one_of(name, {"read", "get", "getline", "ignore", "peek"})) return stream_effect(expression, false);
        return {};
    }
    const auto* call = dyn_cast<CallExpr>(expression);
    const FunctionDecl* function = call ? call->getDirectCallee() : nullptr;
    const StringRef name = plain_name(function);
    if (name.empty() || isa<CXXMethodDecl>(function)) return {};
    if (is_tensor_library(function)) {
        if (!one_of(name, {"save", "load"})) return {};
        return Effect{"file access by " + name.str() + "()"};
    }
    if (is_standard_library(function) && name == "getline") return Effect{"stream input"};
    if (function->isExternC() || is_standard_library(function)) return c_effect(name);
    return {};
}

bool Semantics::is_foreign(const FunctionDecl* function) const {
    if (!function) return true;  // through a pointer
    return !is_standard_library(function) && !function->getBuiltinID();
}

std::string Semantics::unknown_call(const Expr* expression) const {
    const auto* call = dyn_cast<CallExpr>(expression);
    if (!call || call->isTypeDependent() || isa<CXXPseudoDestructorExpr>(call->getCallee())) return {};
    const bool gets_tensor =
        std::any_of(call->arg_begin(), call->arg_end(), [&](const Expr* a) { return holds_tensor(a->getType()); });
    if (!gets_tensor) return {};
    const FunctionDecl* function = call->getDirectCallee();
    if (!function) return isa<CXXOperatorCallExpr>(call) ? std::string() : "a function pointer";
    if (const auto* method = dyn_cast<CXXMethodDecl>(function)) {
        if (identifies_tensors(method->getParent())) return {};
        if (const auto* op = dyn_cast<CXXOperatorCallExpr>(call); op && op->getOperator() == OO_Call)
            if (method->getParent()->isInStdNamespace() && method->getParent()->getName() == "function")
                return "a std::function";
    }
    if (is_tensor_library(function) || !is_foreign(function)) return {};
    const FunctionDecl* body = nullptr;
    if (function->hasBody(body) || function->hasSkippedBody() || function->isDefaulted() || function->isImplicit() ||
        function->isTemplateInstantiation() || sources_.isInSystemHeader(function->getLocation()))
        return {};
    return qualified_name(*function) + "()";
}

// ---- places

bool Semantics::in_main_file(SourceLocation place) const {
    return place.isValid() && sources_.isInMainFile(sources_.getExpansionLoc(place));
}

CharSourceRange Semantics::visible(SourceRange range) const {
    const CharSourceRange spelled =
        Lexer::makeFileCharRange(CharSourceRange::getTokenRange(range), sources_, context_.getLangOpts());
    if (spelled.isValid()) return spelled;
    const CharSourceRange expanded = sources_.getExpansionRange(range);
    return CharSourceRange::getCharRange(
        expanded.getBegin(), Lexer::getLocForEndOfToken(expanded.getEnd(), 0, sources_, context_.getLangOpts()));
}

Range Semantics::range(SourceRange range) const {
    const CharSourceRange seen = visible(range);
    const PresumedLoc begin = sources_.getPresumedLoc(seen.getBegin()), end = sources_.getPresumedLoc(seen.getEnd());
    if (begin.isInvalid() || end.isInvalid()) return {};
    return {static_cast<int>(begin.getLine()), static_cast<int>(begin.getColumn()), static_cast<int>(end.getLine()),
            static_cast<int>(end.getColumn()) - 1};
}

std::string Semantics::text(SourceRange range, std::size_t limit) const {
    const StringRef source = Lexer::getSourceText(visible(range), sources_, context_.getLangOpts());
    std::string text;
    for (const char c : source) {
        const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
        if (!blank)
            text += c;
        else if (!text.empty() && text.back() != ' ')
            text += ' ';
    }
    if (text.size() > limit) {
        text.resize(limit - 3);
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
        text += "...";
    }
    return text;
}

std::string Semantics::line(SourceLocation place) const {
    const auto [file, offset] = sources_.getDecomposedExpansionLoc(place);
    const StringRef buffer = sources_.getBufferData(file);
    const std::size_t before = buffer.substr(0, offset).rfind('\n');
    const std::size_t begin = before == StringRef::npos ? 0 : before + 1;
    return buffer.slice(begin, buffer.find('\n', offset)).trim().str();
}

}  // namespace whittle::cpp
