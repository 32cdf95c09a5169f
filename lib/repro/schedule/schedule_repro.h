// The repro of a program that uses Halide: a short C++ program of the pipeline that fails, with the directives that it
// takes, reduced, built and run.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontends/halide/captured.h"
#include "repro/repro.h"
#include "repro/schedule/pipeline_code.h"

namespace whittle::repro {

/// What minify wrote of such a program.
struct MinimizedProgram {
    std::filesystem::path file = {};
    std::vector<std::string> command = {};   ///< that ran the program
    std::set<std::string> left_out = {};     ///< keys of directives
    std::string outcome = {}, failure = {};  ///< "minimized", "exit status 1"
    std::string error = {};                  ///< Halide's message; empty: it reported no error
    std::string culprit = {};                ///< in the program's own words, with lines
    Rate rate = {};
    std::optional<halide_program::CapturedPipeline> pipeline = {};
    std::string not_captured = {};      ///< why there is no pipeline
    std::filesystem::path inputs = {};  ///< the folder of its inputs
};

/// Nothing where the file is something else, a graph or a model.
std::optional<MinimizedProgram> load_minimized_program(const std::filesystem::path& file);

struct ScheduleRepro {
    std::filesystem::path output = {};
    std::vector<std::filesystem::path> sidecars = {};
    Repro repro = {};  ///< what verification found
    InputValues values = InputValues::made_up;
    bool has_images = false;    ///< inputs that have such values
    std::size_t tried = 0;      ///< smaller pipelines
    std::string releases = {};  ///< "fails in 14; right in 19, 21", where several are installed
    std::string none = {};      ///< why there is no program, as a clause
};

/// Writes Options::file(), with what it reads, whether or not it verifies.
ScheduleRepro write_schedule_repro(const MinimizedProgram& program, const Options& options);

std::string to_text(const ScheduleRepro& repro, const MinimizedProgram& program, const Options& options);
nlohmann::json to_json(const ScheduleRepro& repro, const Options& options);

}  // namespace whittle::repro
