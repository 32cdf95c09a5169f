// What is costly to make and cheap to check, kept in a folder that processes share: found again by what it was made of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kept.h"

namespace whittle {

/// A bounded store of bytes by key. Any number of processes may use one folder, and each may be killed at any moment:
/// an entry is there whole or not at all, and one that is damaged counts as absent. Never throws for what lies in the
/// folder: without an entry the caller makes it anew.
class DiskCache {
  public:
    static constexpr std::size_t kDefaultLimit = std::size_t(512) << 20;

    /// `folder` is made where it is missing, for this user only. One that belongs to somebody else could hold anything:
    /// nothing is then kept, with a warning.
    explicit DiskCache(std::filesystem::path folder, std::size_t limit = kDefaultLimit);

    std::optional<std::string> get(std::string_view key) const;
    /// Beyond `limit` bytes those that were not asked for the longest go, at most once a minute.
    void put(std::string_view key, std::string_view value);
    /// The same at once.
    void trim() const;
    /// All files that such a store has put into a folder.
    static std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

  private:
    std::filesystem::path entry(std::string_view key) const;

    std::filesystem::path folder_;  ///< empty: nothing is kept
    std::size_t limit_;
};

/// The store in a folder of base/kept.h; null when nothing of the kind is kept.
std::unique_ptr<DiskCache> user_cache(std::string_view kind);

}  // namespace whittle
