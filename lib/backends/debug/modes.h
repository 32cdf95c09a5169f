// The modes that there are by name, and interpreters under them. A mode: ops/core/mode.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/eager/interpreted.h"
#include "ops/core/mode.h"

namespace whittle {

/// The first is the outermost. What one has to say at the end, its destructor says.
using Modes = std::vector<std::unique_ptr<Mode>>;

///   log     says each call and what it gives
///   nan     fails at the first call that gives NaN
///   time    says at the end how long the calls of each op took
///   memory  says at the end how many bytes results held at most, and at which call
/// What is said goes to stderr.
Modes make_modes(const std::vector<std::string>& names);

/// Throws Error, which names the option `key`, for a name that there is not and for none.
void check_modes(const std::string& key, const std::vector<std::string>& names);

/// All of them are around the calls of this thread as long as it lives.
class ModeScopes {
  public:
    explicit ModeScopes(const Modes& modes);
    ~ModeScopes();
    ModeScopes(const ModeScopes&) = delete;
    ModeScopes& operator=(const ModeScopes&) = delete;

  private:
    std::vector<std::unique_ptr<ModeScope>> scopes_;
};

/// An interpreter under the modes of these names. Throws as check_modes() does.
MakeInterpreter under_modes(const std::string& key, const std::vector<std::string>& names);

}  // namespace whittle
