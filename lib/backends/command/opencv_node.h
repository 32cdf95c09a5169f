// OpenCV's calls in npm's builds of it for JavaScript.
#pragma once

#include <string>

#include "backends/command/script_text.h"
#include "backends/command/short_onnx.h"
#include "graph/emitter.h"

namespace whittle {

/// run.mjs. `header`: its first lines, comments; `package`: what npm installs, "@techstark/opencv-js@5.0.0-release.1".
std::string opencv_in_node(const ShortRequest& request, const ShortModel& model, const Compared& compared,
                           const std::string& header, const std::string& package);

/// Why there is none, as a clause; empty: there may be one.
std::string not_in_opencv_node(const ShortRequest& request);

}  // namespace whittle
