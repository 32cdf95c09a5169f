#include "trace/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/command_words.h"
#include "base/error.h"
#include "base/event_log.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/document.h"
#include "formats/json.h"
#include "formats/sidecar.h"
#include "trace/names.h"

namespace whittle {

namespace fs = std::filesystem;

namespace {

constexpr const char *kIndex = "index.json", *kLog = "log.jsonl";

fs::path real_path(const fs::path& path) {
    const fs::path whole = fs::weakly_canonical(fs::absolute(path));
    return whole.has_filename() ? whole : whole.parent_path();  // "DIR/"
}

/// Where the models of a trace are.
std::set<fs::path> models_of(const TraceIndex& index, const fs::path& folder) {
    std::set<fs::path> files;
    for (const IndexModel& model : index.models) files.insert(real_path(real_path(folder) / model.file));
    if (files.empty() && !index.model.empty()) files.insert(real_path(index.model));
    return files;
}

std::string words(std::span<const fs::path> models) {
    return join(models, [](const fs::path& model) { return model.string(); });
}

template <class List>
std::string unused_name(const std::string& wanted, const char* separator, const List& taken) {
    std::string name = wanted;
    const auto is_it = [&](const auto& other) { return other.name == name; };
    for (int i = 1; std::ranges::any_of(taken, is_it); ++i) name = wanted + separator + std::to_string(i);
    return name;
}

void remove_file(const fs::path& file) {
    std::error_code error;
    fs::remove(file, error);
    if (error) throw Error({file.string(), {}}, "cannot remove the files of an earlier trace: " + error.message());
}

}  // namespace

std::optional<TraceIndex> find_trace(const fs::path& folder) {
    const fs::path file = folder / kIndex;
    if (!fs::exists(file)) return std::nullopt;
    if (format_of_json(file) == kTraceFormat) return load_index(folder);
    const Document foreign(read_file(file), file.string());
    return std::nullopt;
}

namespace {

/// The first line of a log that we write (base/event_log.h).
bool is_own_log(const fs::path& file) {
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line)) return false;
    const nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
    return event.is_object() && event.contains("time") && event.contains("process") && event.contains("kind");
}

/// The index is cut off or otherwise damaged, as a crash of the machine may leave it.
bool is_damaged(const fs::path& index) { return fs::exists(index) && !nlohmann::json::accept(read_file(index)); }

/// What is left of a trace that could not write its index: the log alone.
bool is_unfinished(const fs::path& folder) {
    const fs::directory_iterator entries(folder);
    return std::distance(fs::begin(entries), fs::end(entries)) == 1 && is_own_log(folder / kLog);
}

/// A trace whose index cannot say any more what belongs to it.
bool is_ruined(const fs::path& folder) { return is_damaged(folder / kIndex) && is_own_log(folder / kLog); }

}  // namespace

std::vector<fs::path> trace_files(const fs::path& folder) {
    std::vector<fs::path> files;
    if (!fs::is_directory(folder)) return files;
    if (is_unfinished(folder)) return {kLog};
    if (is_ruined(folder)) return {kLog, kIndex};
    const std::optional<TraceIndex> found = find_trace(folder);
    if (!found) return files;
    const TraceIndex& index = *found;
    const auto add = [&](const fs::path& file) {
        if (!file.empty()) add_once(files, file);
    };
    const auto add_with_tensors = [&](const fs::path& file) {
        if (file.empty()) return;
        const fs::path beside = sidecar_named_in(folder / file);
        if (beside.extension() == ".safetensors") add(beside.lexically_relative(folder));
        add(file);
    };
    for (const IndexGraph& graph : index.graphs) add_with_tensors(graph.file);
    for (const IndexRecord& record : index.records) add_with_tensors(record.file);
    for (const fs::path& file : index.files) add_with_tensors(file);
    // Before files were listed:
    if (const fs::path file = "static.json";
        fs::is_regular_file(folder / file) && format_of_json(folder / file) == "whittle.static")
        add(file);
    files.push_back(kIndex);
    return files;
}

void remove_trace(const fs::path& folder) {
    std::set<fs::path, std::greater<>> folders;  // the inner ones first
    for (const fs::path& file : trace_files(folder)) {
        remove_file(folder / file);
        for (fs::path above = file.parent_path(); !above.empty(); above = above.parent_path()) folders.insert(above);
    }
    std::error_code not_empty;
    for (const fs::path& inner : folders)
        if (fs::is_empty(folder / inner, not_empty)) fs::remove(folder / inner, not_empty);
}

void take_trace(const fs::path& from, const fs::path& to) {
    const std::vector<fs::path> made = trace_files(from), before = trace_files(to);
    for (const fs::path& file : made) {
        const fs::path there = to / file, beside = there.string() + ".part";
        fs::create_directories(there.parent_path());
        std::error_code elsewhere;
        fs::rename(from / file, there, elsewhere);
        if (!elsewhere) continue;
        fs::copy_file(from / file, beside, fs::copy_options::overwrite_existing);
        fs::rename(beside, there);
    }
    for (const fs::path& file : before)
        if (std::ranges::find(made, file) == made.end()) fs::remove(to / file);
    remove_trace(from);
}

TraceLock::TraceLock(const fs::path& folder) : folder_(folder) {
    std::error_code failed;  // which is told when something is written
    made_ = fs::create_directories(folder, failed);
    descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(descriptor_);
        throw Error({folder.string(), {}}, "another process is writing a trace to this folder",
                    "wait until the other process ends, or choose another folder with -o");
    }
}

TraceLock::~TraceLock() {
    std::error_code not_empty;
    if (made_ && fs::is_empty(folder_, not_empty)) fs::remove(folder_, not_empty);
    if (descriptor_ >= 0) ::close(descriptor_);
}

