// Names in a trace folder.
#pragma once

#include <filesystem>
#include <string>

namespace whittle {

/// A file name that any name can become: what could be a path or an option is replaced.
inline std::string file_name(const std::string& name) {
    std::string result;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                           (c == '.' && !result.empty()) || (c == '-' && !result.empty());
        result += plain ? c : '_';
    }
    return result.empty() ? "graph" : result.substr(0, 100);
}

/// What a model is called after its file or folder: "nets/resnet.onnx" -> "resnet", and after the folder where the file
/// says nothing: "resnet/model.onnx" -> "resnet".
inline std::string model_name(const std::filesystem::path& model) {
    std::filesystem::path path = model.lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    const std::string stem = (folder ? path.filename() : path.stem()).string(),
                      above = path.parent_path().filename().string();
    if (stem == "model" && !above.empty() && above != "." && above != "..") return above;
    return stem;
}

}  // namespace whittle
