#include <llvm/DebugInfo/Symbolize/Symbolize.h>
#include <llvm/Demangle/Demangle.h>

#include <cstdlib>

#include "symbolize/symbolizer.h"

namespace whittle {

namespace {

llvm::symbolize::LLVMSymbolizer::Options options(LineSymbolizer::Paths paths) {
    llvm::symbolize::LLVMSymbolizer::Options options;
    options.PrintFunctions = llvm::DINameKind::LinkageName;
    options.UseSymbolTable = true;
    options.Demangle = false;  // the linkage name says more
    options.RelativeAddresses = false;
    if (paths == LineSymbolizer::Paths::as_compiled)
        options.PathStyle = llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath;
    return options;
}

std::string known(const std::string& text) { return text == llvm::DILineInfo::BadString ? std::string() : text; }

bool is_constructor(const std::string& linkage) {
    llvm::ItaniumPartialDemangler name;
    if (name.partialDemangle(linkage.c_str()) || !name.isCtorOrDtor()) return false;
    char* const base = name.getFunctionBaseName(nullptr, nullptr);
    const bool destructor = base && base[0] == '~';
    std::free(base);
    return !destructor;
}

/// GCC's and Clang's name for what runs from one suspension of a coroutine to the next.
bool is_coroutine_body(llvm::StringRef linkage) {
    return linkage.rsplit('.').second == "actor" || linkage.rsplit('.').second == "resume";
}

class LlvmSymbolizer final : public LineSymbolizer {
  public:
    explicit LlvmSymbolizer(Paths paths) : symbolizer_(options(paths)) {}

    std::vector<LineInfo> look_up(const std::string& module, std::uint64_t address) override {
        auto found = symbolizer_.symbolizeInlinedCode(module, {address, llvm::object::SectionedAddress::UndefSection});
        std::vector<LineInfo> lines;
        if (!found) {
            llvm::consumeError(found.takeError());
            return lines;
        }
        for (std::uint32_t i = 0; i < found->getNumberOfFrames(); ++i) {
            const llvm::DILineInfo& info = found->getFrame(i);
            const std::string linkage = known(info.FunctionName);
            lines.push_back({llvm::symbolize::LLVMSymbolizer::DemangleName(linkage, nullptr), known(info.FileName),
                             static_cast<int>(info.Line), static_cast<int>(info.Column),
                             static_cast<int>(info.StartLine), is_constructor(linkage), is_coroutine_body(linkage)});
        }
        return lines;
    }

  private:
    llvm::symbolize::LLVMSymbolizer symbolizer_;
};

}  // namespace
}  // namespace whittle

/// What make_symbolizer() looks for in this library.
extern "C" whittle::LineSymbolizer* whittle_make_llvm_symbolizer(whittle::LineSymbolizer::Paths paths) {
    return new whittle::LlvmSymbolizer(paths);
}
