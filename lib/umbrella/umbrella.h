// whittle: one name for all programs. It becomes the program that is asked for, which lies beside it, as git does;
// fuzz, cache, completion and help are its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_options.h"
#include "cli/tool.h"

namespace whittle {
struct KeptKind;
}

namespace whittle::umbrella {

/// Runs what the line asks for; `tool` has whittle's own commands. Returns the exit status; where another program is
/// asked for, that runs in place of this one.
int run(cli::Tool& tool, int argc, char** argv);

/// Declares `trace` … `replay` as commands of whittle.
void list_programs(cli::Tool& tool);

/// The commands that `whittle help` describes: all but itself.
std::vector<std::string> described_names(const cli::Tool& tool);

/// What `whittle help NAME` does: opens the manual page, where there is a terminal and the page is installed; else
/// becomes `NAME --help`. Throws Error for an unknown name.
int help(cli::Tool& tool, const std::string& name);

/// What `whittle completion SHELL NAME` does: prints the script of whittle, or of the program of that name. Throws
/// Error for an unknown shell or name.
int print_completion(cli::Tool& tool, const std::string& shell, const std::string& name);

// whittle cache: what Whittle keeps on disk (base/kept.h), its sizes, and how it is cleared.

/// `whittle cache`, `whittle cache list` and `whittle cache clear [KIND…]` as sub-commands.
class CacheCommand {
  public:
    CacheCommand();

    cli::Tool tool{"whittle cache", "[list|clear]", "List or clear the files that Whittle keeps on disk between runs."};
    int list(const cli::Tool& told) const;

  private:
    int clear() const;
    /// Throws Error for software that the user installed, unless --force or --dry-run is given.
    void refuse_installed(const std::vector<const KeptKind*>& wanted) const;

    cli::Tool list_{"whittle cache list", "", "List the files and the size of each file. This is the default."};
    cli::Tool clear_;
    std::vector<std::string> kinds_ = {};
    bool dry_ = false, force_ = false;
};

// whittle fuzz: random models on a backend; what fails is minimized, sorted and written as a repro.

struct FuzzOptions {
    cli::BackendChoice backend = {};
    std::string dialect = "aten", data = "random";
    std::optional<std::int64_t> models = {};
    std::int64_t seed = 0, timeout = 20;
    std::optional<std::chrono::seconds> time_limit = {};
    std::vector<std::string> calls = {}, without = {}, dtypes = {};
    std::filesystem::path output = "finds";

    void declare(cli::Tool& tool);
};

/// Each model that fails is written to DIR/model_N.json and then minimized; the first of each kind gets a folder,
/// DIR/KIND, with min.json, repro.cpp (or the folder repro) and what minify and repro print. Returns the exit status:
/// 1 where one fails. Throws Error for options out of range.
int fuzz(const cli::Tool& tool, const FuzzOptions& options);

}  // namespace whittle::umbrella
