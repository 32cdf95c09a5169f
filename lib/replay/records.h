// Which records are replayed: those that arguments name, filtered, in shards; and which are known to fail.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace whittle {

/// What may be run in a folder that holds no record.
using ModelsOfFolder = std::function<std::vector<std::filesystem::path>(const std::filesystem::path& folder)>;

/// The record files that the arguments name, each once: a file is itself; of a folder all records in it and below.
/// Wherever trace left an index, at any depth, these are the records that it lists, in its order, also those that are
/// missing: to replay them is an error. Elsewhere they are those that are found, by path. With `to_event` no more than
/// the first so many of each argument: a record is one event, the run of one captured graph, and an index lists them as
/// they happened. Throws Error for a path that is not there, an index that cannot be read, and a folder without
/// records, unless `models` finds what may be run in its place.
std::vector<std::filesystem::path> find_records(const std::vector<std::filesystem::path>& arguments,
                                                std::optional<std::size_t> to_event = {},
                                                const ModelsOfFolder& models = {});

/// One of `count` equal parts of the records.
struct Shard {
    std::size_t index = 0, count = 1;
};

/// GTEST_SHARD_INDEX and GTEST_TOTAL_SHARDS, as test runners set them; touches GTEST_SHARD_STATUS_FILE, which tells
/// them that it was heard. Nothing when they are not set. Throws Error when they do not fit.
/// https://google.github.io/googletest/advanced.html#distributing-test-functions-to-multiple-machines
std::optional<Shard> shard_from_environment();

/// The records whose path the regular expression (RE2's syntax) finds, then every count-th of them from `index` on.
/// Throws Error for a malformed expression and an index outside its count.
std::vector<std::filesystem::path> select_records(std::vector<std::filesystem::path> records, const std::string& filter,
                                                  const Shard& shard);

/// What a record is called by its path: "ci/resnet/main" of ci/resnet/records/main.json.
std::filesystem::path path_as_name(std::filesystem::path record);

/// Known failures: one glob (fnmatch, '*' matches '/') a line, for a record's path or name; '#' starts a comment, and
/// "\#" is one of a name.
class KnownFailures {
  public:
    KnownFailures() = default;
    /// Throws Error when the file cannot be read.
    explicit KnownFailures(const std::filesystem::path& file);

    struct Entry {
        std::string pattern, reason;  ///< the comment on the same line
    };
    /// nullptr when the record is expected to pass. A pattern is for the record's name, or for its path or
    /// path_as_name() from any of its folders on: however the path was spelled. So what reports call the record
    /// (test_names()) is a pattern for it.
    const Entry* find(const std::filesystem::path& record, const std::string& name) const;
    /// Patterns that none of the records has, by path or by the file's name.
    std::vector<std::string> unused(const std::vector<std::filesystem::path>& records) const;

  private:
    std::vector<Entry> entries_;
};

}  // namespace whittle
