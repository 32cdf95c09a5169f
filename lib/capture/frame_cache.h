// The specializations of one compiled function: which of them fits a call, and if none does, why not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/guard.h"

namespace whittle::capture {

/// What a call found at its sources, in order: its arguments and the global state.
using FoundInputs = std::vector<std::pair<Source, Found>>;

/// When sizes may vary without a recompile.
enum class DynamicSizes : std::uint8_t {
    automatic,  ///< a size that was seen with a second value
    always,     ///< every size of at least 2
    never,
};

class FrameCache {
  public:
    explicit FrameCache(std::size_t limit, DynamicSizes dynamic = DynamicSizes::automatic)
        : limit_(limit), dynamic_(dynamic) {}

    struct Entry {
        std::vector<Guard> guards;  ///< in the order of their checks
        std::int64_t hits = 0;
    };

    struct Lookup {
        std::optional<std::size_t> entry = {};  ///< its guards hold; nothing: the limit is reached
        bool added = false;                     ///< it is new
        std::optional<Guard> failed = {};       ///< of the newest entry, where entries existed and none fitted …
        std::string reason = {};                ///< … with what was found
        bool limited() const { return !entry; }
    };
    /// Finds the first entry whose guards hold; else adds one, up to the limit.
    Lookup look_up(const FoundInputs& inputs, const std::vector<StackFrame>& stack = {});

    /// A local that guards are about is called `name` from now on.
    void rename(const std::string& before, const std::string& name);
    const std::vector<Entry>& entries() const { return entries_; }

  private:
    Entry specialize(const FoundInputs& inputs, const std::vector<StackFrame>& stack) const;
    void learn_sizes(const FoundInputs& inputs);

    std::size_t limit_;
    DynamicSizes dynamic_;
    std::vector<Entry> entries_;
    std::map<std::string, ValueMeta> seen_;             ///< first meta of a tensor, by source
    std::map<std::string, std::vector<bool>> varying_;  ///< which of its sizes have varied
};

}  // namespace whittle::capture
