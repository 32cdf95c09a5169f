// The same short programs in Python, which PyTorch's users and its maintainers write.
#pragma once

#include <optional>
#include <string>

#include "graph/emitter.h"

namespace whittle {

/// How TorchScript is run; nothing: the calls are, one by one.
struct ScriptMode {
    bool fused = false;   ///< by the fuser NNC
    bool frozen = false;  ///< optimize_for_inference
    int times = 1;        ///< what is computed the last time counts
};

/// Of a graph of ATen's calls under short names (with_short_names()). What is expected of single calls is written down;
/// of TorchScript it is what the calls compute one by one. `about`: what is wrong, in a sentence. Nothing for a hang,
/// which Python does not end.
std::optional<OtherProgram> torch_in_python(const ShortRequest& request, const Graph& graph, const std::string& about,
                                            const std::optional<ScriptMode>& scripted);

}  // namespace whittle
