// The report of a diagnosis: the failure, the first component with which it occurs, the culprit, the evidence, the last
// good and the first bad command, and what to send to whom.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/components.h"
#include "graph/graph.h"

namespace whittle::diagnose {

struct DiagnosisReport {
    std::string model = {};
    Suspect suspect = {};
    ComponentVerdict components = {};
    std::size_t ops = 0;                                      ///< of the frame that fails
    std::optional<Graph> minimized = {};                      ///< with its failure
    std::filesystem::path minimized_file = {};                ///< where it is
    std::vector<std::filesystem::path> drifted = {};          ///< where other failures are that were met meanwhile
    std::optional<std::filesystem::path> repro = {};          ///< that was written …
    bool verified = false;                                    ///< … and shows the failure
    std::string no_repro = {};                                ///< why there is none
    std::vector<std::string> accuracy = {}, inputs = {};      ///< as they are typed
    bool record = false;                                      ///< the model is one, which replay takes
    std::string send_to = {};                                 ///< who is to get it
    bool switched = false;                                    ///< last_good switches off what first_bad has on
    std::vector<std::string> last_good = {}, first_bad = {};  ///< commands: explain exits with 0, and with 1
};

/// What a program does with the reports of a frame, which it counts from 1.
struct ReportSteps {
    std::function<void(const DiagnosisReport& report, std::size_t number)> begin;
    /// Minimizes what fails with `failing`, writes its repro, and fills the report with both.
    std::function<void(DiagnosisReport& report, const Suspect& failing, std::size_t number)> follow;
    std::function<void(const DiagnosisReport& report)> send;
};

/// The report of a frame that fails, which has its components; and as long as it fails without the culprits that were
/// named, the next one. Of the failing decision or pass the report has the commands where one was found, else of the
/// component before and the failing one.
void write_reports(const LoadedFrame& frame, DiagnosisReport report, const ReportSteps& steps);

/// Who mends what a backend did wrong with a graph that has its failure: "Halide's issue tracker at https://…".
/// `backend` is the failure's, null where it is not there any more. Throws Error where it has to be started for that
/// and cannot be.
std::string where_to_report(const Graph& failing, Backend* backend);

/// The command that runs a minimized failure of `backend`, which is in the file, without its failing directive: then it
/// is right. Empty where none was found.
std::vector<std::string> last_good_command(const Graph& minimized, const std::filesystem::path& file, Backend& backend);

std::string to_text(const DiagnosisReport& report);
nlohmann::json to_json(const DiagnosisReport& report);

}  // namespace whittle::diagnose
