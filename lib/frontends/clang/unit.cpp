#include "frontends/clang/unit.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/Version.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/Tooling.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "base/error.h"
#include "base/subprocess.h"
#include "frontends/clang/visit.h"

#ifndef WHITTLE_CLANG_RESOURCES
#error "WHITTLE_CLANG_RESOURCES must name Clang's resource folder"
#endif

namespace whittle::cpp {
namespace {

namespace fs = std::filesystem;
using Reader = std::function<void(const Semantics&)>;

/// Keeps the first error: it is what the user is told.
class FirstError : public clang::DiagnosticConsumer {
  public:
    void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
        DiagnosticConsumer::HandleDiagnostic(level, info);
        if (level < clang::DiagnosticsEngine::Error || !message.empty()) return;
        llvm::SmallString<128> text;
        info.FormatDiagnostic(text);
        message = text.str().str();
        if (!info.hasSourceManager() || info.getLocation().isInvalid()) return;
        const clang::PresumedLoc place = info.getSourceManager().getPresumedLoc(info.getLocation());
        if (place.isInvalid()) return;
        where.file = place.getFilename();
        where.position = "line " + std::to_string(place.getLine()) + ", column " + std::to_string(place.getColumn());
    }
    std::string message;
    Location where;
};

class Consumer : public clang::ASTConsumer {
  public:
    Consumer(clang::CompilerInstance& compiler, const Reader& reader) : compiler_(compiler), reader_(reader) {}
    /// Bodies in system headers say nothing that is used here. Those that are needed to compile (constexpr, deduced
    /// result) are read all the same.
    bool shouldSkipFunctionBody(clang::Decl* decl) override {
        const clang::SourceManager& sources = compiler_.getSourceManager();
        return sources.isInSystemHeader(sources.getExpansionLoc(decl->getLocation()));
    }
    void HandleTranslationUnit(clang::ASTContext& context) override {
        if (!compiler_.getDiagnostics().hasErrorOccurred()) reader_(Semantics(context));
    }

  private:
    clang::CompilerInstance& compiler_;
    const Reader& reader_;
};

class Action : public clang::ASTFrontendAction {
  public:
    explicit Action(const Reader& reader) : reader_(reader) {}
    bool BeginInvocation(clang::CompilerInstance& compiler) override {
        compiler.getFrontendOpts().SkipFunctionBodies = true;
        return true;
    }
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
        return std::make_unique<Consumer>(compiler, reader_);
    }

  private:
    const Reader& reader_;
};

/// Clang's own headers (stddef.h …), where the build found them or where the installed Clang says.
std::string resource_folder() {
    if (fs::exists(fs::path(WHITTLE_CLANG_RESOURCES) / "include" / "stddef.h")) return WHITTLE_CLANG_RESOURCES;
    try {
        std::string told = run_process({WHITTLE_CLANG, "-print-resource-dir"}).out;
        while (!told.empty() && told.back() == '\n') told.pop_back();
        if (fs::exists(fs::path(told) / "include" / "stddef.h")) return told;
    } catch (const Error&) {
    }
    throw Error("cannot find the headers of " WHITTLE_CLANG ", for example stddef.h, in " WHITTLE_CLANG_RESOURCES,
                "install " WHITTLE_CLANG_HEADERS);
}

/// What may be missing where a file could not be read.
std::string hint_of(const std::string& message) {
    if (message.find("file not found") == std::string::npos) return {};
    return "pass the flags of the file's compilation: -- -Iinclude -std=c++20";
}

void parse(const Unit& unit, const Reader& reader) {
    if (!fs::is_regular_file(unit.file)) throw Error({unit.file, {}}, "found no such file, expected a C++ source file");
    std::vector<std::string> arguments = {"clang++",
                                          "-fsyntax-only",
                                          "-w",
                                          "-Qunused-arguments",
                                          "-ferror-limit=1",
                                          "-fno-caret-diagnostics",  // nor a count of the errors
                                          "-resource-dir=" + resource_folder()};
    arguments.insert(arguments.end(), unit.flags.begin(), unit.flags.end());
    arguments.push_back(unit.file);
    const llvm::IntrusiveRefCntPtr<clang::FileManager> files(new clang::FileManager(clang::FileSystemOptions()));
    FirstError errors;
    clang::tooling::ToolInvocation invocation(arguments, std::make_unique<Action>(reader), files.get());
    invocation.setDiagnosticConsumer(&errors);
    const bool good = invocation.run();
    if (good && errors.getNumErrors() == 0) return;
    if (errors.message.empty()) errors.message = "cannot be parsed";
    if (errors.where.file.empty()) errors.where.file = unit.file;
    throw Error(errors.where, "Clang " + std::to_string(CLANG_VERSION_MAJOR) + ": " + errors.message,
                hint_of(errors.message));
}

}  // namespace

bool clang_available() { return true; }

Analysis analyze(const Unit& unit) {
    Analysis analysis{unit.file, {}, {}};
    parse(unit, [&](const Semantics& semantics) {
        FunctionList functions(semantics);
        analysis.predictions = predict(semantics, functions);
        analysis.functions = std::move(functions.all());
    });
    return analysis;
}

Probed add_probes(const Unit& unit) {
    Probed probed;
    probed.analysis.file = unit.file;
    bool too_old = false;
    parse(unit, [&](const Semantics& semantics) {
        too_old = !semantics.context().getLangOpts().CPlusPlus14;
        if (too_old) return;
        FunctionList functions(semantics);
        probed.analysis.predictions = predict(semantics, functions);
        insert_probes(semantics, functions, probed);
        probed.analysis.functions = std::move(functions.all());
    });
    if (too_old) throw Error({unit.file, {}}, "found a language standard older than C++14, but probes need C++14");
    return probed;
}

}  // namespace whittle::cpp
