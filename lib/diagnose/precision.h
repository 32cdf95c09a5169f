// precision(): which operations of a model must stay in f32, so that it holds in f16 or bf16.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/frame.h"
#include "judge/suspect.h"

namespace whittle::diagnose {

struct PrecisionRequest {
    DType half = DType::f16;
    /// Runs the mixed models; its tolerances of `half` say which results hold.
    Suspect suspect = {};
    std::function<bool()> stop = {};  ///< true: ends the search before the next run, with the best so far
};

/// How a model with some operations in f32 ran.
struct PrecisionRun {
    bool holds = false;
    ErrorFigures error = {};   ///< the largest of all outputs, against f32 on the reference
    std::string failure = {};  ///< why there are no results; else, unless it holds, the first difference
};

struct PrecisionReport {
    struct Operation {
        std::string node = {}, op = {}, line = {};  ///< "model.py:7", or the module's path
    };
    std::string model = {}, backend = {};
    DType half = DType::f16;
    Tolerance tolerance = {};
    std::size_t operations = 0;             ///< that can compute in `half`
    std::vector<std::string> no_half = {};  ///< ops on floats without a form in `half`, which stay in f32
    PrecisionRun before = {};               ///< of all of them in `half`
    std::vector<Operation> kept = {};       ///< those that stay in f32
    PrecisionRun after = {};                ///< with them in f32
    bool minimal = false;                   ///< each of them is needed: without it the model does not hold
    std::size_t runs = 0;
    Graph mixed = {};       ///< the model that was run last, with conversions
    std::string file = {};  ///< where the caller has saved it
};

/// A search (reduce/search/search.h) for the fewest operations with which in f32 the outputs are those of the model in
/// f32 on the reference, within the tolerance of `half`. Every answer is a run of the mixed model on the backend. Where
/// not even all operations in f32 hold, `after` is the run of that. Throws Error for a model that the reference cannot
/// run.
PrecisionReport precision(const LoadedFrame& frame, Backend& backend, const PrecisionRequest& request);

std::string to_text(const PrecisionReport& report);
nlohmann::json to_json(const PrecisionReport& report);

}  // namespace whittle::diagnose
