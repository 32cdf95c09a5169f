#include "frontends/pt2/save.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "formats/document.h"
#include "frontends/pt2/archive.h"
#include "frontends/pt2/load.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/table.h"

using namespace whittle;
using namespace whittle::pt2;

namespace {

Graph saved_and_loaded(const Graph& graph, const TempDir& folder = TempDir()) {
    save_pt2(folder.path() / "m.pt2", graph);
    return load_pt2(folder.path() / "m.pt2").graph;
}

std::string refusal_to_save(const Graph& graph) {
    const TempDir folder;
    try {
        save_pt2(folder.path() / "m.pt2", graph);
    } catch (const Error& error) {
        CHECK_FALSE(std::filesystem::exists(folder.path() / "m.pt2"));
        return error.what();
    }
    return "";
}

/// Without the calls that read results, which a file names.
std::string calls_of(const Graph& graph) {
    std::string text;
    for (const NodeId id : graph.calls())
        if (const Node& call = graph.node({id}); call.target != kGetItem) text += call.target + "\n";
    return text;
}

}  // namespace

TEST_CASE("every call of ATen's that a sample makes is written so that it computes the same") {
    const TempDir folder;  // making one takes as long as a sample
    std::size_t written = 0;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.name.starts_with("aten.") || op.def->random || op.replaces_operand()) continue;
        const auto takes = [&](DType dtype) { return (op.def->dtypes & set_of(dtype)) != 0; };
        const DType dtype = takes(DType::f32) ? DType::f32 : takes(DType::c64) ? DType::c64 : DType::i64;
        if (!(op.def->dtypes & set_of(dtype))) continue;
        for (const Sample& sample : samples_of(op, dtype)) {
            INFO(op.name << " " << sample.label);
            const Graph graph = graph_of(op, sample);
            const Graph loaded = saved_and_loaded(graph, folder);
            REQUIRE(calls_of(loaded) == calls_of(graph));
            std::vector<Tensor> inputs;
            for (const Tensor& input : sample.inputs()) inputs.push_back(input.clone());
            const std::vector<Tensor> expected = Interpreter().run(graph, inputs);
            inputs.clear();
            for (const Tensor& input : sample.inputs()) inputs.push_back(input.clone());
            const std::vector<Tensor> got = Interpreter().run(loaded, inputs);
            REQUIRE(got.size() == expected.size());
            for (std::size_t i = 0; i < got.size(); ++i) CHECK(same_bits(got[i], expected[i]));
            ++written;
        }
    }
    CHECK(written > 1000);
}

TEST_CASE("weights keep their names, strides and what is a parameter") {
    Graph graph;
    const Tensor base = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {3, 2}));
    const NodeRef turned = graph.get_attr("layer.weight", base.as_strided({3, 2}, {1, 3}, 0).with_requires_grad(true));
    const NodeRef row = graph.get_attr("layer.row", base.as_strided({3, 2}, {0, 1}, 4));
    const NodeRef back = graph.get_attr("layer.back", base.as_strided({3, 2}, {-2, -1}, 5));
    NodeRef sum = x;
    for (const NodeRef weight : {turned, row, back}) {
        Node call{.target = "aten.add.Tensor", .args = {sum, weight}};
        call.results = infer(graph, call);
        sum = graph.add(std::move(call));
    }
    graph.output({sum});
    const Graph loaded = saved_and_loaded(graph);
    REQUIRE(loaded.attributes.size() == 3);
    for (const auto& [name, tensor] : graph.attributes) CHECK(same_bits(loaded.attributes.at(name), tensor));
    CHECK(loaded.attributes.at("layer.weight").strides() == Strides{1, 3});
    CHECK(loaded.attributes.at("layer.row").strides() == Strides{0, 1});
    const TempDir folder;
    save_pt2(folder.path() / "m.pt2", graph);
    const Archive archive(folder.path() / "m.pt2");
    const auto config = Document(archive.text("m/data/weights/model_weights_config.json"), "config").root();
    CHECK(config.at("config").at("layer.weight").at("is_param") == true);
    CHECK(config.at("config").at("layer.row").at("is_param") == false);
    // What PyTorch's reader asks for, whatever it holds.
    for (const char* entry : {"archive_format", "archive_version", "byteorder", ".data/version", "models/model.json",
                              "data/sample_inputs/model.pt", "data/constants/model_constants_config.json"})
        CHECK(archive.has("m/" + std::string(entry)));
    const std::string once = read_file(folder.path() / "m.pt2");
    save_pt2(folder.path() / "m.pt2", graph);
    CHECK(read_file(folder.path() / "m.pt2") == once);
}

TEST_CASE("places go along") {
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2}));
    Node call{.target = "aten.relu.default", .args = {x}, .module_path = "blocks.0"};
    call.stack = {{.file = "net.py", .line = 12, .function = "forward", .text = "return relu(x)"},
                  {.file = "main.py", .line = 3, .function = "<module>", .text = ""}};
    call.results = infer(graph, call);
    const NodeRef y = graph.add(call);
    graph.output({y});
    const Graph loaded = saved_and_loaded(graph);
    const Node& got = loaded.node({loaded.calls().at(0)});
    CHECK(got.stack == call.stack);
    CHECK(got.module_path == "blocks.0");
}

TEST_CASE("a graph that no ATen op stands for is refused by name, and nothing is written") {
    CHECK(refusal_to_save(parse("graph g opset(\"\": 17) {\n  %x = placeholder[\"x\"] : f32[2]\n"
                                "  %y = onnx.Relu(%x) : f32[2]\n  return (%y)\n}\n"))
              .find("dialect onnx") != std::string::npos);
    CHECK(refusal_to_save(parse("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n"
                                "  %y = mine.scale(%x) : f32[2]\n  return (%y)\n}\n"))
              .find("%y calls mine.scale") != std::string::npos);
}
