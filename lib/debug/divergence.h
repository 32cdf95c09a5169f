// diverge(): the first value of a frame that a backend computes otherwise than the reference, see run/divergence.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "debug/frame.h"
#include "explain/divergence.h"
#include "run/divergence.h"
#include "run/suspect.h"

namespace whittle::debug {

struct FrameDivergence {
    std::string file = {}, backend = {};
    Divergence divergence = {};

    /// With every value exposed, or as the graph is: then a bug of fusion.
    bool differs() const { return divergence.plain.failed() || divergence.first; }
};

/// Throws Error when the reference cannot run the frame and for a backend that is not there.
FrameDivergence diverge(const LoadedFrame& frame, const Suspect& suspect);

std::string to_text(const FrameDivergence& divergence, const explain::DivergenceTextOptions& options);
/// Of all frames that were compared.
nlohmann::json to_json(std::span<const FrameDivergence> all);

}  // namespace whittle::debug
