// What the models of many queries share.
#pragma once

#include <string_view>

#include "base/files.h"
#include "base/process_folder.h"
#include "formats/sidecar.h"
#include "frontends/onnx/weights.h"

namespace whittle {

/// Files that are written once, in a folder that goes with this process; copies of it, one for each query, may add to
/// them.
struct SharedFiles {
    /// The folder's name begins with `prefix`.
    explicit SharedFiles(std::string_view prefix) : folder(prefix) {}

    TempDir folder;
    ProcessFolder goes{folder.path()};
    SharedWeights weights{folder.path()};  ///< of .onnx models
    SharedTensors tensors{folder.path()};  ///< of .json graphs
};

}  // namespace whittle
