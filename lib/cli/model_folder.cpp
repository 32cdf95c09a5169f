#include "cli/model_folder.h"

#include <set>

#include "base/error.h"
#include "cli/torch_file.h"
#include "formats/json.h"
#include "trace/frame_record.h"
#include "trace/record.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// A graph, record, model or file of torch.compile; of other JSON files nothing is said.
bool is_model_file(const fs::path& file) {
    if (file.extension() == ".onnx" || file.extension() == ".pt2" || is_torch_file(file)) return true;
    if (file.extension() != ".json" || !fs::is_regular_file(file) || file.string().ends_with(".failure.json"))
        return false;
    try {
        return is_record(file) || (!is_frame_record(file) && format_of_json(file) == "whittle.graph");
    } catch (const Error&) {
        return false;
    }
}

void add_models(const fs::path& folder, const fs::path& but, std::vector<fs::path>& models) {
    std::set<fs::path> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) entries.insert(entry.path());
    for (const fs::path& entry : entries) {
        if (!fs::is_directory(fs::symlink_status(entry))) {
            if (is_model_file(entry)) models.push_back(entry);
        } else if (std::error_code ignored; fs::equivalent(entry, but, ignored)) {
            continue;
        } else if (holds_models(entry)) {
            add_models(entry, but, models);
        } else {
            models.push_back(entry);
        }
    }
}

}  // namespace

bool holds_models(const fs::path& path) {
    return fs::is_directory(path) && !fs::exists(path / "index.json") && !fs::exists(path / "model.onnx") &&
           !is_torch_log_folder(path);
}

std::vector<fs::path> models_in(const fs::path& folder, const fs::path& but) {
    std::vector<fs::path> models;
    add_models(folder, but, models);
    if (models.empty())
        throw Error({folder.string(), {}},
                    "found no models in this folder, expected a trace (index.json), ONNX models, PyTorch exports "
                    "(.pt2), graphs, records or files of torch.compile");
    return models;
}

bool is_plain_model(const fs::path& path) {
    return fs::is_directory(path) || (is_model_file(path) && !(path.extension() == ".json" && is_record(path)));
}

}  // namespace whittle::cli
