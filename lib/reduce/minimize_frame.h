// minimize(): from a failing model to the fewest operations that still fail alike, on disk, with who is to blame.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reduce/check.h"
#include "reduce/minimize.h"
#include "reduce/request.h"

namespace whittle::reduce {

/// Told while minimize() runs.
struct Observer {
    std::function<void(const Progress&)> progress = [](const Progress&) {};
    std::function<void(const std::string&)> warn = [](const std::string&) {};
    /// Of a model with several graphs: before the first of these failures is minimized …
    std::function<void(const Findings&)> checked = [](const Findings&) {};
    /// … and before each.
    std::function<void(const Findings::Failing&)> begins = [](const Findings::Failing&) {};
    /// After each; the request is the one for this frame.
    std::function<void(const Minimized&, const Request&)> ended = [](const Minimized&, const Request&) {};
};

/// Writes request.output with every smaller find. A model that does not fail is a verdict, not an error. Throws Error
/// when the judge cannot be asked, or a file cannot be written, and CannotRun where a command judges.
///
/// Where the judge is a command that is given ONNX files, or a backend that reads them and fails at something else than
/// results, and the file fails while no graph that is read from it does, parts of the file are judged as they stand.
Minimized minimize(const LoadedFrame& frame, const Request& request, const Observer& observer);

/// What became of a model.
struct MinimizedModel {
    std::size_t graphs = 1;
    std::vector<Minimized> results = {};                 ///< of several graphs: one for each distinct failure
    std::map<std::string, std::string> not_judged = {};  ///< by file: why

    /// There is something that fails, and all of it was minimized.
    bool good() const;
    Verdict verdict() const;  ///< of a model with several graphs
};

/// Minimizes the frame, or of several the smallest for each distinct failure: OUT for one, else OUT-1, OUT-2, ….
MinimizedModel minimize(const std::vector<LoadedFrame>& frames, const Request& request, const Observer& observer);

}  // namespace whittle::reduce
