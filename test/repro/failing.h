// Failing graphs and their repros, for the tests of lib/repro.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "base/subprocess.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "printers/short_program.h"
#include "repro/steps.h"

namespace whittle::repro {

/// What stays the same in all repros of these tests.
inline Options fixed_options(const std::string& file = "repro.cpp") {
    return {
        .output = file, .data = "real", .command = "repro m.json", .environment = {{"whittle", "X"}, {"cpu", "any"}}};
}

inline Graph failing(const std::string& text, std::vector<Tensor> inputs, const std::string& backend,
                     Signature signature) {
    Graph graph = parse(text);
    graph.failure = Failure{.backend = backend, .signature = std::move(signature), .message = "as recorded"};
    graph.failure->inputs = std::move(inputs);
    return graph;
}

/// The harness of a graph with its data as they are.
inline ReproProgram harness_of(const Graph& graph, const Options& options = fixed_options(), Repro repro = {}) {
    const auto backend = find_backend(graph.failure->backend);
    Emitter* emitter = offered<Emitter>(*backend);
    REQUIRE(emitter);
    repro.graph = graph;
    repro.expected = evaluate(graph, graph.failure->inputs);
    return emit(repro, *emitter, options);
}

/// Builds the program as its header says, and with `more` flags.
inline ProcessResult build(const std::filesystem::path& folder, const ReproProgram& program,
                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = build_words("repro.cpp", program.compile_flags);
    words.insert(words.end(), more.begin(), more.end());
    return run_process(words, {.folder = folder});
}

}  // namespace whittle::repro
