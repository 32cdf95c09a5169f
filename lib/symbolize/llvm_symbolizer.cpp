#include "symbolize/llvm_symbolizer.h"

#include <llvm/DebugInfo/Symbolize/Symbolize.h>

namespace whittle {

namespace {

llvm::symbolize::LLVMSymbolizer::Options options(LlvmSymbolizer::Paths paths) {
    llvm::symbolize::LLVMSymbolizer::Options options;
    options.PrintFunctions = llvm::DINameKind::LinkageName;
    options.UseSymbolTable = true;
    options.Demangle = true;
    options.RelativeAddresses = false;
    if (paths == LlvmSymbolizer::Paths::as_compiled)
        options.PathStyle = llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath;
    return options;
}

std::string known(const std::string& text) { return text == llvm::DILineInfo::BadString ? std::string() : text; }

}  // namespace

struct LlvmSymbolizer::Impl {
    llvm::symbolize::LLVMSymbolizer symbolizer;
};

LlvmSymbolizer::LlvmSymbolizer(Paths paths) : impl_(new Impl{llvm::symbolize::LLVMSymbolizer(options(paths))}) {}
LlvmSymbolizer::~LlvmSymbolizer() = default;

std::vector<LineInfo> LlvmSymbolizer::look_up(const std::string& module, std::uint64_t address) {
    auto found =
        impl_->symbolizer.symbolizeInlinedCode(module, {address, llvm::object::SectionedAddress::UndefSection});
    std::vector<LineInfo> lines;
    if (!found) {
        llvm::consumeError(found.takeError());
        return lines;
    }
    for (std::uint32_t i = 0; i < found->getNumberOfFrames(); ++i) {
        const llvm::DILineInfo& info = found->getFrame(i);
        lines.push_back({known(info.FunctionName), known(info.FileName), static_cast<int>(info.Line),
                         static_cast<int>(info.Column), static_cast<int>(info.StartLine)});
    }
    return lines;
}

}  // namespace whittle
