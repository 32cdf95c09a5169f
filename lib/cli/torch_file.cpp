#include "cli/torch_file.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/words.h"

namespace whittle::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kCall = "from torch._dynamo.repro.after_", kLog = "dedicated_log_torch_trace_";
constexpr std::chrono::minutes kMostTime{10};

fs::path reader(const fs::path& path) {
    for (const fs::path& folder : backend_folders())
        if (fs::path script = folder / "torch" / "read_model.py"; fs::exists(script)) return script;
    throw Error({path.string(), {}},
                "found a file of torch.compile, but the reader of such files (torch/read_model.py) is not installed in "
                "any backend folder");
}

/// Of what the reader printed, its own last words.
std::string error_of(const ProcessResult& result) {
    constexpr std::string_view kError = "error: ";
    const std::size_t at = result.err.rfind(kError);
    if (result.exit_code != 2 || at == std::string::npos) return "the Python interpreter " + ending_of(result);
    const std::size_t begin = at + kError.size();
    return result.err.substr(begin, result.err.find('\n', begin) - begin);
}

void warn_of_settings(const fs::path& path, const std::vector<std::string>& settings) {
    std::string words;
    for (const std::string& setting : settings) words += " " + shell_quote({"--backend-option", setting});
    if (!words.empty())
        log_warning(LogChannel::frontend, path.string() +
                                              ": the file changes settings of PyTorch; to apply these settings to the "
                                              "backends inductor and torch:NAME, add" +
                                              words);
}

std::vector<TorchGraph> converted(const fs::path& path, const fs::path& folder) {
    const ProcessResult result = run_process({"python3", reader(path).string(), path.string(), folder.string()},
                                             {.timeout = kMostTime, .remove_if_killed = folder});
    log_debug(LogChannel::frontend, result.err);
    if (!result.good()) throw Error({path.string(), {}}, error_of(result));
    std::vector<TorchGraph> graphs;
    std::vector<std::string> settings;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
        const nlohmann::json said = nlohmann::json::parse(line);
        const std::string name = said.at("graph");
        graphs.push_back({folder / (name + ".json"), folder / (name + ".safetensors")});
        for (const std::string setting : said.at("settings")) add_once(settings, setting);
    }
    warn_of_settings(path, settings);
    return graphs;
}

}  // namespace

bool is_torch_file(const fs::path& path) {
    if (path.extension() != ".py") return false;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);)
        if (const std::size_t at = line.find_first_not_of(' ');
            at != std::string::npos && line.compare(at, kCall.size(), kCall) == 0)
            return true;
    return false;
}

bool is_torch_log_folder(const fs::path& path) {
    std::error_code ignored;
    return std::ranges::any_of(fs::directory_iterator(path, ignored), [](const fs::directory_entry& entry) {
        return entry.path().filename().string().starts_with(kLog);
    });
}

std::vector<TorchGraph> read_torch_file(const fs::path& path) {
    static std::mutex mutex;
    static std::map<fs::path, std::pair<TempDir, std::vector<TorchGraph>>> read;
    const std::lock_guard lock(mutex);
    auto [entry, fresh] = read.try_emplace(fs::absolute(path));
    auto& [folder, graphs] = entry->second;
    try {
        if (graphs.empty()) graphs = converted(path, folder.path());
    } catch (...) {
        read.erase(entry);
        throw;
    }
    return graphs;
}

}  // namespace whittle::cli
