// Folders that children of this process share: who guards a child (base/guard.h) removes them when this process is
// killed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace whittle {

/// While it lives, the folder goes with this process, if that is killed while a child of it runs. In copies of this
/// process it does nothing.
class ProcessFolder {
  public:
    explicit ProcessFolder(std::filesystem::path folder);
    ~ProcessFolder();
    ProcessFolder(const ProcessFolder&) = delete;
    ProcessFolder& operator=(const ProcessFolder&) = delete;

    /// Those of this process.
    static std::vector<std::filesystem::path> all();

  private:
    const std::filesystem::path folder_;
    const pid_t process_;
};

}  // namespace whittle
