// The processes of a worker's backend: one pool for each command line with which they are started.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/command/worker_process.h"
#include "graph/backend.h"

namespace whittle {

/// The option that chooses a release of the compiler, where a worker can be started as several.
inline constexpr const char* kRelease = "release";

/// Command lines differ in `arguments`, options that they take, and in the release of the compiler. May be asked from
/// several threads.
class WorkerPools {
  public:
    WorkerPools(std::vector<std::string> argv, std::vector<std::string> arguments)
        : argv_(std::move(argv)), arguments_(std::move(arguments)) {}

    /// Those that the options choose. Throws Error for a release that is not there.
    WorkerPool& of(const BackendOptions& options) { return chosen(options).pool; }
    /// What these say of themselves.
    WorkerHello hello(const BackendOptions& options) { return hello_of(chosen(options)); }
    /// What all of them say alike. It is asked of those that run already: with other options than the user's there may
    /// be none.
    WorkerHello any_hello();

    const std::vector<std::string>& arguments() const { return arguments_; }

  private:
    struct Started {
        explicit Started(std::vector<std::string> argv) : pool(std::move(argv)) {}
        WorkerPool pool;
        std::optional<WorkerHello> said = {};
    };

    Started& chosen(const BackendOptions& options);
    Started& started(const std::vector<std::string>& argv);
    WorkerHello hello_of(Started& started);

    const std::vector<std::string> argv_, arguments_;
    std::mutex mutex_;
    std::map<std::vector<std::string>, std::unique_ptr<Started>> started_;  ///< by command line
};

}  // namespace whittle
