#include "backends/halide/loader/llvm_options.h"

#include <llvm/Support/CommandLine.h>

namespace whittle::halide {

void keep_to_written_vectors() {
    llvm::StringMap<llvm::cl::Option*>& options = llvm::cl::getRegisteredOptions();
    const auto slp = options.find("vectorize-slp");
    if (slp != options.end()) static_cast<llvm::cl::opt<bool>*>(slp->second)->setValue(false);
}

}  // namespace whittle::halide
