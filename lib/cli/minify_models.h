// minify DIR: each of the models in a folder, several at a time and on other machines, if wanted, and the distinct bugs
// among them.
#pragma once

#include <filesystem>
#include <vector>

namespace whittle::cli {

class Tool;
struct MinifyOptions;

/// It is a folder, and neither a trace nor a model itself.
bool holds_models(const std::filesystem::path& path);
/// The models, graphs, records and traces in the folder and below, by path; not what is in `but`. Throws Error where
/// there is none.
std::vector<std::filesystem::path> models_in(const std::filesystem::path& folder, const std::filesystem::path& but);

/// Runs minify for each of them, as a process of its own. Of each, options.output (a folder) gets the minimized graph
/// and, at the end, what minify said: with --resume that is not asked again, and a search that was stopped goes on from
/// its journal. Prints the bugs. Returns the exit status.
int minify_models(const Tool& tool, const MinifyOptions& options);

}  // namespace whittle::cli