void require_replaceable(const fs::path& folder, std::span<const fs::path> models, bool force,
                         const std::function<bool(const fs::path&)>& takes_others) {
    if (!fs::exists(folder)) return;
    if (!fs::is_directory(folder)) throw Error({folder.string(), {}}, "found a file, expected a folder or a new name");
    if (fs::is_empty(folder) || is_unfinished(folder)) return;
    if (is_ruined(folder)) {
        if (force) return;
        throw Error({(folder / kIndex).string(), {}}, "the file is damaged, and does not name the traced model",
                    "choose another folder with -o, or replace index.json and log.jsonl with --force");
    }
    const std::optional<TraceIndex> found = find_trace(folder);
    if (!found)
        throw Error(
            {folder.string(), {}},
            "found a folder that trace did not write, expected an empty folder, a new name or an earlier trace");
    if (force) return;
    const TraceIndex& index = *found;
    std::set<fs::path> given;
    for (const fs::path& model : models) given.insert(real_path(model));
    for (const fs::path& there : models_of(index, folder))
        if (!given.contains(there)) {
            std::vector<std::string> both = program_words("trace", {"-o", folder.string(), index.model});
            for (const fs::path& model : models) both.push_back(model.string());
            const bool one =
                index.models.size() == 1 && models.size() == 1 && takes_others(there) && takes_others(models[0]);
            throw Error({folder.string(), {}},
                        "the folder holds the trace of " + index.model + ", not of " + words(models),
                        "choose another folder with -o, or replace the trace with --force" +
                            (one ? "; to trace both models into one folder: " + shell_quote(both) : ""));
        }
}

void name_models(TraceIndex& index, const fs::path& folder, std::span<const fs::path> models) {
    index.model = words(models);
    index.models.clear();
    const fs::path from = real_path(folder);
    for (const fs::path& model : models)
        index.models.push_back(
            {unused_name(model_name(model), "_", index.models), real_path(model).lexically_relative(from)});
}

std::string_view name(RecordPolicy policy) {
    static constexpr std::string_view kNames[] = {"always", "on-error", "never"};
    return kNames[static_cast<std::size_t>(policy)];
}

std::optional<RecordPolicy> record_policy_called(std::string_view wanted) {
    for (const RecordPolicy policy : {RecordPolicy::always, RecordPolicy::on_error, RecordPolicy::never})
        if (name(policy) == wanted) return policy;
    return std::nullopt;
}

/// What happens from now on is in the folder, too: of the program that is traced, and of who traces it.
static void open_log(const fs::path& folder) {
    std::error_code failed;  // then the index cannot be written either, which is told
    fs::create_directories(folder, failed);
    EventLog::instance().open(folder.string());
}

TraceWriter::TraceWriter(fs::path folder, TraceIndex head) : folder_(std::move(folder)), index_(std::move(head)) {}

TraceWriter TraceWriter::continued(const fs::path& folder) {
    TraceWriter writer(folder, load_index(folder));
    writer.opened_ = true;
    open_log(folder);
    return writer;
}

/// The index is there first: whatever happens, the files below are known to be the trace's.
void TraceWriter::open() {
    if (opened_ || folder_.empty()) return;
    remove_trace(folder_);
    opened_ = true;
    open_log(folder_);
    save();
}

std::size_t TraceWriter::add_graph(const Graph& graph, const std::string& frame) {
    open();
    IndexGraph entry = index_graph(graph, frame);
    if (folder_.empty()) {
        entry.file = entry.name + ".json";  // by which the report finds the entry
    } else {
        entry.file = save_captured_graph(folder_, graph).lexically_relative(folder_);
        entry.name = entry.file.stem().string();  // unlike the graph's own, unique in the folder
    }
    const auto same = [&](const IndexGraph& other) { return other.file == entry.file; };
    const auto known = std::ranges::find_if(index_.graphs, same);
    const auto position = static_cast<std::size_t>(known - index_.graphs.begin());
    if (known == index_.graphs.end() || folder_.empty()) {
        index_.graphs.push_back(std::move(entry));
        changed();
        return index_.graphs.size() - 1;
    }
    return position;
}

fs::path TraceWriter::add_record(std::size_t entry, const Graph& graph, Record record) {
    open();
    const std::string of = index_.graphs.at(entry).name;
    record.name = unused_name(of, "_run", index_.records);
    const fs::path graph_file = save_captured_graph(folder_, graph).lexically_relative(folder_);
    if (std::ranges::none_of(index_.graphs, [&](const IndexGraph& other) { return other.file == graph_file; }))
        add_file(graph_file);
    const fs::path file = save_record(folder_, graph, record).lexically_relative(folder_);
    index_.records.push_back({record.name, file, of});
    changed();
    return file;
}

fs::path TraceWriter::add_frame_record(FrameRecord record) {
    open();
    record.name = unused_name(record.name, "", index_.records);
    const fs::path file = save_frame_record(folder_, record).lexically_relative(folder_);
    index_.records.push_back({record.name, file, ""});
    changed();
    return file;
}

void TraceWriter::add_file(const fs::path& file) { add_once(index_.files, file); }

void TraceWriter::changed() {
    constexpr std::size_t kAlways = 100;
    constexpr auto kSeldom = std::chrono::milliseconds(100);
    if (++changes_ <= kAlways || std::chrono::steady_clock::now() - saved_at_ >= kSeldom) save();
}

void TraceWriter::save() {
    if (folder_.empty()) return;
    open();
    std::error_code ignored;  // no such file, e.g. where the log could not be made
    if (const fs::path log = EventLog::instance().file(); fs::equivalent(log.parent_path(), folder_, ignored))
        add_file(log.filename());
    save_index(folder_, index_);
    saved_at_ = std::chrono::steady_clock::now();
}

}  // namespace whittle
