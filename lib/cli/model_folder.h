// Folders of models: of any kind that MODEL may be, but programs.
#pragma once

#include <filesystem>
#include <vector>

namespace whittle::cli {

/// It is a folder, and neither a trace nor a model itself.
bool holds_models(const std::filesystem::path& path);
/// The models, graphs, records and traces in the folder and below, by path; not what is in `but`. Throws Error where
/// there is none.
std::vector<std::filesystem::path> models_in(const std::filesystem::path& folder,
                                             const std::filesystem::path& but = {});
/// One of those that is no record.
bool is_plain_model(const std::filesystem::path& path);

}  // namespace whittle::cli
