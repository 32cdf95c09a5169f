// The five models in share/models: they load, verify, survive saving, and compute what PyTorch computed.
#include <filesystem>

#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "graph/verify.h"
#include "models.h"
#include "ops/core/interpreter.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

const std::filesystem::path kModels = std::filesystem::path(WHITTLE_SOURCE_DIR) / "share/models";

TEST_CASE("the shipped models compute what PyTorch computed", "[onnx]") {
    const std::string name =
        GENERATE("squeezenet1_1", "mobilenet_v2_w025", "bert_2l_d128", "gpt2_2l_d128", "lstm2_d64");
    INFO(name);
    const TestDataSet data = load_test_data_set(kModels / name / "test_data_set_0");
    LoadOptions options;
    std::vector<Tensor> inputs;
    for (const NamedTensor& input : data.inputs) {
        inputs.push_back(input.tensor);
        options.input_sizes[input.name] = input.tensor.sizes();
    }
    const Graph graph = load_onnx(kModels / name / "model.onnx", options);
    CHECK(graph.dialect == "onnx");
    CHECK_NOTHROW(verify(graph, Stage::functional, Registry::instance()));

    const std::vector<Tensor> outputs = evaluate(graph, inputs);
    REQUIRE(outputs.size() == data.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto difference = compare(outputs[i], data.outputs[i].tensor, {1e-4, 1e-5});
        INFO("output " << i << ": " << (difference ? difference->description : ""));
        CHECK(!difference);
    }
    const Graph again = load_onnx_bytes(test::bytes_of(to_onnx(graph)), "again.onnx", {}, {}).graph;
    CHECK(same_structure(graph, again));
}

}  // namespace
}  // namespace whittle
