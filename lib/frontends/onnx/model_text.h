// A model as a text. Internal.
#pragma once

#include <string>

#include "frontends/onnx/proto.h"

namespace whittle::onnx_proto {

/// See onnx_text().
std::string text_of(const onnx::ModelProto& model);

}  // namespace whittle::onnx_proto
