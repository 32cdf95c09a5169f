#include "backends/libtorch/fusers.h"

#include <dlfcn.h>
#include <torch/csrc/jit/passes/graph_fuser.h>
#include <torch/csrc/jit/passes/pass_manager.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/tensorexpr/kernel.h>

#include <memory>

namespace torch::jit {
// LibTorch exports them and installs no header that says so.
bool canFuseOnCPU();
void overrideCanFuseOnCPU(bool value);
}  // namespace torch::jit

namespace whittle::aten {
namespace {

namespace jit = torch::jit;

using GraphPass = void(std::shared_ptr<jit::Graph>&);

/// Not every build has it: Debian's has not.
GraphPass* onednn_pass() {
    return reinterpret_cast<GraphPass*>(
        ::dlsym(RTLD_DEFAULT, "_ZN5torch3jit5fuser6onednn9fuseGraphERSt10shared_ptrINS0_5GraphEE"));
}

}  // namespace

std::string lacking(Fuser fuser) {
    return fuser == Fuser::onednn && !onednn_pass() ? "this LibTorch was built without oneDNN Graph" : "";
}

FuserScope::FuserScope(Fuser fuser)
    : profiling_(jit::getProfilingMode()),
      executor_(jit::getExecutorMode()),
      tensor_expressions_(jit::tensorExprFuserEnabled()),
      on_cpu_(jit::canFuseOnCPU()),
      legacy_(jit::canFuseOnCPULegacy()),
      needs_llvm_(jit::tensorexpr::getTEMustUseLLVMOnCPU()) {
    jit::getProfilingMode() = true;
    jit::getExecutorMode() = true;
    jit::setTensorExprFuserEnabled(fuser == Fuser::nnc);
    jit::overrideCanFuseOnCPU(fuser == Fuser::nnc);
    jit::overrideCanFuseOnCPULegacy(false);
    jit::tensorexpr::getTEMustUseLLVMOnCPU() = false;
    if (fuser == Fuser::onednn) pass_ = jit::registerPrePass(onednn_pass());
}

FuserScope::~FuserScope() {
    jit::getProfilingMode() = profiling_;
    jit::getExecutorMode() = executor_;
    jit::setTensorExprFuserEnabled(tensor_expressions_);
    jit::overrideCanFuseOnCPU(on_cpu_);
    jit::overrideCanFuseOnCPULegacy(legacy_);
    jit::tensorexpr::getTEMustUseLLVMOnCPU() = needs_llvm_;
    if (pass_) jit::clearPrePass(static_cast<jit::GraphPassNameType>(*pass_));
}

}  // namespace whittle::aten
