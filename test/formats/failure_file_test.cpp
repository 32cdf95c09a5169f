#include "formats/failure_file.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "graph/text.h"

using namespace whittle;

TEST_CASE("a failure is stored beside an ONNX file and read back", "[failure]") {
    const TempDir folder;
    const auto model = folder.path() / "m.onnx";
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"in\"] : f32[2]\n  %y = aten.relu.default(%x) : f32[2]\n  return (%y)\n}\n");
    CHECK_FALSE(load_failure(graph, model));
    Failure recorded;
    recorded.backend = "halide";
    recorded.signature = {"mismatch", "run", "value"};
    recorded.inputs = {Tensor::of<float>({1, NAN})};
    graph.failure = recorded;
    save_failing_model(graph, model, "the model");
    CHECK(read_file(model) == "the model");
    const auto failure = load_failure(graph, model);
    REQUIRE(failure);
    CHECK(failure->backend == "halide");
    CHECK(failure->signature == graph.failure->signature);
    REQUIRE(failure->inputs.size() == 1);
    CHECK(same_bits(failure->inputs[0], graph.failure->inputs[0]));

    const Graph other = parse("graph g {\n  %x = placeholder[\"in\"] : f32[3]\n  return (%x)\n}\n");
    CHECK_THROWS_AS(load_failure(other, model), Error);
}

TEST_CASE("a writer that is killed leaves a model and its own failure", "[failure]") {
    const TempDir folder;
    const auto model = folder.path() / "m.onnx";
    Graph graph = parse("graph g {\n  %x = placeholder[\"in\"] : f32[20]\n  return (%x)\n}\n");
    graph.failure.emplace();
    graph.failure->inputs = {Tensor(DType::f32, {20})};
    const auto save = [&](const std::string& backend, const std::string& contents) {
        graph.failure->backend = backend;
        save_failing_model(graph, model, contents);
    };
    save("old", "old model");
    const std::size_t files = 3;  // model, failure and its tensors
    const auto count = [&] {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()));
    };
    CHECK(count() == files);
    // Killed where a file is written: the model, then the failure beside it.
    for (const std::string stuck : {"m.onnx", "m.onnx.failure.json"}) {
        INFO(stuck);
        save("old", "old model");
        std::filesystem::rename(folder.path() / stuck, folder.path() / "aside");
        std::filesystem::create_directory(folder.path() / stuck);  // which no file can replace
        CHECK_THROWS_AS(save("new", "new model"), Error);
        std::filesystem::remove(folder.path() / stuck);
        std::filesystem::rename(folder.path() / "aside", folder.path() / stuck);
        const bool old = read_file(model) == "old model";
        CHECK(old == (stuck == "m.onnx"));
        CHECK(load_failure(graph, model)->backend == (old ? "old" : "new"));
    }
    save("new", "new model");
    CHECK(load_failure(graph, model)->backend == "new");
    CHECK(count() == files);
}
