#include "record/launch/torch_log.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/words.h"

namespace whittle {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::string_view kPrefix = "dedicated_log_torch_trace_";

std::set<fs::path> logs_in(const fs::path& folder) {
    std::set<fs::path> files;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().filename().string().starts_with(kPrefix)) files.insert(entry.path());
    return files;
}

// ---- records --------------------------------------------------------------------------------------------------------

/// "V1129 22:30:16.244000 23078 torch/_dynamo/utils.py:2363] {…}"; null for another line.
json record_of(const std::string& line) {
    const std::size_t end = line.find("] {");
    if (end == std::string::npos || line.empty() || !std::isupper(static_cast<unsigned char>(line[0]))) return nullptr;
    return json::parse(line.begin() + static_cast<std::ptrdiff_t>(end) + 2, line.end(), nullptr, false);
}

/// The rest of the first line that begins with one of these; empty: none does.
std::string behind(const std::string& text, std::initializer_list<std::string_view> beginnings) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        for (const std::string_view beginning : beginnings)
            if (line.starts_with(beginning)) return line.substr(beginning.size());
    return {};
}

// ---- what they say --------------------------------------------------------------------------------------------------

/// The text that PyTorch prints for a graph break: the place, the reason, hints, stacks.
TorchBreak break_of(const std::string& text) {
    TorchBreak found;
    const std::string place = behind(text, {"Graph break in user code at "});
    const std::size_t colon = place.rfind(':');
    found.file = place.substr(0, colon);
    if (colon != std::string::npos) std::from_chars(place.data() + colon + 1, place.data() + place.size(), found.line);
    found.reason = behind(text, {"Graph Break Reason: ", "Reason: "});
    // What was traced comes first, and then what cannot be.
    if (const std::size_t general = text.find("Encountered graph break when"); general != std::string::npos)
        if (const std::size_t blank = text.find("\n\n", general); blank != std::string::npos)
            found.reason = text.substr(blank + 2, text.find('\n', blank + 2) - blank - 2);
    if (constexpr std::string_view kType = "Unsupported: "; found.reason.starts_with(kType))
        found.reason.erase(0, kType.size());
    found.hint = behind(text, {"  Hint: "});
    return found;
}

/// A text, or a list of texts.
std::vector<std::string> failed_guards_of(const std::string& text) {
    const json parsed = json::parse(text, nullptr, false);
    if (parsed.is_array()) {
        std::vector<std::string> guards;
        for (const json& one : parsed) guards.push_back(one.is_string() ? one.get<std::string>() : one.dump());
        return guards;
    }
    std::vector<std::string> guards;
    std::istringstream lines(parsed.is_string() ? parsed.get<std::string>() : text);
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) guards.push_back(line);
    return guards;
}

template <class T>
T member(const json& object, const char* name, T otherwise) {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? otherwise : found->get<T>();
}

class Reader {
  public:
    std::vector<TorchCompilation> read(const fs::path& file) {
        std::ifstream in(file);
        json record;
        std::string text;
        const auto end_record = [&] {
            if (record.is_object()) add(record, text);
            record = nullptr;
            text.clear();
        };
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with('\t')) {
                text += (text.empty() ? "" : "\n") + line.substr(1);
                continue;
            }
            end_record();
            record = record_of(line);
        }
        end_record();
        return std::move(done_);
    }

  private:
    using Id = std::pair<std::int64_t, std::int64_t>;

    void add(const json& record, const std::string& text) {
        if (!record.contains("frame_id")) return;
        try {
            const Id id{member<std::int64_t>(record, "frame_id", 0),
                        member<std::int64_t>(record, "frame_compile_id", 0)};
            const std::string artifact = record.value("artifact", json::object()).value("name", "");
            if (artifact == "dynamo_graph_break_reason")  // a graph is traced again up to the break
                add_once(open_[id].breaks, break_of(text));
            if (artifact == "recompile_reasons") open_[id].failed_guards = failed_guards_of(text);
            if (const auto metrics = record.find("compilation_metrics"); metrics != record.end()) end(id, *metrics);
        } catch (const json::exception&) {  // a later PyTorch says it otherwise
        }
    }

    void end(Id id, const json& metrics) {
        TorchCompilation one = std::move(open_[id]);
        open_.erase(id);
        one.id = std::to_string(id.first) + "/" + std::to_string(id.second);
        one.function = member<std::string>(metrics, "co_name", "");
        one.file = member<std::string>(metrics, "co_filename", "");
        one.line = member<std::int64_t>(metrics, "co_firstlineno", 0);
        one.ops = member<std::int64_t>(metrics, "graph_op_count", 0);
        one.guards = member<std::int64_t>(metrics, "guard_count", 0);
        one.seconds = member<double>(metrics, "entire_frame_compile_time_s", 0);
        one.error = member<std::string>(metrics, "fail_type", "");
        if (const std::string why = member<std::string>(metrics, "fail_reason", ""); !why.empty())
            one.error += ": " + why;
        std::ranges::replace(one.error, '\n', ' ');
        done_.push_back(std::move(one));
    }

    std::map<Id, TorchCompilation> open_;
    std::vector<TorchCompilation> done_;
};

}  // namespace

std::vector<TorchCompilation> read_torch_log(const fs::path& file) { return Reader().read(file); }

TorchLogs::TorchLogs(const fs::path& own) {
    const char* const users = std::getenv(kVariable);
    folder_ = users && *users ? fs::path(users) : own;
    earlier_ = logs_in(folder_);
}

std::vector<TorchCompilation> TorchLogs::compilations() const {
    std::vector<TorchCompilation> all;
    for (const fs::path& file : logs_in(folder_)) {
        if (earlier_.contains(file)) continue;
        const std::vector<TorchCompilation> some = read_torch_log(file);
        append(all, some);
    }
    return all;
}

}  // namespace whittle
