#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/hooks.h>

#include <algorithm>
#include <set>

#include "api/compile_report.h"
#include "api/debug_trace.h"
#include "api/frame.h"
#include "base/error.h"
#include "base/log.h"
#include "record/full_code.h"

namespace whittle::api {
namespace {

std::mutex hooks_mutex;
std::vector<std::shared_ptr<OnCompile::Hook>> hooks;
std::atomic<std::uint64_t> last_compile_id{0};

}  // namespace

OnCompile::OnCompile(Hook hook) : hook_(std::make_shared<Hook>(std::move(hook))) {
    const std::lock_guard lock(hooks_mutex);
    hooks.push_back(hook_);
}

OnCompile::~OnCompile() {
    const std::lock_guard lock(hooks_mutex);
    std::erase(hooks, hook_);
}

bool has_compile_hooks() {
    const std::lock_guard lock(hooks_mutex);
    return !hooks.empty();
}

void call_compile_hooks(FunctionState& function, std::size_t entry, const Graph& captured,
                        const CompiledGraph& compiled, CompileReport* report) {
    const std::uint64_t compile_id = ++last_compile_id;
    if (!report) return;
    std::vector<std::shared_ptr<OnCompile::Hook>> called;
    {
        const std::lock_guard lock(hooks_mutex);
        called = hooks;
    }
    std::vector<capture::Guard> guards;
    std::string id;
    {
        const std::lock_guard lock(function.mutex);
        guards = function.cache.entries().at(entry).guards;
        id = function.id_of(entry).numbers();
    }
    CompiledGraphInfo info = report->finish(captured, compiled, guards);
    info.compile_id = compile_id;
    info.id = std::move(id);
    info.function = function.counts.name;
    info.backend = function.backend_name;
    for (const auto& hook : called) (*hook)(info);
}

std::vector<CacheEntry> cache_entries(FunctionState& function) {
    std::vector<CacheEntry> result;
    const std::lock_guard lock(function.mutex);
    for (const capture::FrameCache::Entry& entry : function.cache.entries()) {
        CacheEntry& told = result.emplace_back();
        told.id = function.id_of(result.size() - 1).numbers();
        for (const capture::Guard& guard : entry.guards) told.guards.push_back(guard.text());
        for (const capture::SizeSymbol& symbol : entry.symbols)
            told.symbols.push_back(symbol.name + " = " + symbol.place());
        told.graphs = entry.graphs ? static_cast<std::int64_t>(entry.graphs->size()) : 0;
        told.hits = entry.hits;
    }
    return result;
}

struct PrepareDebug::State {
    std::filesystem::path folder;
    Trace trace;
    Trace* before = nullptr;

    explicit State(const std::filesystem::path& path) : folder(path), trace(path, RecordPolicy::always) {}
};

/// The trace of an earlier run of the program gives way, as under `trace`; one of this run stays.
static void take_folder(const std::string& folder) {
    static std::set<std::filesystem::path> taken;
    const std::lock_guard lock(hooks_mutex);
    const bool fresh = taken.insert(std::filesystem::weakly_canonical(folder)).second;
    if (!std::filesystem::exists(std::filesystem::path(folder) / "index.json")) return;
    const std::optional<TraceIndex> found = find_trace(folder);
    const std::string expected = ", expected an empty or a new folder";
    if (!fresh) throw Error({folder, {}}, "found a folder with a trace that this run has written" + expected);
    if (!found || found->model != own_program())
        throw Error({folder, {}}, "found a folder with a trace of another program" + expected);
}

PrepareDebug::PrepareDebug(const std::string& folder) {
    take_folder(folder);
    std::filesystem::create_directories(folder);
    state_ = std::make_unique<State>(folder);
    state_->before = exchange_trace(&state_->trace);
}

PrepareDebug::~PrepareDebug() {
    exchange_trace(state_->before);
    try {
        state_->trace.save();
        whittle::write_full_code(state_->folder);
    } catch (const std::exception& error) {
        log_warning(LogChannel::capture, "the trace in " + state_->folder.string() + " is incomplete: " + error.what());
    }
}

struct Debug::State {
    DebugFiles files;
    std::unique_ptr<DebugTrace> trace;  ///< where nobody else keeps one

    explicit State(const std::string& folder) : files(folder, "+step") {
        if (!current_trace()) trace = DebugTrace::begin();
        if (trace) exchange_trace(&trace->trace());
    }
    ~State() {
        if (trace) exchange_trace(nullptr);
    }
};

Debug::Debug(const std::string& folder) : state_(new State(folder)) {}
Debug::~Debug() = default;

}  // namespace whittle::api
