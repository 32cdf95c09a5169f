// What minify is asked: who judges, which failure is followed, how it is searched for, and where the result goes.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/interrupt.h"
#include "debug/frame.h"
#include "reduce/minimize.h"
#include "reduce/oracle.h"

namespace whittle::debug {

struct Search {
    std::variant<Suspect, reduce::CommandOracleOptions> judge = {};
    std::filesystem::path model = {};    ///< what is minimized, never written over
    std::filesystem::path output = {};   ///< .json or .onnx; answers are kept in OUT.journal
    std::optional<Failure> stored = {};  ///< the failure to follow is the one that the model has
    std::vector<std::string> passes = reduce::pass_names();
    reduce::Mode mode = reduce::Mode::automatic;
    int repeat = 2, jobs = 1;
    std::optional<std::size_t> step_limit = {};
    std::optional<std::chrono::steady_clock::time_point> end = {};  ///< when it stops with the best so far
    bool resume = false;
    std::string go_on = {};  ///< the command line that goes on with it where it was stopped
    /// Reads the model as its user gave it, nothing folded: an ONNX file. Null where nothing is folded.
    std::function<LoadedFrame()> unfolded = {};

    /// An interrupt came, or its time is up.
    bool stopped() const { return interrupted() || (end && std::chrono::steady_clock::now() >= *end); }
    /// Null: a command judges.
    const Suspect* suspect() const { return std::get_if<Suspect>(&judge); }
    /// Results count, and have to be known.
    bool compares() const { return suspect() && suspect()->tier == Tier::computes; }
};

/// Who judges, ready to be asked. The backend lives as long as the oracle.
struct Judging {
    std::unique_ptr<Backend> backend = {};
    std::unique_ptr<reduce::Oracle> oracle = {};
};
Judging judging(const Search& search);

/// Told while a search runs.
struct Observer {
    std::function<void(const reduce::Progress&)> progress = [](const reduce::Progress&) {};
    std::function<void(const std::string&)> warn = [](const std::string&) {};
};

}  // namespace whittle::debug
