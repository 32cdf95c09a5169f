// The ONNX standard's own test models, as libonnx-testdata has them: folders with a model.onnx and test_data_set_*.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace whittle::conformance {

struct Model {
    std::string name;  ///< "node/test_abs"
    std::filesystem::path file;
    std::vector<std::filesystem::path> data_sets = {};
    std::vector<int> inputs = {}, outputs = {};  ///< element types of those that are tensors, else 0
    std::set<std::string> ops = {};              ///< "onnx.Abs", those of nested graphs and functions too
    /// What an expectation may name: the ops; how many inputs they have, "onnx.Clip#3"; their attributes that are words
    /// or whole numbers, "onnx.Resize.mode=cubic"; the numbers that they are given, "onnx.Dropout[1]=0.5"; types
    /// anywhere in the model, "type:UINT16" "type:sequence"; "opset:6"; "functions"; "shrinks" when the first output
    /// has fewer elements than the first input.
    std::set<std::string> features = {};
};

/// All models below the folder, in order of name. Throws Error for a model that cannot be parsed and where there is
/// none.
std::vector<Model> find_models(const std::filesystem::path& folder);

}  // namespace whittle::conformance
