#include "reduce/save.h"

#include <set>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "formats/failure_file.h"
#include "formats/json.h"
#include "frontends/onnx/copy.h"

namespace whittle::reduce {
namespace fs = std::filesystem;

namespace {

/// The weights that a model names, as far as we write such files; none of what is no model.
std::set<std::string> weights_of(const fs::path& model) {
    std::set<std::string> ours;
    std::error_code ignored;
    if (!fs::is_regular_file(model, ignored)) return ours;
    try {
        for (const std::string& file : external_files(model))
            if (SharedWeights::is_ours(file)) ours.insert(file);
    } catch (const Error&) {
    }
    return ours;
}

/// Removes those that no model of the folder names.
void remove_unneeded(std::set<std::string> weights, const fs::path& folder) {
    if (weights.empty()) return;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().extension() == ".onnx")
            for (const std::string& needed : weights_of(entry.path())) weights.erase(needed);
    for (const std::string& file : weights) fs::remove(folder / file, ignored);
}

}  // namespace

void save_minimized(const Case& minimized, const fs::path& path, std::size_t most_inside) {
    if (minimized.file) return write_file(path, read_file(minimized.file->model));
    if (path.extension() != ".onnx") return save_graph(minimized.graph, path);
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    const std::set<std::string> before = weights_of(path);
    save_failing_model(minimized.graph, path, to_onnx_in(folder, minimized.graph, most_inside));
    remove_unneeded(before, folder);
}

fs::path numbered_result(const fs::path& output, std::size_t number, const std::string& before) {
    fs::path numbered = output;
    return numbered.replace_filename(output.stem().string() + before + std::to_string(number) +
                                     output.extension().string());
}

}  // namespace whittle::reduce
