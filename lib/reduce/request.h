// What minify is asked: who judges, which failure is followed, how it is searched for, and where the result goes.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "judge/frame.h"
#include "reduce/minimize.h"
#include "reduce/oracle.h"

namespace whittle::reduce {

struct Search {
    std::variant<Suspect, CommandOracleOptions> judge = {};
    std::filesystem::path model = {};    ///< what is minimized, never written over
    std::filesystem::path output = {};   ///< .json or .onnx; answers are kept in OUT.journal
    std::optional<Failure> stored = {};  ///< the failure to follow is the one that the model has
    std::vector<std::string> passes = pass_names();
    Mode mode = Mode::automatic;
    int repeat = 2, jobs = 1;
    std::optional<std::size_t> step_limit = {};
    bool resume = false;
    std::string go_on = {};  ///< the command line that goes on with it where it was stopped
    /// Reads the model as its user gave it, nothing folded: an ONNX file. Null where nothing is folded.
    std::function<LoadedFrame()> unfolded = {};

    /// Null: a command judges.
    const Suspect* suspect() const { return std::get_if<Suspect>(&judge); }
    /// Results count, and have to be known.
    bool compares() const { return suspect() && suspect()->tier == Tier::computes; }
};

/// Who judges, ready to be asked. The backend lives as long as the oracle.
struct Judging {
    std::unique_ptr<Backend> backend = {};
    std::unique_ptr<Oracle> oracle = {};
};
Judging judging(const Search& search);

/// Told while a search runs.
struct Observer {
    std::function<void(const Progress&)> progress = [](const Progress&) {};
    std::function<void(const std::string&)> warn = [](const std::string&) {};
};

}  // namespace whittle::reduce
