// What torch.compile did in a program, from the structured logs that PyTorch 2 writes into the folder $TORCH_TRACE.
#pragma once

#include <filesystem>
#include <set>
#include <vector>

#include "trace/index.h"

namespace whittle {

/// The logs of one run of a program.
class TorchLogs {
  public:
    static constexpr const char* kVariable = "TORCH_TRACE";

    /// The folder that the user named by the variable, else `own`.
    explicit TorchLogs(const std::filesystem::path& own);

    const std::filesystem::path& folder() const { return folder_; }
    /// Of the logs that were written since, one process behind the other, in the order in which compilations ended.
    std::vector<TorchCompilation> compilations() const;

  private:
    std::filesystem::path folder_;
    std::set<std::filesystem::path> earlier_;
};

/// Of one log. Lines that are no records are left out: the program may have been killed as it wrote.
std::vector<TorchCompilation> read_torch_log(const std::filesystem::path& file);

}  // namespace whittle
