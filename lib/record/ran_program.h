// What running a program under capture gave.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/interpreter.h"
#include "capture/hash_index.h"
#include "capture/output_graph.h"
#include "trace/index.h"

namespace whittle {

struct RanProgram {
    std::filesystem::path program = {};       ///< or the TorchScript module that was run
    std::vector<std::string> arguments = {};  ///< of the program
    int exit_code = 0, signal = 0;            ///< of the program; signal 0: it exited
    std::string status = {};                  ///< "exit status 0", "killed by SIGSEGV"
    double seconds = 0;                       ///< that it ran
    std::vector<capture::CapturedFrame> frames = {};
    std::vector<HashedProcess> hashes = {};                 ///< where they were asked for: one for each process
    std::vector<OpTime> op_times = {};                      ///< of a program of LibTorch, where times were asked for
    std::vector<IndexCaller> callers = {};                  ///< of functions of a program of LibTorch
    std::vector<std::string> notes = {};                    ///< what could not be seen
    std::vector<std::string> last = {};                     ///< where the last operations alone are wanted: which
    std::vector<TorchCompilation> torch_compilations = {};  ///< as PyTorch logged them
    std::string interpreter = {};                           ///< of a Python program, by its path
    /// What a program that is written against our own API told of itself, and the index's graphs, one each.
    std::optional<TraceIndex> own = {};
    std::vector<Graph> own_graphs = {};

    /// What it is called: "./app", "train.py".
    std::filesystem::path identity() const { return program_identity(program, arguments); }
    bool good() const { return signal == 0 && exit_code == 0; }
    /// "was killed by SIGSEGV", "ended with exit status 0".
    std::string ending() const { return (signal ? "was " : "ended with ") + status; }
};

}  // namespace whittle
