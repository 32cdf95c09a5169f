#include "frontends/libtorch/llvm_symbolizer.h"

#include <llvm/DebugInfo/Symbolize/Symbolize.h>

namespace whittle::libtorch {

namespace {

llvm::symbolize::LLVMSymbolizer::Options options() {
    llvm::symbolize::LLVMSymbolizer::Options options;
    options.PrintFunctions = llvm::DINameKind::LinkageName;
    options.UseSymbolTable = true;
    options.Demangle = true;
    options.RelativeAddresses = false;
    return options;
}

std::string known(const std::string& text) { return text == llvm::DILineInfo::BadString ? std::string() : text; }

}  // namespace

struct LlvmSymbolizer::Impl {
    llvm::symbolize::LLVMSymbolizer symbolizer{options()};
};

LlvmSymbolizer::LlvmSymbolizer() : impl_(std::make_unique<Impl>()) {}
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
                         static_cast<int>(info.Column)});
    }
    return lines;
}

}  // namespace whittle::libtorch
