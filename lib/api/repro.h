// What is kept of a graph on which a backend fails, and minify run on it: .repro_after and .repro_level of compile().
#pragma once

#include <whittle/api/compile.h>

#include <filesystem>
#include <string>
#include <vector>

#include "graph/backend.h"
#include "graph/graph.h"

namespace whittle::api {

struct ReproOptions {
    enum class After { never, capture, aot } after = After::never;
    int level = 2;
    std::filesystem::path folder = {};

    /// What the options say, else the environment. Throws Error for values that do not exist.
    static ReproOptions from(const CompileOptions& options);
    bool on_failure() const { return after != After::never && level != 3; }
    bool before_compiling() const { return after != After::never && level == 3; }
    bool on_wrong_results() const { return after != After::never && level == 4; }
};

/// A graph (with its parameters' values), its inputs and the results that are expected of it.
struct FailingGraph {
    Graph graph;
    std::string frame, backend;
    BackendOptions backend_options;
    std::vector<whittle::Tensor> inputs, expected;
};

/// Writes the record; with level 2 and 4 minify goes on from there, or, where a function of this program is the
/// backend, the same search in forked children of this process. Says on the log what there is and what to do next.
void keep_for_minify(const FailingGraph& failing, const ReproOptions& options, bool wrong_results);

}  // namespace whittle::api
