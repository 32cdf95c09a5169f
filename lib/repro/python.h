// repro.py: a graph of ATen calls as a script of PyTorch calls, with its inputs and what the reference computes of
// them: for who knows PyTorch, and to put the same operations under one of its compilers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "judge/frame.h"
#include "repro/repro.h"

namespace whittle::repro {

/// `inputs`: one per placeholder; `expected`: one per output. `about`: lines of the header, without '#'; `stem`: first
/// part of the names of large tensors' files. The script ends with 0 where PyTorch computes what is expected, within
/// the dtype's tolerances, else with 1; an argument names a backend of torch.compile. Throws Error for a call that is
/// none of ATen's, and for a dtype that PyTorch 1.13 does not have.
ReproProgram python_script(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
                           const std::vector<std::string>& about, const std::string& stem);

/// The frame's graph as such a script.
struct PythonRepro {
    std::filesystem::path output;
    std::vector<std::filesystem::path> sidecars = {};
    bool verified = false;           ///< PyTorch was run, and computes what the reference computes
    std::string message = {};        ///< what the run said, or why there was none
    std::string python = "python3";  ///< the interpreter that has PyTorch
    std::string mode = "inductor";   ///< the script's argument: the newest compiler that this PyTorch has
};
/// Writes the file whether or not it verifies. Throws Error as python_script() and reference_outputs().
PythonRepro write_python(const LoadedFrame& frame, const Options& options);
std::string to_text(const PythonRepro& repro);
nlohmann::json to_json(const PythonRepro& repro);

}  // namespace whittle::repro
