// diverge(): the first value of a frame that a backend computes otherwise than the reference (judge/divergence.h), or
// the first kernel (judge/kernels.h), as a table and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "judge/divergence.h"
#include "judge/frame.h"
#include "judge/judge.h"
#include "judge/kernels.h"
#include "report/show.h"

namespace whittle::report {

struct FrameDivergence {
    std::string file = {}, backend = {};
    std::string minify = {};                  ///< the command that minimizes the frame
    std::vector<std::string> rewritten = {};  ///< as LoadedFrame has it
    Judgement judgement = {};                 ///< of the frame as it was given
    Divergence divergence = {};               ///< without values where the frame is not judged because nobody ran it
    std::optional<KernelJudgements> kernels = {};  ///< in place of the values, or why there are none

    /// The frame fails; or it is right, and with every value exposed one is not, or a kernel alone is not.
    bool differs() const;
};

/// Throws Error when the reference cannot run a frame that is judged all the same, and for a backend that is not there.
FrameDivergence diverge(const LoadedFrame& frame, const Suspect& suspect);

/// The same of its kernels, one by one; of a backend that runs them so (runs_kernels()).
FrameDivergence diverge_by_kernels(const LoadedFrame& frame, const Suspect& suspect, KernelArithmetic arithmetic);

/// The values around the first that differs; all of them if verbose.
std::string to_text(const FrameDivergence& divergence, const TextOptions& options);
/// The same without the verdict. `backend` is what the user called it.
std::string to_text(const Divergence& divergence, const std::string& backend, const TextOptions& options);
/// How the whole ends as `whole`, and the kernels around the first that fails; all of them if verbose. `command`
/// minimizes the frame.
std::string to_text(const KernelJudgements& kernels, const Outcome& whole, const std::string& command,
                    const TextOptions& options);

nlohmann::json to_json(const Divergence& divergence);
nlohmann::json to_json(const KernelJudgements& kernels);
/// Of all frames that were compared.
nlohmann::json to_json(std::span<const FrameDivergence> all);

}  // namespace whittle::report
