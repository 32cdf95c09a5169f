// The file that a user gave, handed to a compiler byte for byte in place of what was made of it.
#include "judge/file_backend.h"

#include <catch2/catch.hpp>

#include "backends/command/command.h"
#include "backends/eager/eager.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "frontends/onnx/save.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "judge/outcome.h"
#include "tensor/safetensors.h"

using namespace whittle;

TEST_CASE("a compiler that reads ONNX gets the user's file as it is, with the file's inputs") {
    const TempDir folder;
    save_onnx(parse(R"(graph g opset("": 13) {
  %x = placeholder["x"] : f32[2]
  %y = onnx.Relu(%x) : f32[2]
  return (%y)
})"),
              folder.path() / "given.onnx");
    OnnxFile file{.model = folder.path() / "given.onnx"};
    file.inputs = {{"x", ValueMeta::contiguous(DType::f32, {2})}};
    file.outputs = {{"y"}};
    file.values = {Tensor::of({-1.f, 2.f})};
    save_safetensors(folder.path() / "prepared.safetensors", {{"0", Tensor::of({0.f, 2.f})}});
    const std::string text = "cmp \"$1/model.onnx\" " + file.model.string() + " && cp \"$1/inputs.safetensors\" " +
                             (folder.path() / "seen.safetensors").string() + " && cp " +
                             (folder.path() / "prepared.safetensors").string() + " \"$1/outputs.safetensors\"";
    const auto command = make_command_backend(shell_quote({"/bin/sh", "-c", text, "script"}));

    // What was read of it has a value of unknown type: no backend takes the graph, and this one the file.
    Graph graph;
    const NodeRef x = graph.placeholder("z", unknown_meta());
    graph.output({x});
    CHECK(run_isolated(graph, {}, *command, {}, Limits{}).kind == Outcome::Kind::unsupported);
    const auto given = file_backend(*command, file, {});
    REQUIRE(given);
    const Outcome outcome = run_isolated(graph, {}, *given, {}, Limits{});
    INFO(outcome.message);
    REQUIRE(outcome.kind == Outcome::Kind::ok);
    CHECK(outcome.outputs.at(0).values<float>() == std::vector<float>{0, 2});
    CHECK(load_safetensors(folder.path() / "seen.safetensors").at("0").values<float>() == std::vector<float>{-1, 2});

    CHECK_FALSE(file_backend(*command, file, {{"format", "json"}}));
    const auto eager = make_eager_backend();
    CHECK_FALSE(file_backend(*eager, file, {}));
}
