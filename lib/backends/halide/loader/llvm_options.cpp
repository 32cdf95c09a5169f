#include "backends/halide/loader/llvm_options.h"

#include <llvm/Support/CommandLine.h>

namespace whittle::halide {

void keep_to_written_vectors() {
    constexpr int kNeverPays = 1 << 20;
    llvm::StringMap<llvm::cl::Option*>& options = llvm::cl::getRegisteredOptions();
    const auto threshold = options.find("slp-threshold");
    if (threshold != options.end()) static_cast<llvm::cl::opt<int>*>(threshold->second)->setValue(kNeverPays);
}

}  // namespace whittle::halide
