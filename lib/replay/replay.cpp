#include "replay/replay.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/parallel_runs.h"
#include "base/pattern.h"
#include "base/subprocess.h"
#include "base/turn.h"
#include "base/words.h"
#include "graph/document.h"
#include "ops/core/assertions.h"
#include "replay/recapture.h"
#include "trace/folder.h"
#include "trace/load.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

/// A file that should be a record by its place and is no JSON, for example what git left of it.
bool is_broken_record(const fs::path& file) {
    if (file.parent_path().filename() != "records") return false;
    try {
        Document(read_file(file), file.string());
        return false;
    } catch (const Error&) {
        return true;
    }
}

/// Records of the folder and of all folders in it: those of an index in its order, whether or not they are there, for
/// what is lost must not pass; of other folders those that are found, by path.
void add_records(const fs::path& folder, std::vector<fs::path>& files) {
    const std::optional<TraceIndex> index = find_trace(folder);
    if (index)
        for (const IndexRecord& record : index->records) files.push_back(folder / record.file);
    std::set<fs::path> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.insert(entry.path());
    for (const fs::path& entry : entries) {
        if (index && (entry.filename() == "records" || entry.filename() == "graphs")) continue;
        if (fs::is_directory(fs::symlink_status(entry))) {
            add_records(entry, files);
        } else if (!index && entry.extension() == ".json" && fs::is_regular_file(entry) &&
                   (is_record(entry) || is_frame_record(entry) || is_broken_record(entry))) {
            files.push_back(entry);
        }
    }
}

std::vector<fs::path> records_in(const fs::path& folder) {
    std::vector<fs::path> files;
    add_records(folder, files);
    return files;
}

/// The environment variable as a number; nothing when it is not set.
std::optional<std::size_t> number_in_environment(const char* variable) {
    const char* text = std::getenv(variable);
    if (!text) return std::nullopt;
    std::size_t value = 0;
    const char* end = text + std::string_view(text).size();
    const auto result = std::from_chars(text, end, value);
    if (result.ec != std::errc{} || result.ptr != end || *text == '\0')
        throw Error({"environment", variable}, "found '" + std::string(text) + "', expected a number");
    return value;
}

/// The backends that records ask for, each made once.
class Backends {
  public:
    explicit Backends(const ReplayOptions& options) : options_(options) {}

    Backend& get(const std::string& name) {
        // Asking a backend may start a process: the lock is not waited for with a turn in hand.
        std::unique_lock lock(mutex_, std::defer_lock);
        {
            const TurnPause others;
            lock.lock();
        }
        auto& backend = backends_[name];
        if (!backend) backend = options_.find_backend(name);
        WHITTLE_CHECK(backend, "find_backend gave no backend");
        return *backend;
    }

  private:
    const ReplayOptions& options_;
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Backend>> backends_;
};

/// What became of a record whose run ended as `outcome`; a failure may be known.
ReplayResult::Status status_of(Verdict verdict, const Outcome& outcome, bool known) {
    using Status = ReplayResult::Status;
    if (outcome.kind == Outcome::Kind::unresolved) return Status::error;
    switch (verdict) {
        case Verdict::right:
            return known ? Status::xpass : Status::passed;
        case Verdict::fails:
            return known ? Status::xfail : Status::failed;
        case Verdict::not_judged:
            return Status::skipped;
    }
    __builtin_unreachable();
}

/// Capture runs again on the frame's events, in a process of its own: the outputs are computed, too. No backend takes
/// part.
Outcome recapture_isolated(const FrameRecord& record, const ReplayOptions& options, bool& identical) {
    const Limits& limits = options.limits;
    const ProcessOptions process{.timeout = limits.timeout, .memory_limit = limits.memory, .cpu_limit = limits.cpu};
    const ProcessResult ran = run_forked(
        [&] {
            try {
                const Recaptured found = recapture(record, options.accuracy.value_or(Accuracy{}), options.to_event);
                if (!found.differences.empty()) std::fputs(found.differences.front().c_str(), stdout);
                std::fflush(stdout);
                return found.identical ? 0 : 1;
            } catch (const std::exception& error) {
                std::fputs(error.what(), stdout);
            }
            std::fflush(stdout);
            return 1;
        },
        process);
    identical = ran.exit_code == 0 && ran.out.empty();
    if (ran.timed_out || ran.cpu_exceeded) return {.kind = Outcome::Kind::timeout, .message = "no result in time"};
    if (ran.out_of_memory) return {.kind = Outcome::Kind::out_of_memory, .message = "out of memory"};
    if (ran.ended_from_outside)
        return {.kind = Outcome::Kind::unresolved,
                .message = "ended by " + signal_name(ran.signal) + ", which Whittle did not send"};
    if (ran.signal) return {.kind = Outcome::Kind::crash, .message = "killed by " + signal_name(ran.signal)};
    return {.kind = ran.out.empty() ? Outcome::Kind::ok : Outcome::Kind::mismatch, .message = ran.out};
}

