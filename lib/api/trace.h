// What a run of the program is remembered by: the folder that `trace` and `explain` asked for (WHITTLE_TRACE_DIR), or,
// for explain() inside a program, memory only.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/frame_host.h"
#include "api/symbolic.h"
#include "capture/compile_id.h"
#include "graph/backend.h"
#include "trace/folder.h"

namespace whittle::api {

/// What is logged, and written into the debug folder, is as the environment says; the first call counts.
void configure_from_environment();

/// What a trace calls this process's program: its path, "" where that is not known.
std::string own_program();

/// What a graph was recorded under.
struct Specialization {
    const std::vector<capture::Guard>& guards;
    const SymbolicGraph* symbolic = nullptr;  ///< where sizes may vary
    capture::CompileId id = {};
};

class Trace {
  public:
    /// The trace that the environment asks for, itself or for its debug folder, or null. A child of fork() has none:
    /// the folder is its parent's.
    static Trace* of_environment();

    /// An empty folder name: in memory. `reported`: somebody will tell of it what the program then does not warn of.
    Trace(std::filesystem::path folder, RecordPolicy records, bool reported = true);
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// Not of the process that this one was forked from.
    bool is_own() const;
    bool is_reported() const { return reported_; }
    /// All runs of graphs, as files.
    bool keeps_runs() const { return keeps_files() && records_ == RecordPolicy::always; }
    const std::filesystem::path& folder() const { return writer_.folder(); }

    void frame(const std::string& name);
    /// Position of the break among those of the index; equal ones at one place are one.
    std::size_t add_break(const std::string& frame, const capture::GraphBreak& why, const Addresses& stack);
    /// Before the graph runs. Returns whether it is new.
    bool add_graph(const std::string& frame, const Recorded& recorded, std::optional<std::size_t> ended_by,
                   const Specialization& of);
    /// A guard of the frame's graphs turned out to be none, …
    void drop_guard(const std::string& frame, const capture::Guard& guard);
    /// … or one after all.
    void restore_guard(const std::string& frame, const capture::Guard& guard);
    void compiled(const std::string& frame, const std::string& key, double seconds);
    /// After it ran: `expected` are the reference's results.
    void add_record(const std::string& frame, const Recorded& recorded, const std::vector<whittle::Tensor>& inputs,
                    const std::vector<whittle::Tensor>& expected, const std::string& backend,
                    const BackendOptions& backend_options);
    bool wants_record(const std::string& key, bool failed);
    /// A call of a compiled function; `call` says all but its number.
    void called(IndexCall call, const Addresses& stack);
    /// Position in the index of what the frame runs under that key, or none: by name.
    std::vector<std::string> graph_names(const std::string& frame, const std::vector<std::string>& keys);
    void add_recompile(const std::string& frame, const capture::Violation& why, const Addresses& stack);
    bool wants_frame_records() const { return keeps_files() && records_ != RecordPolicy::never; }
    /// Where capture failed: the first few of each function. Where it did not, if all runs are recorded: the first few
    /// whose graphs, guards or breaks are others, of tensors of at most 32 MB.
    void add_frame_record(FrameRecord record);
    void note(const std::string& text);
    /// A size that was marked dynamic and that the program fixes.
    void violates(const std::string& text);
    void set_backend(const std::string& name);

    /// As save(); false where that fails, which is told.
    bool write_now();
    /// Writes the index as it is now. Throws Error, unlike all that the program under trace calls on its way: where the
    /// folder cannot be written any more, that is said once, and the program goes on.
    void save();
    const TraceIndex& index() const { return index_; }
    const std::vector<Graph>& graphs() const { return graphs_; }

  private:
    bool keeps_files() const { return !writer_.folder().empty() && !lost_; }
    /// The entry of a graph that is the same but for sizes.
    std::optional<std::size_t> graph_of_other_size(const std::string& key, const SymbolicGraph& graph) const;
    /// Does what writes into the folder; returns false, for this and ever, when that fails.
    bool write(const std::function<void()>& what);
    /// The index is another one.
    void changed() {
        write([this] { writer_.changed(); });
    }
    /// It is written at once: the program may end here.
    void changed_for_good() {
        write([this] { writer_.save(); });
    }
    std::vector<StackFrame> told(const Addresses& addresses);
    void note_locked(const std::string& text);

    std::mutex mutex_;
    std::int64_t order_ = 0;  ///< of the last graph or break of the index
    TraceWriter writer_;
    TraceIndex& index_ = writer_.index();
    bool lost_ = false;  ///< the folder cannot be written
    int process_ = 0;    ///< whose trace it is
    RecordPolicy records_;
    const bool reported_;
    std::vector<Graph> graphs_;                  ///< parallel to the index's
    std::map<std::string, std::size_t> by_key_;  ///< graphs
    /// Graphs with dynamic sizes, by frame and guards, and which entry of the index each is.
    std::multimap<std::string, std::pair<SymbolicGraph, std::size_t>> by_shape_;
    std::set<std::string> beyond_limit_;        ///< keys of graphs
    std::set<std::string> recorded_frames_;     ///< what capture made of those in which nothing failed
    std::map<std::string, Graph> other_sizes_;  ///< by key: of a graph whose sizes vary, at other sizes
    std::map<std::string, int> recorded_runs_;  ///< by key
    std::map<std::string, std::size_t> breaks_, recompiles_, callers_;
    std::map<std::string, std::int64_t> calls_, calls_logged_;  ///< by frame
    std::optional<Timeline> timeline_;                          ///< where times are asked for
};

}  // namespace whittle::api
