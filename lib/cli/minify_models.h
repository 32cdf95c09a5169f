// minify DIR: each of the models in a folder, several at a time and on other machines, if wanted, and the distinct bugs
// among them.
#pragma once

namespace whittle::cli {

class Tool;
struct MinifyOptions;

/// Runs minify for each model of options.model (models_in()), as a process of its own. Of each, options.output (a
/// folder) gets the minimized graph and, at the end, what minify said: with --resume that is not asked again, and a
/// search that was stopped goes on from its journal. Prints the bugs. Returns the exit status.
int minify_models(const Tool& tool, const MinifyOptions& options);

}  // namespace whittle::cli
