// MODEL of explain, whatever it is: its graphs, and where a backend is asked for, what that fails on; and what follows.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "cli/model.h"
#include "cli/program.h"
#include "cli/run_options.h"
#include "report/subject.h"

namespace whittle::cli {

class Tool;
struct UsedFiles;

struct SubjectOptions : RunOptions {
    ProgramOptions program = {};
    bool minify = false;
    /// What compiling and running takes is measured, of what is no program on the default backend where none was named.
    bool times = false;
    bool kernels = false;                        ///< the same where a backend is named, with the texts of its kernels
    std::filesystem::path halide = {};           ///< ProgramRequest::halide
    std::set<std::string> halide_left_out = {};  ///< likewise
    bool values = false;  ///< a program's inputs and results are recorded, though no backend is to be run on them

    /// It is to be run, not only asked what it supports.
    bool runs_backend() const { return minify || !backend.name.empty(); }
    /// What is read of the model, if one is named, and what --minify writes.
    void add_to(UsedFiles& files, const std::optional<std::filesystem::path>& model) const;
    /// Throws Error for an accuracy that nothing is compared by, for options of a backend that is not run, and for a
    /// backend that is not there.
    void check_usage() const;
    /// The default suspect, where none was named; wrong results are failures.
    Suspect suspect() const;
};

/// Loads the model, or runs the program. Where the backend is to be run it is tried on every frame with its inputs: of
/// a program on what was recorded, which is kept in `scratch` with its inputs, so that `options` has none any more;
/// --minify without a backend takes the one that a record or a minimized graph names, and sets options.backend. The
/// reference has no failures of its own and is not tried. What is measured is in the subject's profile. Throws Error
/// for options that the model does not take, and for what cannot be read or run.
report::Subject subject_of(const Tool& tool, const std::filesystem::path& model, SubjectOptions& options,
                           const std::filesystem::path& scratch);

/// Where explain puts what it makes small, in the working directory: "NAME" of NAME.min.json. `arguments`: of a
/// program; that of an interpreter is named after its script or module.
std::string stem_of(const std::filesystem::path& model, const std::vector<std::string>& arguments);

/// At the end, where a backend was run and fails, or minimizing was asked for: follow_up() of minify.h into
/// MODEL.min.json, or that there is nothing to minimize. False where minimizing was asked for and no graph was judged.
bool follow_up(const Tool& tool, const std::filesystem::path& model, const SubjectOptions& options,
               const report::Subject& subject, std::ostream& report, nlohmann::json& json);

}  // namespace whittle::cli
