// write_repro(): a standalone program that shows the failure of a graph, see repro/repro.h; and how a frame fails.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/frame.h"
#include "judge/suspect.h"
#include "repro/repro.h"

namespace whittle::repro {

/// How the frame fails on the suspect, asked once; nothing where it does not. Throws Error when the reference cannot
/// run it or the suspect says that it does not support it.
std::optional<Failure> failure_of(const LoadedFrame& frame, const Suspect& suspect);

/// Of a graph with its failure, by the backend that the failure names; `file` is where the graph is from. Throws Error
/// for a failure that a command judged, and as write_repro() does.
Report write_repro(const Graph& graph, const std::filesystem::path& file, const Options& options);

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
std::string to_text(const Report& report, const Failure& failure, const Options& options);
nlohmann::json to_json(const Report& report);

}  // namespace whittle::repro