void run_frame_record(ReplayResult& result, const ReplayOptions& options, const KnownFailures& known) {
    const FrameRecord record = load_frame_record(result.file);
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = recapture_isolated(record, options, result.identical);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.name = record.name;
    result.frame = record.frame;
    result.backend = "capture";
    const KnownFailures::Entry* entry = known.find(result.file, record.name);
    result.verdict = outcome.failed() ? Verdict::fails : Verdict::right;
    result.status = status_of(result.verdict, outcome, entry != nullptr);
    result.outcome = name(outcome.kind);
    if (outcome.failed()) result.first_difference = outcome.message;
    if (entry) result.known_reason = entry->reason;
    if (options.to_event) result.stopped_after = last_event(record, *options.to_event);
}

void note(const Judgement& said, ReplayResult& result) {
    result.verdict = said.verdict;
    result.compared = said.compared;
    result.agree = said.agree;
    result.outcome = name(said.right() ? Outcome::Kind::ok : said.outcome.kind);
    if (said.verdict == Verdict::not_judged && said.outcome.kind != Outcome::Kind::unsupported &&
        said.outcome.kind != Outcome::Kind::unresolved)
        result.outcome = name(said.verdict);
    if (said.fails())
        result.first_difference = said.outcome.message;
    else
        result.first_difference = said.reason;
}

/// A record that cannot be run, which leaves the others as they are.
void note(const Error& error, ReplayResult& result) {
    result.status = ReplayResult::Status::error;
    result.outcome = "error";
    result.first_difference = error.what();
}

void run_graph_record(ReplayResult& result, const LoadedRecord& loaded, Backend& backend,
                      const BackendOptions& backend_options, const ReplayOptions& options, bool known) {
    const Record& record = loaded.record;
    const auto begin = std::chrono::steady_clock::now();
    Outcome ran = run_isolated(loaded.graph, record.inputs, backend, backend_options, options.limits);
    result.identical = !ran.failed() && std::ranges::equal(ran.outputs, record.expected, same_bits);
    const Judgement said = judge({loaded.graph,
                                  record.inputs,
                                  {record.expected, record.expected_from},
                                  {.spec = result.backend,
                                   .options = backend_options,
                                   .accuracy = options.accuracy.value_or(record.accuracy),
                                   .limits = options.limits,
                                   .tier = Tier::computes}},
                                 backend, std::move(ran));
    note(said, result);
    const Outcome& outcome = said.outcome;
    result.refused = outcome.failed() && outcome.op == kAssertion;
    result.seconds = outcome.compile_seconds + outcome.run_seconds;
    if (result.seconds == 0)  // it did not come back to tell
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.status = status_of(said.verdict, outcome, known);
}

ReplayResult run_unlogged(const fs::path& file, const ReplayOptions& options, const KnownFailures& known,
                          Backends& backends) {
    ReplayResult result;
    result.file = file;
    std::optional<LoadedRecord> loaded;
    try {
        if (is_frame_record(file)) {
            run_frame_record(result, options, known);
            return result;
        }
        loaded = load_checked_record(file, UnknownOps::keep);  // the backend may know ops that Whittle does not
    } catch (const Error& error) {
        note(error, result);
        return result;
    }
    const Record& record = loaded->record;
    result.name = record.name;
    result.frame = record.frame;
    result.backend = options.backend.empty() ? record.backend : options.backend;
    const KnownFailures::Entry* entry = known.find(file, record.name);
    if (entry) result.known_reason = entry->reason;
    if (!record.capture_fault.empty()) {  // what a backend makes of the graph says nothing about the backend
        result.status = entry ? ReplayResult::Status::xfail : ReplayResult::Status::failed;
        result.verdict = Verdict::fails;
        result.outcome = "capture_fault";
        result.first_difference = record.capture_fault;
        return result;
    }
    Backend* found = options.backend.empty() ? nullptr : &backends.get(options.backend);
    BackendOptions backend_options = options.backend_options;
    if (options.backend.empty()) backend_options.insert(record.backend_options.begin(), record.backend_options.end());
    try {
        if (!found) found = &backends.get(found_near(record.backend, result.file).text());
        check_options(*found, backend_options);
        run_graph_record(result, *loaded, *found, backend_options, options, entry != nullptr);
    } catch (const Error& error) {
        note(error, result);
    }
    return result;
}

ReplayResult run_record(const fs::path& file, const ReplayOptions& options, const KnownFailures& known,
                        Backends& backends) {
    log_debug(LogChannel::replay, file.string() + ": begins");
    ReplayResult result = run_unlogged(file, options, known, backends);
    log_info(LogChannel::replay, file.string() + (result.backend.empty() ? "" : " on " + result.backend) + ": " +
                                     std::string(name(result.status)) +
                                     (result.first_difference.empty() ? "" : ": " + result.first_difference));
    return result;
}

}  // namespace

