// The interface (graph/abilities.h) of compilers that read ONNX files: the file as its user gave it is judged first,
// byte by byte, and not what was made of it while it was read.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "graph/backend.h"
#include "graph/value_ref.h"

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

/// Nodes of the file that a compiler runs in the place of a graph, as a file of their own, between values of the graph.
struct OptimizedPart {
    std::vector<std::string> ops = {};                ///< of its nodes, each once: "com.microsoft.FusedConv"
    OnnxFile file = {};                               ///< without values
    std::vector<ValueRef> inputs = {}, outputs = {};  ///< one for each of the file's
    std::string problem = {};                         ///< why the file cannot be judged; empty: it can
};

/// The file that a compiler runs in the place of a graph. By their names, values in it are the graph's, though a
/// compiler may keep the name of what is another value now.
class OptimizedModel {
  public:
    using Values = std::set<ValueRef>;
    virtual ~OptimizedModel() = default;
    /// Its nodes, in groups that are as small as they can be between values of the graph, other than these.
    virtual std::vector<std::vector<int>> groups(const Values& but) const = 0;
    /// Writes the file of such a group.
    virtual OptimizedPart part(const std::vector<int>& group, const Values& but) = 0;
};

/// Of who reads ONNX files: it writes what it makes of one.
class WritesOptimized {
  public:
    static constexpr bool kOfInner = true;
    virtual ~WritesOptimized() = default;
    virtual bool writes_optimized(const BackendOptions& options) = 0;
    /// Its files go into the folder. A failure where the graph does not compile.
    virtual std::variant<std::unique_ptr<OptimizedModel>, BackendFailure> optimized(
        const Graph& graph, const BackendOptions& options, const std::filesystem::path& folder) = 0;
    /// Options under which it runs the parts' files as they are.
    virtual BackendOptions as_they_are(BackendOptions options) = 0;
};

/// What it compiles is not the graph that it is given (judge/file_backend.h), which may have values that no backend
/// takes.
class IgnoresGraph {
  public:
    virtual ~IgnoresGraph() = default;
};

}  // namespace whittle
