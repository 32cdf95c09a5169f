#include "frontends/halide/runs.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "formats/document.h"
#include "formats/json.h"

namespace whittle::halide_program {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kFolder = "halide";
constexpr int kMajor = 1, kMinor = 0;

/// Why the run cannot be run again; empty: it can.
std::string lacks(const CapturedRun& run) {
    if (run.results.empty()) return "did not end";
    const bool whole =
        std::ranges::none_of(run.pipeline.images, [](const Image& image) { return image.file.empty(); }) &&
        std::ranges::none_of(run.results, &std::string::empty);
    if (!whole) return "has data that are too large or have a type that Whittle does not record";
    for (const CapturedFunc& func : run.pipeline.funcs)
        if (!func.external.empty()) return "calls the external function " + func.external;
    return {};
}

/// "out", or "out-1" where another pipeline has this name.
std::string free_name(const std::vector<std::string>& outputs, std::set<std::string>& taken) {
    std::string base = join(outputs, "-");
    std::ranges::replace_if(
        base, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-'; }, '_');
    std::string name = base;
    for (int i = 1; !taken.insert(name).second; ++i) name = base + "-" + std::to_string(i);
    return name;
}

/// Moves the files of one pipeline into its folder.
class FileMover {
  public:
    FileMover(fs::path from, fs::path folder, fs::path to, SavedRuns& saved)
        : from_(std::move(from)), folder_(std::move(folder)), to_(std::move(to)), saved_(saved) {
        fs::create_directories(folder_ / to_);
    }

    void move(const std::string& file) {
        if (file.empty() || !moved_.insert(file).second) return;
        fs::copy_file(from_ / file, folder_ / to_ / file, fs::copy_options::overwrite_existing);
        fs::remove(from_ / file);
        saved_.data.push_back(to_ / file);
    }

  private:
    const fs::path from_, folder_, to_;
    SavedRuns& saved_;
    std::set<std::string> moved_;
};

/// A file of the record's folder, wherever a changed record leads.
std::string file_name(const std::string& name) { return fs::path(name).filename().string(); }

json to_json(const Program& program, const CapturedRun& run) {
    json entry{{"pipeline", scheduled(program, run)}, {"results", run.results}};
    if (!run.serialized.empty()) entry["serialized"] = run.serialized;
    return entry;
}

}  // namespace

SavedRuns save_runs(const Program& program, const fs::path& data, const fs::path& folder) {
    SavedRuns saved;
    std::map<std::vector<std::string>, std::vector<const CapturedRun*>> by_outputs;
    std::map<std::string, std::size_t> lacking;
    std::vector<std::vector<std::string>> order;
    for (const CapturedRun& run : program.runs) {
        if (const std::string why = lacks(run); !why.empty()) {
            ++lacking[join(run.pipeline.outputs) + " " + why];
            continue;
        }
        auto& runs = by_outputs[run.pipeline.outputs];
        if (runs.empty()) order.push_back(run.pipeline.outputs);
        runs.push_back(&run);
    }
    for (const auto& [why, count] : lacking)
        saved.notes.push_back("not recorded: " + plural(count, "run") + ": " + why);
    std::set<std::string> taken;
    for (const std::vector<std::string>& outputs : order) {
        const std::string name = free_name(outputs, taken);
        const fs::path file = fs::path(kFolder) / (name + ".json");
        FileMover files(data, folder, fs::path(kFolder) / name, saved);
        json runs = json::array();
        for (const CapturedRun* const run : by_outputs[outputs]) {
            runs.push_back(to_json(program, *run));
            for (const Image& image : run->pipeline.images) files.move(image.file);
            for (const std::string& result : run->results) files.move(result);
            files.move(run->serialized);
        }
        saved.records.push_back({file, join(outputs), runs.size()});
        const json record{{"format", kHalideRunsFormat},
                          {"version", std::to_string(kMajor) + "." + std::to_string(kMinor)},
                          {"name", join(outputs)},
                          {"data", name},
                          {"runs", std::move(runs)}};
        write_file(folder / file, record.dump(1) + "\n");
    }
    return saved;
}

RecordedRuns load_runs(const fs::path& file) {
    const std::string text = read_file(file);
    Document(text, file.string()).require_format(kHalideRunsFormat, kMajor, kMinor);
    const json record = parse_json(text, file.string());
    try {
        RecordedRuns recorded{.name = record.at("name")};
        recorded.folder = file.parent_path() / file_name(record.at("data"));
        for (const json& entry : record.at("runs")) {
            CapturedRun run{.number = static_cast<int>(recorded.runs.size()) + 1,
                            .pipeline = entry.at("pipeline"),
                            .results = entry.at("results")};
            for (Image& image : run.pipeline.images) image.file = file_name(image.file);
            for (std::string& result : run.results) result = file_name(result);
            recorded.runs.push_back(std::move(run));
        }
        return recorded;
    } catch (const json::exception& error) {
        throw Error({file.string(), {}}, std::string("damaged record of Halide's pipelines: ") + error.what());
    }
}

}  // namespace whittle::halide_program
