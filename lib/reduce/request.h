// What minify is asked: who judges, which failure is followed, how it is searched for, and where the result goes.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "judge/frame.h"
#include "reduce/oracle.h"
#include "reduce/strategy.h"

namespace whittle::reduce {

struct Request {
    Judge judge = {};
    std::filesystem::path model = {};    ///< what is minimized, never written over
    std::filesystem::path output = {};   ///< .json or .onnx; answers are kept in OUT.journal
    std::optional<Failure> stored = {};  ///< the failure to follow is the one that the model has
    Strategy how = {};
    std::string go_on = {};      ///< the command line that goes on with it where it was stopped
    bool repro_follows = false;  ///< the caller writes a repro of each result: no command for that is printed
    /// Reads the model as its user gave it, nothing folded: an ONNX file. Null where nothing is folded.
    std::function<LoadedFrame()> unfolded = {};

    /// Null: a command judges.
    const Suspect* suspect() const { return std::get_if<Suspect>(&judge); }
};

}  // namespace whittle::reduce
