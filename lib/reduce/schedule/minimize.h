// minimize_schedule(): the fewest scheduling directives of a Halide program with which it still fails. The program is
// run once for each question, with directives left out as it gives them (frontends/halide/recording.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "frontends/halide/program.h"
#include "judge/judge.h"
#include "reduce/schedule/culprits.h"
#include "tensor/compare.h"

namespace whittle::reduce {

struct ScheduleRequest {
    std::filesystem::path program = {};
    std::vector<std::string> arguments = {};

    // What a failure is: that the program ends otherwise than with status 0, an error of Halide, or results that differ
    // from the reference; or what a script or a command says of a file that runs the program.
    std::filesystem::path test = {};      ///< status 0: it fails
    std::vector<std::string> check = {};  ///< a status other than 0: it fails; {} stands for the file
    std::vector<std::int64_t> fail_codes = {}, ignore_codes = {};  ///< of check: only these, all but these
    Accuracy accuracy = {};                                        ///< of results

    std::chrono::milliseconds timeout{60000};  ///< of a run
    std::size_t memory = std::size_t(4) << 30;

    std::filesystem::path inputs = {};  ///< a folder for the inputs of the pipeline that fails; made where it has any

    /// The file of the answers so far, from which a stopped search continues; empty: no file is kept.
    std::filesystem::path journal = {};
    bool resume = false;

    Mode mode = Mode::automatic;
    std::size_t runs = 4;  ///< of the whole program, before anything is left out
    std::size_t jobs = 1;
    std::optional<std::size_t> most_queries = {};
    std::optional<std::chrono::steady_clock::time_point> end = {};
    /// Told of each run, what it is for or what is known so far: "smallest: 4 directives".
    std::function<void(std::size_t queries, const std::string& note)> progress = {};
    void tell(std::size_t queries, const std::string& note) const {
        if (progress) progress(queries, note);
    }
};

struct MinimizedSchedule {
    enum class Outcome : std::uint8_t {
        minimized,
        not_failing,
        not_the_schedule,  ///< it fails without any directive, too
        no_reference,      ///< it ends well, and what it computes cannot be compared: see `why`
        not_the_cause,     ///< with `needed` alone it fails, and without them, too, and nothing else is found
    };
    Outcome outcome = Outcome::minimized;
    /// A failure that was seen once and not again has no verdict.
    Verdict verdict() const;
    std::string why = {};
    std::string failure = {};  ///< what tells failures from each other: see RunEnd
    /// Halide's messages: of the whole program, and with the needed directives alone. Empty: it reports no error.
    std::string error = {}, minimized_error = {};
    std::size_t failed = 0, runs = 0;       ///< of the whole program
    std::size_t repeat = 1;                 ///< runs of a candidate that does not fail
    std::vector<std::string> command = {};  ///< that runs the program anywhere
    halide_program::Program program = {};   ///< as it was run first
    Culprits culprits = {};
    std::size_t queries = 0;
    double seconds = 0;
    bool confirmed = false;  ///< run again with the needed directives alone, it fails in the same way
    /// The pipeline that fails, with these alone; nothing: see `not_captured`.
    std::optional<halide_program::CapturedPipeline> pipeline = {};
    std::string not_captured = {};
    std::filesystem::path inputs = {};  ///< the folder of its inputs; empty: it has none
    std::string target = {};  ///< that Halide chose for the program; empty: the program says, or nothing was captured
};

/// Throws Error where the program cannot be run or its inputs cannot be written. A program that does not call Halide
/// has no directives and no steps, and nothing is searched then.
MinimizedSchedule minimize_schedule(const ScheduleRequest& request);

std::string to_text(const MinimizedSchedule& done);
nlohmann::json to_json(const MinimizedSchedule& done);

}  // namespace whittle::reduce
