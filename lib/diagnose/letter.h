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

struct Letter {
    std::string model = {};
    Suspect suspect = {};
    Guilt guilt = {};
    std::size_t ops = 0;                                      ///< of the frame that fails
    std::optional<Graph> minimized = {};                      ///< with its failure
    std::filesystem::path minimized_file = {};                ///< where it is
    std::vector<std::filesystem::path> drifted = {};          ///< where other failures are that were met meanwhile
    std::optional<std::filesystem::path> repro = {};          ///< that was written …
    bool verified = false;                                    ///< … and shows the failure
    std::string no_repro = {};                                ///< why there is none
    std::vector<std::string> accuracy = {}, inputs = {};      ///< as they are typed
    bool record = false;                                      ///< the model is one, which replay takes
    std::string mender = {};                                  ///< who is to get it
    bool switched = false;                                    ///< last_good switches off what first_bad has on
    std::vector<std::string> last_good = {}, first_bad = {};  ///< commands: explain exits with 0, and with 1
};

/// What a program does with the letters of a frame, which it counts from 1.
struct LetterSteps {
    std::function<void(const Letter& letter, std::size_t number)> begin;
    /// Minimizes what fails with `guilty`, writes its repro, and fills the letter with both.
    std::function<void(Letter& letter, const Suspect& guilty, std::size_t number)> follow;
    std::function<void(const Letter& letter)> send;
};

/// The letter of a frame that fails, which has its guilt; and as long as it fails without the culprits that were named,
/// the next one. Of the guilty decision or pass the letter has the commands where one was found, else of the component
/// before and the guilty one.
void write_letters(const LoadedFrame& frame, Letter letter, const LetterSteps& steps);

/// Who mends what a backend did wrong with a graph that has its failure: "Halide's issue tracker at https://…".
/// `backend` is the failure's, null where it is not there any more. Throws Error where it has to be started for that
/// and cannot be.
std::string who_mends(const Graph& failing, Backend* backend);

/// The command that runs a minimized failure of `backend`, which is in the file, without its guilty directive: then it
/// is right. Empty where none was found.
std::vector<std::string> last_good_command(const Graph& minimized, const std::filesystem::path& file, Backend& backend);

std::string to_text(const Letter& letter);
nlohmann::json to_json(const Letter& letter);

}  // namespace whittle::diagnose
