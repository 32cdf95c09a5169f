#include "replay/records.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/number_text.h"
#include "base/pattern.h"
#include "base/words.h"
#include "formats/document.h"
#include "formats/json.h"
#include "trace/folder.h"

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
                   (is_record(entry) || is_frame_record(entry) || format_of_json(entry) == kHalideRunsFormat ||
                    is_broken_record(entry))) {
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
    const auto value = number_of<std::size_t>(text);
    if (!value) throw Error({"environment", variable}, "found '" + std::string(text) + "', expected a number");
    return value;
}

}  // namespace

std::vector<fs::path> find_records(const std::vector<fs::path>& arguments, std::optional<std::size_t> to_event,
                                   const ModelsOfFolder& models) {
    std::vector<fs::path> files;
    std::set<fs::path> seen;
    for (const fs::path& argument : arguments) {
        if (!fs::exists(argument)) throw Error({argument.string(), {}}, "No such file or directory");
        const bool folder = fs::is_directory(argument);
        std::vector<fs::path> found = folder ? records_in(argument) : std::vector<fs::path>{argument};
        if (found.empty() && models) found = models(argument);
        if (found.empty())
            throw Error({argument.string(), {}}, "found no records in this folder",
                        program_called("trace") + " MODEL -o FOLDER writes records");
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
        throw Error({"environment", {}}, std::string("found ") +
                                             (count ? "GTEST_TOTAL_SHARDS without GTEST_SHARD_INDEX"
                                                    : "GTEST_SHARD_INDEX without GTEST_TOTAL_SHARDS") +
                                             ", expected both or neither");
    if (const char* status = std::getenv("GTEST_SHARD_STATUS_FILE"); status && *status) write_file(status, "");
    return Shard{*index, *count};
}

std::vector<fs::path> select_records(std::vector<fs::path> records, const std::string& filter, const Shard& shard) {
    if (shard.count == 0 || shard.index >= shard.count)
        throw Error("found shard index " + std::to_string(shard.index) + " of " + plural(shard.count, "shard") +
                    ", expected an index below the number of shards");
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
        std::size_t comment = std::min(line.find('#'), line.size());
        while (comment < line.size() && comment > 0 && line[comment - 1] == '\\')
            comment = std::min(line.find('#', comment + 1), line.size());
        Entry entry{trimmed(line.substr(0, comment)), trimmed(line.substr(std::min(comment + 1, line.size())))};
        if (!entry.pattern.empty()) entries_.push_back(std::move(entry));
        start = end + 1;
    }
}

fs::path path_as_name(fs::path record) {
    if (record.extension() == ".json") record.replace_extension();
    if (record.parent_path().filename() == "records") record = record.parent_path().parent_path() / record.filename();
    return record;
}

namespace {

/// A name may hold what means something in a glob.
bool matches(const std::string& glob, const std::string& text) {
    return glob == text || ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

bool is_for(const std::string& pattern, const fs::path& record, const std::string& name) {
    if (matches(pattern, name)) return true;
    const std::string tail = fs::path(pattern).lexically_normal().string();
    const std::string here = fs::absolute(pattern).lexically_normal().string();  // of "../records/main.json"
    const auto from_any_folder = [&](const fs::path& path) {
        const std::string text = path.string();
        return matches(here, text) || text.ends_with("/" + tail) || matches("*/" + tail, text);
    };
    const fs::path real = fs::weakly_canonical(record), spelled = fs::absolute(record).lexically_normal();
    return std::ranges::any_of(std::initializer_list<fs::path>{real, spelled}, [&](const fs::path& path) {
        return from_any_folder(path) || from_any_folder(path_as_name(path));
    });
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
        if (std::ranges::none_of(
                records, [&](const fs::path& record) { return is_for(entry.pattern, record, record.stem().string()); }))
            patterns.push_back(entry.pattern);
    return patterns;
}

}  // namespace whittle
