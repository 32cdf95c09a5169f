// FileParts: the nodes of an ONNX file as they stand there, and the files that some of them make. For who judges such
// files: no node is changed, whether Whittle knows its op or not, and values may be of any type.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/onnx_file.h"

namespace whittle {

class FileParts {
  public:
    /// Throws Error where the file cannot be read, or keeps its weights in other files.
    explicit FileParts(const std::filesystem::path& file);
    ~FileParts();

    /// Nodes of the main graph, in an order in which each value is made before it is read.
    int count() const;
    /// "com.microsoft.FusedConv"; of the standard's without a domain.
    std::string op(int node) const;
    /// "t = StringNormalizer(s)", without attributes.
    std::string text(int node) const;
    /// Nodes of which one reads what the other makes.
    std::vector<std::vector<int>> neighbours() const;
    /// The type of a value that the file does not tell and ONNX's inference does not know.
    void know(const std::string& value, const ValueMeta& meta);
    /// Groups of nodes, ascending, which are as small as they can be where no value but these is read by another group
    /// than the one that makes it. In the order of their last nodes.
    using Values = std::function<bool(const std::string&)>;
    std::vector<std::vector<int>> between(const Values& values) const;
    /// `nodes`, ascending, without those that read a value of unknown type that none of them makes: no file could say
    /// what that is.
    std::vector<int> legal(const std::vector<int>& nodes) const;
    /// Writes the file of these nodes, which are legal. What they read of others is an input of the type that ONNX's
    /// inference gives it; what nobody among them reads is an output, as is what was one. Returns its inputs, in order,
    /// with the meta of dense tensors of known sizes, and its outputs. With `outputs`, these alone are outputs.
    OnnxFile write(const std::vector<int>& nodes, const std::filesystem::path& file, const Values& outputs = {}) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace whittle
