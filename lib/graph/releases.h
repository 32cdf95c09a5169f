// An ability, see abilities.h: several releases of the backend's compiler are at hand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/abilities.h"

namespace whittle {

/// Since which of them does a graph fail?
class Releases {
  public:
    static constexpr bool kOfInner = true;
    virtual ~Releases() = default;
    /// Their names, oldest first; none where there is only one, which need not have a name. Throws Error where the
    /// compiler has to be started for that and cannot be.
    virtual std::vector<std::string> releases() = 0;
    /// The one that `options` choose. Throws Error for one that is not among them.
    virtual std::string release_of(const BackendOptions& options) = 0;
    /// `options` with that one, whatever they chose.
    virtual BackendOptions in_release(BackendOptions options, const std::string& release) const = 0;
    /// What Versioned says of the one that `options` choose.
    virtual std::string version_in(const BackendOptions& options) = 0;
    /// The library that makes a process of ours the one that `options` choose, if LD_PRELOAD names it; empty: this
    /// process serves.
    virtual std::filesystem::path library_for(const BackendOptions&) { return {}; }
};

/// The version that runs under `options`; nothing where the backend cannot say.
inline std::string version_of(Backend& backend, const BackendOptions& options) {
    Releases* const releases = offered<Releases>(backend);
    return releases ? releases->version_in(options) : version_of(backend);
}

}  // namespace whittle