std::vector<fs::path> find_records(const std::vector<fs::path>& arguments, std::optional<std::size_t> to_event) {
    std::vector<fs::path> files;
    std::set<fs::path> seen;
    for (const fs::path& argument : arguments) {
        if (!fs::exists(argument)) throw Error({argument.string(), {}}, "No such file or directory");
        const bool folder = fs::is_directory(argument);
        std::vector<fs::path> found = folder ? records_in(argument) : std::vector<fs::path>{argument};
        if (found.empty())
            throw Error({argument.string(), {}}, "there are no records in this folder", "trace writes them");
        if (to_event && found.size() > *to_event) found.resize(*to_event);
        for (const fs::path& file : found)
            if (seen.insert(fs::weakly_canonical(file)).second) files.push_back(file);
    }
    return files;
}

std::optional<Shard> shard_from_environment() {
    const auto count = number_in_environment("GTEST_TOTAL_SHARDS"), index = number_in_environment("GTEST_SHARD_INDEX");
    if (!count && !index) return std::nullopt;
    if (!count || !index)
        throw Error({"environment", count ? "GTEST_SHARD_INDEX" : "GTEST_TOTAL_SHARDS"},
                    "GTEST_SHARD_INDEX and GTEST_TOTAL_SHARDS require each other");
    if (const char* status = std::getenv("GTEST_SHARD_STATUS_FILE"); status && *status) write_file(status, "");
    return Shard{*index, *count};
}

std::vector<fs::path> select_records(std::vector<fs::path> records, const std::string& filter, const Shard& shard) {
    if (shard.count == 0 || shard.index >= shard.count)
        throw Error("found shard " + std::to_string(shard.index) + " of " + std::to_string(shard.count) +
                    ", expected an index from 0 to one below the number of shards");
    if (!filter.empty()) {
        const Pattern pattern("--filter", filter);
        std::erase_if(records, [&](const fs::path& file) { return !pattern.found_in(file.string()); });
    }
    std::vector<fs::path> selected;
    for (std::size_t i = shard.index; i < records.size(); i += shard.count) selected.push_back(records[i]);
    return selected;
}

KnownFailures::KnownFailures(const fs::path& file) {
    const std::string text = read_file(file);
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const std::string_view line = std::string_view(text).substr(start, end - start);
        const std::size_t comment = std::min(line.find('#'), line.size());
        Entry entry{trimmed(line.substr(0, comment)), trimmed(line.substr(std::min(comment + 1, line.size())))};
        if (!entry.pattern.empty()) entries_.push_back(std::move(entry));
        start = end + 1;
    }
}

namespace {

bool is_for(const std::string& pattern, const fs::path& record, const std::string& name) {
    const auto matches = [&](const std::string& glob, const std::string& text) {
        return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
    };
    const std::string path = fs::weakly_canonical(record).string();
    const std::string tail = fs::path(pattern).lexically_normal().string();
    return matches(pattern, name) || matches(tail, path) || matches("*/" + tail, path);
}

}  // namespace

const KnownFailures::Entry* KnownFailures::find(const fs::path& record, const std::string& name) const {
    for (const Entry& entry : entries_)
        if (is_for(entry.pattern, record, name)) return &entry;
    return nullptr;
}

std::vector<std::string> KnownFailures::unused(const std::vector<fs::path>& records) const {
    std::vector<std::string> patterns;
    for (const Entry& entry : entries_)
        if (std::none_of(records.begin(), records.end(),
                         [&](const fs::path& record) { return is_for(entry.pattern, record, record.stem().string()); }))
            patterns.push_back(entry.pattern);
    return patterns;
}

std::string_view name(ReplayResult::Status status) {
    switch (status) {
        case ReplayResult::Status::passed:
            return "passed";
        case ReplayResult::Status::failed:
            return "failed";
        case ReplayResult::Status::skipped:
            return "skipped";
        case ReplayResult::Status::xfail:
            return "xfail";
        case ReplayResult::Status::xpass:
            return "xpass";
        case ReplayResult::Status::error:
            return "error";
    }
    __builtin_unreachable();
}

ReplayResult replay(const fs::path& file, const ReplayOptions& options, const KnownFailures& known) {
    Backends backends(options);
    return run_record(file, options, known, backends);
}

std::vector<ReplayResult> replay_all(const std::vector<fs::path>& files, const ReplayOptions& options,
                                     const KnownFailures& known, const std::function<void(const ReplayResult&)>& done) {
    Backends backends(options);
    std::vector<ParallelRuns<ReplayResult>::Run> planned;
    for (const fs::path& file : files) planned.emplace_back([&] { return run_record(file, options, known, backends); });
    ParallelRuns<ReplayResult> runs(std::move(planned), static_cast<std::size_t>(std::max(options.jobs, 1)));
    std::vector<ReplayResult> results;
    for (std::size_t i = 0; i < files.size(); ++i) {
        results.push_back(runs.next());
        if (done) done(results.back());
    }
    return results;
}

}  // namespace whittle
