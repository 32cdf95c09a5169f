// A trace folder as its one writer sees it: names and numbers of graphs and records, the index, and which files are the
// trace's. `trace` writes through it for models and LibTorch programs, the API inside programs of its own.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/frame_record.h"
#include "trace/index.h"
#include "trace/record.h"

namespace whittle {

/// The index that trace wrote into the folder; nothing when there is none, or somebody else's. Throws Error for one
/// that cannot be read.
std::optional<TraceIndex> find_trace(const std::filesystem::path& folder);

/// The files of the trace in `folder`, as its index lists them, with the tensors beside them; relative to the folder,
/// index.json last. Of a trace that was cut short (no index) or whose index is damaged: its log, and that. Empty where
/// there is no trace. Throws Error for an index that cannot be read.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& folder);

/// Removes these files, and folders that are empty then; nothing else in `folder` is touched. Throws Error.
void remove_trace(const std::filesystem::path& folder);

/// The trace in `from` takes the place of the one in `to`: file by file, its index last, so that `to` has one all the
/// time. Throws Error.
void take_trace(const std::filesystem::path& from, const std::filesystem::path& to);

/// Of the one process that writes a trace into the folder, as long as this lives; nothing of it is left in the folder,
/// which is made, and removed again if it is empty at the end.
class TraceLock {
  public:
    /// Throws Error when another process has it.
    explicit TraceLock(const std::filesystem::path& folder);
    ~TraceLock();
    TraceLock(const TraceLock&) = delete;
    TraceLock& operator=(const TraceLock&) = delete;

  private:
    std::filesystem::path folder_;
    int descriptor_ = -1;
    bool made_ = false;
};

/// Throws Error unless a trace of `models` may be written into `folder`: it is not there yet, empty, or holds a trace
/// of no other models, or the log alone of one that was cut short; with `force`, any trace, also one whose index is
/// damaged. `takes_others`: that a model can be traced together with others, as the hint
/// then says.
void require_replaceable(const std::filesystem::path& folder, std::span<const std::filesystem::path> models, bool force,
                         const std::function<bool(const std::filesystem::path&)>& takes_others);

/// What the index says of models that are traced into `folder`: their names, no two alike, and where they are.
void name_models(TraceIndex& index, const std::filesystem::path& folder, std::span<const std::filesystem::path> models);

/// Which runs are recorded: trace's --record, $WHITTLE_TRACE_RECORDS.
enum class RecordPolicy {
    always,
    on_error,  ///< those that fail or give wrong results
    never
};
/// "always", "on-error", "never".
std::string_view name(RecordPolicy policy);
std::optional<RecordPolicy> record_policy_called(std::string_view name);

class TraceWriter {
  public:
    /// The trace that is in `folder` is removed when something is written for the first time. An empty folder name: the
    /// trace is kept in memory, as an index.
    TraceWriter(std::filesystem::path folder, TraceIndex head);
    /// Goes on with the trace that is in `folder`. Throws Error.
    static TraceWriter continued(const std::filesystem::path& folder);

    const std::filesystem::path& folder() const { return folder_; }
    TraceIndex& index() { return index_; }
    const TraceIndex& index() const { return index_; }

    /// Writes the graph as graphs/NAME.json, or NAME_1, NAME_2 … when another graph has that name. Returns the position
    /// of its entry in index().graphs; an equal graph that is there already has one.
    std::size_t add_graph(const Graph& graph, const std::string& frame);
    /// Writes the record under the name of the graph's entry, or NAME_run1, NAME_run2 …; `graph` is what it ran: the
    /// entry's, or that at other sizes. Returns its path relative to the folder.
    std::filesystem::path add_record(std::size_t entry, const Graph& graph, Record record);
    /// Writes it under its name, or NAME1, NAME2 … Returns its path relative to the folder.
    std::filesystem::path add_frame_record(FrameRecord record);
    /// A file that somebody else wrote into the folder as part of the trace; relative to it.
    void add_file(const std::filesystem::path& file);

    /// The index is another one: it is written soon, at the latest by save(). The whole index is written each time: a
    /// short one always, so that a crash right after loses nothing, a long one now and then.
    void changed();
    /// Writes the index as it is now.
    void save();

  private:
    void open();

    std::filesystem::path folder_;
    TraceIndex index_;
    bool opened_ = false;
    std::size_t changes_ = 0;
    std::chrono::steady_clock::time_point saved_at_ = {};
};

}  // namespace whittle
