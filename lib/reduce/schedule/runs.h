// ProgramRuns: runs of a program with directives left out, and what each shows.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "frontends/halide/recording.h"
#include "reduce/schedule/minimize.h"

namespace whittle::reduce {

/// Variables that a run has beside those of the recorder.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// How a run ended.
struct RunEnd {
    /// What tells failures from each other: how it ended, and the error of Halide without what changes with the
    /// schedule, "exit status 3, runtime-error: The fold factor (…) of dimension y of f is too small"; empty: it ended
    /// well.
    std::string failure = {};
    std::string error = {};   ///< Halide's message as it is
    bool unresolved = false;  ///< ended by a limit of memory or from outside: no answer
    halide_program::Program program = {};
    std::string printed = {};     ///< to its error output, where it has variables
    std::string difference = {};  ///< of its results from the reference; empty: none, or they were not compared
    /// What is minimized: the failure, or that there is a difference; empty: it does not fail.
    std::string shown() const {
        return failure.empty() && !difference.empty() ? "results that differ from the reference" : failure;
    }
};

/// The program, as an absolute path, and its arguments.
std::vector<std::string> command_of(const ScheduleRequest& request);

/// An error of Halide without what changes with the schedule: numbers, the variable of a loop, and what makes the names
/// of Funcs unique ("$1"). The kind of the error, and what Halide says of which Func and dimension, stay.
std::string kind_of(const halide_program::Event& error);

class ProgramRuns {
  public:
    explicit ProgramRuns(const ScheduleRequest& request);

    /// Runs it without these directives. May be called by several threads. Throws Error where it cannot be started.
    RunEnd run(const std::set<std::string>& left_out, const Variables& variables = {}) const;
    /// Runs the program itself, as it is, whoever says what a failure is.
    RunEnd run_itself() const;
    /// Runs the program itself without these directives, and captures its pipelines. Moves the files of their inputs,
    /// if there are any, to the folder `inputs`, which replaces one of this name; empty: nowhere.
    halide_program::Program capture(const std::set<std::string>& left_out, const std::filesystem::path& inputs) const;
    /// Runs the reference, twice, after which run() compares results with it. What is wrong with it; empty: nothing.
    std::string take_reference();

  private:
    RunEnd run(const std::filesystem::path& folder, const halide_program::RecordingOptions& options, bool asks,
               const Variables& variables = {}) const;
    std::string differences(const std::filesystem::path& results) const;

    const ScheduleRequest& request_;
    const bool asks_;  ///< a script or a command says what fails
    TempDir scratch_;
    std::filesystem::path reference_ = {};  ///< its results; empty: none
};

}  // namespace whittle::reduce
