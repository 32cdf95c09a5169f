// What of a failing graph was compiled, by whom, and whether a program without Whittle can show it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/interpreted.h"
#include "graph/abilities.h"
#include "graph/failure.h"
#include "graph/graph.h"

namespace whittle::diagnose {

/// Another backend, which compiled what failed; nothing where the failure's own did, or interpreted it.
std::optional<Differentiates::Compiler> other_compiler(const Failure& failure, const Backend& backend);

/// What was compiled when the graph failed: the graph itself, or, where it failed at gradients, the backward graph
/// alone, on what the reference saves for it. What is interpreted can only be wrong as a whole. Where another backend
/// compiles the part that failed (aot_eager's fw=B), the part alone, and its failure is that backend's.
Graph as_compiled(const Graph& failing, const Backend& backend);

/// Whether a program without Whittle can show the graph's failure.
bool has_repro(const Graph& failing);

/// "--op-library FILE" of each library of ops that is loaded, for a command that asks the same elsewhere.
std::vector<std::string> op_library_words();
/// The command that writes it: repro FILE, with the libraries of ops that are loaded.
std::vector<std::string> repro_words(const std::filesystem::path& file);

/// What passes made of the graph, where that is wrong: it gives other values, or has other inputs.
std::optional<program::Interpreted> wrongly_interpreted(const Backend& backend, const Graph& graph);
/// What a backend that interprets makes of the graph, with the failure, where it has a part of a repro for that.
std::optional<Graph> run_by_interpreter(const Backend& backend, const Graph& graph);
/// "result # of …" of "graph g_backward, node %_ (aten.mm.default): result # of …": what a program says that has no
/// such graph.
std::string without_place(const std::string& words);

}  // namespace whittle::diagnose
