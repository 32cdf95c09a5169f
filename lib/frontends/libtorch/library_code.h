// LibraryCode: which files that a program has mapped, and which sources, are of no user: the system's, and an official
// distribution's of LibTorch, which may lie anywhere.
#pragma once

#include <set>
#include <span>
#include <string>

#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

class LibraryCode {
  public:
    explicit LibraryCode(std::span<const Mapping> mappings);

    bool has_module(const std::string& path) const;  ///< a program or a shared library
    bool has_source(const std::string& path) const;  ///< a file that debug information names

  private:
    std::set<std::string> modules_;  ///< LibTorch's own
    std::set<std::string> folders_;  ///< of its libraries and of its headers, each with a "/" at its end
};

}  // namespace whittle::libtorch
