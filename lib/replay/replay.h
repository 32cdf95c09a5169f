// Replay: records run again on a backend and compared with what was expected. In CI: shards, filters, known failures.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "trace/record.h"

namespace whittle {

/// The record files that the arguments name, each once: a file is itself; of a folder all records in it and below.
/// Wherever trace left an index, at any depth, these are the records that it lists, in its order, also those that are
/// missing: to replay them is an error. Elsewhere they are those that are found, by path. With `to_event` no more than
/// the first so many of each argument: a record is one event, the run of one captured graph, and an index lists them as
/// they happened. Throws Error for a path that is not there, an index that cannot be read, and a folder without
/// records.
std::vector<std::filesystem::path> find_records(const std::vector<std::filesystem::path>& arguments,
                                                std::optional<std::size_t> to_event = {});

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

/// Known failures: one glob (fnmatch, '*' matches '/') a line, for a record's path or name; '#' starts a comment.
class KnownFailures {
  public:
    KnownFailures() = default;
    /// Throws Error when the file cannot be read.
    explicit KnownFailures(const std::filesystem::path& file);

    struct Entry {
        std::string pattern, reason;  ///< the comment on the same line
    };
    /// nullptr when the record is expected to pass. A pattern is for the record's name, or for its path from any of its
    /// folders on: however the path was spelled.
    const Entry* find(const std::filesystem::path& record, const std::string& name) const;
    /// Patterns that none of the records has, by path or by the file's name.
    std::vector<std::string> unused(const std::vector<std::filesystem::path>& records) const;

  private:
    std::vector<Entry> entries_;
};

struct ReplayOptions {
    std::string backend = {};               ///< instead of the record's own, whose options do not count then
    BackendOptions backend_options = {};    ///< over the record's
    std::optional<Accuracy> accuracy = {};  ///< instead of the record's own
    Limits limits = {};
    std::optional<std::size_t> to_event = {};  ///< of frame records: stop after so many of their events
    int jobs = 1;                              ///< records replayed at a time; results do not depend on it
    /// Makes a backend by name; throws Error for an unknown one.
    std::function<std::unique_ptr<Backend>(const std::string&)> find_backend = {};
};

struct ReplayResult {
    enum class Status {
        passed,
        failed,
        skipped,  ///< not judged
        xfail,    ///< failed, as known
        xpass,    ///< passed, though known to fail
        error     ///< the record cannot be read, or something outside ended its run
    };
    Status status = Status::passed;
    std::filesystem::path file;
    std::string name = {}, frame = {}, backend = {};
    /// Name of the outcome's kind; "error" for one that cannot be read, "capture_fault" for one that is wrong itself,
    /// "not_judged" for one that ran.
    std::string outcome = {};
    std::string first_difference = {};  ///< or the outcome's message, or why it is not judged; empty when passed
    bool refused = false;               ///< the graph's own assertion does not hold of the recorded inputs
    Verdict verdict = Verdict::not_judged;
    std::vector<std::string> compared = {};            ///< as Judgement has it
    std::vector<std::vector<std::string>> agree = {};  ///< the same
    std::string known_reason = {};                     ///< of xfail and xpass
    std::string next = {};           ///< of a failed one: what makes it small, or accepts it; empty: there is none
    std::string stopped_after = {};  ///< of a frame record with to_event: the last event that was captured again
    bool identical = false;          ///< every output has the hash, so every bit, of the recorded one
    double seconds = 0;
};
std::string_view name(ReplayResult::Status status);

/// One record, in a child process with limits.
ReplayResult replay(const std::filesystem::path& file, const ReplayOptions& options, const KnownFailures& known);

/// All of them, in order; `done` is called with each result in that order. A record that cannot be read is a result, an
/// unknown backend an Error.
std::vector<ReplayResult> replay_all(const std::vector<std::filesystem::path>& files, const ReplayOptions& options,
                                     const KnownFailures& known,
                                     const std::function<void(const ReplayResult&)>& done = {});

}  // namespace whittle
