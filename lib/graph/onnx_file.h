// The interface (graph/abilities.h) of compilers that read ONNX files: the file as its user gave it is judged first,
// byte by byte, and not what was made of it while it was read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "graph/backend.h"

namespace whittle {

/// A user's model file, and what it is to be run on.
struct OnnxFile {
    struct Value {
        std::string name;
        std::optional<ValueMeta> meta = {};  ///< where it is known
    };
    std::filesystem::path model;     ///< external data lie beside it
    std::vector<Value> inputs = {};  ///< all that have to be given, in the file's order
    std::vector<Value> outputs = {};
    std::vector<Tensor> values = {};  ///< of the inputs
};

class TakesOnnxFile {
  public:
    static constexpr bool kOfInner = true;
    virtual ~TakesOnnxFile() = default;
    /// Whether it reads ONNX files under these options.
    virtual bool takes_file(const BackendOptions& options) = 0;
    /// As Backend::compile(), of the file itself. The executable's inputs and outputs are the file's.
    virtual CompileResult compile_file(const OnnxFile& file, const BackendOptions& options) = 0;
};

/// What it compiles is not the graph that it is given (judge/file_backend.h), which may have values that no backend
/// takes.
class IgnoresGraph {
  public:
    virtual ~IgnoresGraph() = default;
};

}  // namespace whittle
