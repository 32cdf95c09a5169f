// A user's own ONNX file in place of a graph: a backend that whoever runs graphs can be given.
#pragma once

#include <memory>

#include "graph/onnx_file.h"

namespace whittle {

/// A backend that compiles `file` by `inner`, whatever graph it is given, and runs it on the file's values, whatever
/// inputs it is given: run_isolated(graph, inputs, *file_backend(…), …) says what the compiler makes of the file byte
/// by byte. Its outputs are the file's. It is isolated as `inner` is. Null where `inner` does not read ONNX files under
/// these options. Both have to outlive it.
std::unique_ptr<Backend> file_backend(Backend& inner, const OnnxFile& file, const BackendOptions& options);

}  // namespace whittle
