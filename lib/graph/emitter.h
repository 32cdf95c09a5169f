// A backend's part of a repro: C++17 that compiles and runs the failing graph with nothing of Whittle. An ability, see
// abilities.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/backend.h"
#include "graph/joint_shape.h"

namespace whittle {

/// What the part is written for. In the program each placeholder and get_attr `%NAME` is a pointer in_NAME to its first
/// element, with the tensor's strides; the results go to arrays of `struct Outputs`.
struct EmitRequest {
    const Graph& graph;                       ///< with its failure: inputs, options, culprit
    std::span<const Tensor> expected;         ///< one per output
    const std::vector<std::string>& outputs;  ///< members of Outputs, one per output; there is none without elements
    /// Defines NAME, at file scope, as a pointer to the tensor's first element; large ones go into a file of their own.
    std::function<std::string(const std::string& name, const Tensor& tensor)> define;
    /// The graph is a joint one, and its gradients are to be computed as OwnGradients in abilities.h has it.
    std::optional<JointShape> gradients = {};
};

/// The same computation as plain loops: the second opinion.
struct LoopsCode {
    Graph graph;          ///< whose placeholders and get_attr are the program's inputs
    std::string support;  ///< types and functions that the program needs for them
    std::string code;     ///< defines static void run_loops(Outputs& out)
};

struct SuspectCode {
    std::string includes = {};
    std::string support = {};      ///< before the inputs
    std::string code;              ///< defines static void under_test(Outputs& out); a failure is an exception
    std::string name = "backend";  ///< who says what the program prints
    std::string called = {};       ///< the backend, in a verdict; empty: as the failure has it
    std::string label = {};        ///< "BUG in LABEL"; empty: "the backend CALLED on OPS"
    std::string header = {};       ///< of the file: what is under suspicion, in which version
    std::string lowering = "Whittle's own lowering";  ///< to blame when the loops are wrong
    std::vector<std::string> compile_flags = {};      ///< behind "g++ -std=c++17 -O1 repro.cpp -o repro"
    /// Files that the program looks for beside itself first.
    std::vector<std::filesystem::path> companions = {};
    std::string spec_beside = {};  ///< --backend in a folder with the companions; empty: as the failure has it
    /// The suspect is a second opinion on the reference: the loops may differ from what is expected, too.
    bool judges_reference = false;
    /// The code reads `static bool guilty`: false switches the culprit's directive off.
    bool reads_guilty = false;
    /// Loops by the suspect's own plan; none: by Whittle's.
    std::optional<LoopsCode> loops = {};
    /// The graph whose placeholders and get_attr are the program's inputs, where they are not the given one's; then
    /// there are no loops but the suspect's own.
    std::optional<Graph> leaves = {};
    std::int64_t more_seconds = 0;  ///< that it may take beyond a run's limit
};

/// A whole program, short enough to be read at a glance.
struct ShortProgram {
    struct File {
        std::string name, text;
    };
    std::string text = {};
    std::string summary = {};                            ///< what is wrong, in a line
    std::string compiler = {};                           ///< what is under suspicion, in which version
    std::vector<std::string> compile_flags = {};         ///< behind "g++ -std=c++17 -O1 repro.cpp -o repro"
    std::vector<std::filesystem::path> companions = {};  ///< what a folder that shows the failure elsewhere needs
    std::vector<File> files = {};                        ///< that are written beside it
    std::vector<std::string> arguments = {};             ///< that it is run with here
};

struct ShortRequest {
    const Graph& graph;                ///< with its failure: inputs, options
    std::span<const Tensor> expected;  ///< one per output
    std::span<const Tensor> got;       ///< what the suspect computed instead, where it computed something
    std::filesystem::path file;        ///< the program's name
    std::int64_t alarm = 60;           ///< seconds after which the suspect counts as hung
};

class Emitter {
  public:
    virtual ~Emitter() = default;
    /// Throws Error when the graph cannot be written down.
    virtual SuspectCode emit(const EmitRequest& request) = 0;
    /// Nothing where there is none for such a failure: `why_not` then says why, as a clause.
    virtual std::optional<ShortProgram> short_program(const ShortRequest&, std::string& /*why_not*/) {
        return std::nullopt;
    }
};

}  // namespace whittle
