// write_repro(): a standalone program that shows the failure of a graph, see repro/repro.h; and how a frame fails.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "debug/frame.h"
#include "judge/suspect.h"
#include "repro/repro.h"

namespace whittle::debug {

/// How the frame fails on the suspect, asked once; nothing where it does not. Throws Error when the reference cannot
/// run it or the suspect says that it does not support it.
std::optional<Failure> failure_of(const LoadedFrame& frame, const Suspect& suspect);

/// The name of the backend that compiled what failed: the failure's own, which `backend` is, or the one that it hands
/// the part to.
std::string compiler_of(const Failure& failure, const Backend& backend);

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

/// Of a graph with its failure, by the backend that the failure names; `file` is where the graph is from. Throws Error
/// for a failure that a command judged, and as repro::write_repro() does.
repro::Report write_repro(const Graph& graph, const std::filesystem::path& file, const repro::Options& options);

/// The frame's graph as a script of PyTorch calls.
struct PythonRepro {
    std::filesystem::path output;
    std::vector<std::filesystem::path> sidecars;
    bool verified = false;           ///< PyTorch was run, and computes what the reference computes
    std::string message;             ///< what the run said, or why there was none
    std::string python = "python3";  ///< the interpreter that has PyTorch
    std::string mode = "inductor";   ///< the script's argument: the newest compiler that this PyTorch has
};
/// See repro/python.h. Writes the file whether or not it verifies. Throws Error for a graph that PyTorch cannot have.
PythonRepro write_python(const LoadedFrame& frame, const std::filesystem::path& output, bool verify);
std::string to_text(const PythonRepro& repro);
nlohmann::json to_json(const PythonRepro& repro);

/// What the programs print of a repro. `failure` is the one it shows.
std::string to_text(const repro::Report& report, const Failure& failure, const repro::Options& options);
nlohmann::json to_json(const repro::Report& report);

}  // namespace whittle::debug
