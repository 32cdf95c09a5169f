// Short programs of commands and workers: in the compiler's own interface where it is known, else a script that runs
// the command.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/command/worker_process.h"
#include "graph/emitter.h"

namespace whittle {

/// Of ONNX Runtime: run.mjs for node, which is run, and run.py, which is run where Python has onnxruntime.
std::optional<ReproProgram> onnxruntime_program(const ShortRequest& request, const WorkerHello& said,
                                                std::string& why_not);
/// Of OpenCV: run.cpp, which is built and run, or of npm's build (WorkerHello::package) run.mjs for node; and run.py,
/// which is run where Python has cv2, and for npm's build the same release of it.
std::optional<ReproProgram> opencv_program(const ShortRequest& request, const WorkerHello& said, std::string& why_not);

/// Of PyTorch's torch.compile: run.py, which compares the compiled graph with the same graph in eager mode.
std::optional<ReproProgram> torch_compile_program(const ShortRequest& request, const WorkerHello& said,
                                                  std::string& why_not);

/// What a script runs, and puts there first.
struct Scripted {
    std::string name;                                  ///< the backend's: "cmd:./ort.sh"
    std::vector<std::string> words;                    ///< the command's; "{}" stands for the folder
    std::vector<ReproProgram::File> files;             ///< that it reads, in its folder
    std::string version = {};                          ///< of the compiler
    std::string question = {}, question_without = {};  ///< of a worker; without: the switch `off` is off
    std::string off = {};
    std::vector<std::filesystem::path> companions = {};  ///< files that it needs beside those which its words name
};
/// The files of a folder.
std::vector<ReproProgram::File> files_of(const std::filesystem::path& folder);
/// Of any command: run.py, by Python's standard library alone.
std::optional<ReproProgram> script_program(const ShortRequest& request, const Scripted& scripted, std::string& why_not);

/// A compiler in whose own calls a repro can be written.
struct KnownApi {
    using Write = std::optional<ReproProgram> (*)(const ShortRequest&, const WorkerHello&, std::string& why_not);
    std::string_view name;  ///< WorkerHello::api
    const char* project;    ///< as Tracker has it
    const char* issues;     ///< where its bugs are reported
    Write write;
};
/// Of a worker that says what it is made of (`repro` of its hello); null for one that does not, or another.
const KnownApi* known_api(std::string_view name);

}  // namespace whittle
