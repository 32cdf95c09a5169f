// whittle cache: what Whittle keeps on disk (base/kept.h), its sizes, and how it is cleared.
#pragma once

#include <string>
#include <vector>

#include "cli/tool.h"

namespace whittle::umbrella {

/// `whittle cache`, `whittle cache list` and `whittle cache clear [KIND…]` as sub-commands.
class CacheCommand {
  public:
    CacheCommand();

    cli::Tool tool{"whittle cache", "[list|clear]", "List or clear the files that Whittle keeps on disk between runs."};
    int list(const cli::Tool& told) const;

  private:
    int clear() const;

    cli::Tool list_{"whittle cache list", "", "List the files and the size of each file (default)."};
    cli::Tool clear_;
    std::vector<std::string> kinds_ = {};
};

}  // namespace whittle::umbrella
