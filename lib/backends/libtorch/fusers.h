// The fusers of TorchScript, which are switched for a whole process. Includes LibTorch's headers: for the files of this
// folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace whittle::aten {

/// None; NNC, whose kernels are interpreted where LibTorch was built without LLVM; oneDNN Graph.
enum class Fuser { none, nnc, onednn };
/// As the option `fuser` has them, in that order.
inline const std::vector<std::string> kFusers = {"none", "nnc", "onednn"};

/// Why this LibTorch has it not; empty where it has.
std::string lacking(Fuser fuser);

/// The profiling executor with that fuser alone, as long as it lives; then what was before.
class FuserScope {
  public:
    explicit FuserScope(Fuser fuser);
    ~FuserScope();
    FuserScope(const FuserScope&) = delete;
    FuserScope& operator=(const FuserScope&) = delete;

  private:
    bool profiling_, executor_, tensor_expressions_, on_cpu_, legacy_, needs_llvm_;
    std::optional<std::size_t> pass_ = {};
};

}  // namespace whittle::aten
