// Weights as external data: models of one run share their files.
#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/save.h"
#include "models.h"
#include "ops/core/interpreter.h"

namespace whittle {
namespace {

namespace fs = std::filesystem;

/// y = x + large + small, of which `large` has `elements` elements.
Graph sum_of(std::int64_t elements) {
    const std::string n = std::to_string(elements);
    Graph graph = test::load(test::model("g (float[" + n + "] x, float[" + n + "] large, float[1] small) => (float[" +
                                             n + "] y) { a = Add(x, large)\n y = Add(a, small) }",
                                         17))
                      .graph;
    for (const char* name : {"large", "small"}) {
        const auto node =
            std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) { return node.name == name; });
        REQUIRE(node != graph.nodes.end());
        std::vector<float> values(static_cast<std::size_t>(node->meta().sizes.at(0)));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
        graph.attributes[name] = Tensor::of(values, node->meta().sizes);
        node->kind = NodeKind::get_attr;
        node->target = name;
    }
    return graph;
}

std::vector<fs::path> weights_in(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".bin") found.push_back(entry.path());
    return found;
}

TEST_CASE("models share the files of their large weights", "[onnx]") {
    const TempDir run;
    SharedWeights weights(run.path());
    const Graph graph = sum_of(SharedWeights::kLeast / sizeof(float));
    for (const char* name : {"first", "second"}) {
        const fs::path folder = run.path() / name;
        fs::create_directory(folder);
        save_onnx(graph, folder / "model.onnx", &weights);
        REQUIRE(weights_in(folder).size() == 1);
        CHECK(fs::file_size(folder / "model.onnx") < 1024);
        const Graph loaded = load_onnx(folder / "model.onnx");
        CHECK(same_structure(graph, loaded));
        const Tensor x(DType::f32, graph.node({graph.placeholders().at(0)}).meta().sizes);
        CHECK(same_bits(evaluate(loaded, std::vector{x}).at(0), evaluate(graph, std::vector{x}).at(0)));
    }
    REQUIRE(weights_in(run.path()).size() == 1);  // small stays inside
    CHECK(fs::hard_link_count(weights_in(run.path()).at(0)) == 3);
}

TEST_CASE("memory that is used again for other weights is another file", "[onnx]") {
    const TempDir run;
    SharedWeights weights(run.path());
    const Sizes sizes{1 << 14};  // a block that an allocator gives back soon
    const std::vector<float> ones(1 << 14, 1.0F);
    Tensor tensor(DType::f32, sizes);
    const std::string zeros = weights.put(tensor, run.path());
    CHECK(weights.put(tensor, run.path()) == zeros);
    const void* place = tensor.raw();
    for (int i = 0; i < 64 && (i == 0 || tensor.raw() != place); ++i) {
        tensor = {};
        tensor = Tensor::of(ones, sizes);
    }
    if (tensor.raw() != place) WARN("no allocation came to the same place");
    CHECK(weights.put(tensor, run.path()) != zeros);
}

TEST_CASE("without a place for them weights stay in the model", "[onnx]") {
    const TempDir run;
    save_onnx(sum_of(SharedWeights::kLeast / sizeof(float)), run.path() / "model.onnx");
    CHECK(weights_in(run.path()).empty());
    CHECK(fs::file_size(run.path() / "model.onnx") > SharedWeights::kLeast);
}

}  // namespace
}  // namespace whittle
