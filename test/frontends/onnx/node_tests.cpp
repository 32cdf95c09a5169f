// The standard's own tests of its ops, where somebody has them: WHITTLE_ONNX_NODE_TESTS names folders, separated by
// ':', each holding folders with a model.onnx and its test_data_set_* (onnx/backend/test/data/node of the ONNX sources,
// of any release). Skipped otherwise. Ops that Whittle refuses by name are counted, not failed; wrong results fail.
// WHITTLE_ONNX_NODE_FILTER=TEXT restricts the run to tests whose name contains TEXT.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "base/files.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "models.h"
#include "ops/core/interpreter.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

namespace fs = std::filesystem;

/// The standard's tolerance is 1e-3 relative; half types keep our own.
Tolerance tolerance_of(DType dtype) {
    Tolerance tolerance = default_tolerance(dtype);
    if (dtype == DType::f32 || dtype == DType::f64) tolerance = {1e-3, 1e-5};
    return tolerance;
}

/// The model with inputs from position `first` on turned into initializers: their values must be known to us.
onnx::ModelProto with_constants(onnx::ModelProto model, const fs::path& folder, int first) {
    for (int i = model.graph().input_size() - 1; i >= first; --i) {
        onnx::TensorProto& proto = *model.mutable_graph()->add_initializer();
        REQUIRE(proto.ParseFromString(read_file(folder / ("input_" + std::to_string(i) + ".pb"))));
        proto.set_name(model.graph().input(i).name());
    }
    auto& inputs = *model.mutable_graph()->mutable_input();
    inputs.DeleteSubrange(first, inputs.size() - first);
    return model;
}

/// "" when the outputs agree, else how they differ.
std::string run(const onnx::ModelProto& model, const fs::path& folder, int inputs) {
    std::vector<Tensor> values, expected;
    LoadOptions options;
    for (int i = 0; i < inputs; ++i) {
        values.push_back(load_tensor_proto(folder / ("input_" + std::to_string(i) + ".pb")).tensor);
        options.input_sizes[model.graph().input(i).name()] = values.back().sizes();
    }
    for (int i = 0; fs::exists(folder / ("output_" + std::to_string(i) + ".pb")); ++i)
        expected.push_back(load_tensor_proto(folder / ("output_" + std::to_string(i) + ".pb")).tensor);
    const Graph graph = test::load(model, options).graph;
    const std::vector<Tensor> outputs = evaluate(graph, values);
    if (outputs.size() != expected.size()) return std::to_string(outputs.size()) + " outputs";
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (const auto difference = compare(outputs[i], expected[i], tolerance_of(expected[i].dtype())))
            return "output " + std::to_string(i) + ": " + difference->description;
    const Graph again = load_onnx_bytes(test::bytes_of(to_onnx(graph)), "again.onnx", {}, {}).graph;
    return same_structure(graph, again) ? "" : "another graph after saving and loading";
}

/// Data of one release that a later release corrected: results computed from a scaled length before it was rounded,
/// pads of SAME_UPPER and SAME_LOWER exchanged, rounding modes of opset 11 before it was final.
constexpr std::string_view kCorrected[] = {"test_resize_downsample_scales_cubic_align_corners",
                                           "test_resize_downsample_scales_linear_align_corners",
                                           "v1.9.0/test_convtranspose_autopad_same",
                                           "v1.6.0/test_resize_upsample_sizes_nearest_ceil_half_pixel",
                                           "v1.6.0/test_resize_upsample_sizes_nearest_floor_align_corners",
                                           "v1.6.0/test_resize_upsample_sizes_nearest_round_prefer_ceil_asymmetric"};

bool corrected_later(const std::string& name) {
    return std::any_of(std::begin(kCorrected), std::end(kCorrected),
                       [&](std::string_view known) { return name.ends_with(known); });
}

struct Tally {
    int passed = 0;
    std::map<std::string, std::set<std::string>> refused, wrong;  ///< test names by reason
};

void run_test(const fs::path& test, const std::string& release, Tally& tally) {
    onnx::ModelProto model;
    if (!model.ParseFromString(read_file(test / "model.onnx"))) return;
    for (onnx::OperatorSetIdProto& opset : *model.mutable_opset_import())  // what did not change since is in opset 7
        if (opset.domain().empty()) opset.set_version(std::max<std::int64_t>(opset.version(), kMinOpset));
    const std::string name = release + "/" + test.filename().string();
    for (int set = 0; fs::exists(test / ("test_data_set_" + std::to_string(set))); ++set) {
        const fs::path folder = test / ("test_data_set_" + std::to_string(set));
        const int inputs = model.graph().input_size();
        std::string refusal;
        for (const int kept : {inputs, std::min(1, inputs), 0}) {
            try {
                const std::string difference = run(with_constants(model, folder, kept), folder, kept);
                refusal.clear();
                if (difference.empty())
                    ++tally.passed;
                else if (!corrected_later(name))
                    tally.wrong[difference].insert(name);
                break;
            } catch (const Error& error) {
                refusal = error.message();
                if (refusal.find("expected a constant") == std::string::npos) break;
            }
        }
        if (!refusal.empty()) tally.refused[refusal].insert(name);
    }
}

void list(const char* title, const std::map<std::string, std::set<std::string>>& reasons) {
    for (const auto& [reason, names] : reasons) {
        std::cout << title << " " << reason << ":";
        for (const std::string& name : names) std::cout << " " << name;
        std::cout << "\n";
    }
}

TEST_CASE("the standard's node tests", "[onnx]") {
    const char* folders = std::getenv("WHITTLE_ONNX_NODE_TESTS");
    if (!folders) return;
    const char* filter = std::getenv("WHITTLE_ONNX_NODE_FILTER");
    Tally tally;
    std::istringstream list_of_folders(folders);
    for (std::string folder; std::getline(list_of_folders, folder, ':');) {
        std::set<fs::path> tests;
        for (const auto& entry : fs::directory_iterator(folder)) tests.insert(entry.path());
        for (const fs::path& path : tests)
            if (fs::exists(path / "model.onnx") && (!filter || path.string().find(filter) != std::string::npos))
                run_test(path, fs::path(folder).parent_path().filename().string(), tally);
    }
    list("refused", tally.refused);
    list("WRONG", tally.wrong);
    std::cout << tally.passed << " passed\n";
    CHECK(tally.wrong.empty());
}

}  // namespace
}  // namespace whittle
