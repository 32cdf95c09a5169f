#include "cli/model.h"

#include <catch2/catch.hpp>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "frontends/onnx/tensor_proto.h"
#include "graph/json.h"
#include "graph/text.h"
#include "tensor/safetensors.h"

using namespace whittle;
using namespace whittle::cli;
namespace fs = std::filesystem;

namespace {

const fs::path kModels = fs::path(WHITTLE_SOURCE_DIR) / "share/models";
const fs::path kSqueeze = kModels / "squeezenet1_1/model.onnx";

template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

std::string recognize_error(const fs::path& path) {
    return error_of([&] { recognize(path); });
}

fs::path write(const TempDir& folder, const std::string& name, std::string_view bytes) {
    write_file(folder.path() / name, bytes);
    return folder.path() / name;
}

/// A graph of two inputs, saved.
fs::path two_inputs(const TempDir& folder) {
    const Graph graph = parse(R"(graph g {
        %a = placeholder["in.a"] : f32[2]
        %b = placeholder["in.b"] : i64[3]
        %r = aten.neg.default(%a) : f32[2]
        return (%r, %b)
    })");
    save_graph(graph, folder.path() / "g.json");
    return folder.path() / "g.json";
}

std::vector<float> floats(const Tensor& tensor) { return tensor.values<float>(); }

}  // namespace

TEST_CASE("models are recognized by content") {
    const TempDir folder;
    CHECK(recognize(kSqueeze) == ModelKind::onnx);
    CHECK(recognize(two_inputs(folder)) == ModelKind::graph);
    fs::copy(kSqueeze, folder.path() / "renamed");
    CHECK(recognize(folder.path() / "renamed") == ModelKind::onnx);
    fs::copy(folder.path() / "g.json", folder.path() / "g.txt");
    CHECK(recognize(folder.path() / "g.txt") == ModelKind::graph);
    write(folder, "index.json", "{}");
    CHECK(recognize(folder.path()) == ModelKind::trace);
}

TEST_CASE("what is no model is refused by name") {
    const TempDir folder;
    const std::string at = folder.path().string() + "/";
    CHECK(recognize_error(folder.path() / "nothing") == at + "nothing: found no such file or folder");
    CHECK(recognize_error(write(folder, "empty", "")) == at + "empty: found an empty file, expected a model");
    CHECK(recognize_error(write(folder, "p",
                                "\x7f"
                                "ELF...."))
              .find("found an ELF file without execute permission") != std::string::npos);
    CHECK(recognize_error(write(folder, "m.pt2", "PK\x03\x04....")).find(".pt2") != std::string::npos);
    CHECK(recognize_error(write(folder, "t", "hello")).find("byte 0: found an unknown format") != std::string::npos);
    CHECK(recognize_error(write(folder, "l.json", "[1]")).find("byte 0: found no '{'") != std::string::npos);
    CHECK(recognize_error(kModels / "squeezenet1_1").find("did you mean") != std::string::npos);
    CHECK(recognize_error(kModels).find("found a folder without index.json") != std::string::npos);
    CHECK(recognize_error("/dev/null").find("found a device or pipe") != std::string::npos);
}

TEST_CASE("a seed makes the same inputs each time, whatever else is given") {
    const TempDir folder;
    const fs::path graph = two_inputs(folder);
    save_safetensors(folder.path() / "a.safetensors", {{"x", Tensor::of<float>({7, 8})}});
    ModelOptions options;
    options.inputs.seed = 3;
    const LoadedFrame made = load_model(graph, options).at(0);
    CHECK(made.inputs_from == "seed 3");
    REQUIRE(made.inputs.size() == 2);
    CHECK(same_bits(made.inputs[1], load_model(graph, options).at(0).inputs[1]));

    options.inputs.inputs = {"in.a=" + (folder.path() / "a.safetensors").string()};
    const LoadedFrame given = load_model(graph, options).at(0);
    CHECK(floats(given.inputs.at(0)) == std::vector<float>{7, 8});
    CHECK(same_bits(given.inputs[1], made.inputs[1]));

    options.inputs = {.seed = 4};
    CHECK_FALSE(same_bits(load_model(graph, options).at(0).inputs[0], made.inputs[0]));
}

TEST_CASE("inputs that do not fit are refused by name") {
    const TempDir folder;
    const fs::path graph = two_inputs(folder), file = folder.path() / "t.safetensors";
    save_safetensors(file, {{"x", Tensor::of<float>({7, 8, 9})}});
    const auto error = [&](std::vector<std::string> inputs) {
        ModelOptions options;
        options.inputs.inputs = std::move(inputs);
        return error_of([&] { load_model(graph, options); });
    };
    CHECK(error({"in.a=" + file.string()}) == file.string() + ": found f32[3] for input 'in.a', expected f32[2]");
    CHECK(error({"in.c=" + file.string()}) ==
          file.string() +
              ": found input 'in.c', which the model does not have; it has in.a, in.b; hint: did you mean 'in.a'?");
    CHECK(error({"in.a"}) == "--input: found 'in.a', expected NAME=FILE");
    CHECK(error({"in.a=" + file.string(), "in.a=" + file.string()}) ==
          "--input: found input 'in.a' twice, expected it once");
}

TEST_CASE("a data set brings inputs and expected outputs") {
    ModelOptions options;
    options.inputs.data_set = kModels / "squeezenet1_1/test_data_set_0";
    const LoadedFrame frame = load_model(kSqueeze, options).at(0);
    REQUIRE(frame.inputs.size() == 1);
    CHECK(frame.inputs[0].sizes() == Sizes{1, 3, 96, 96});
    REQUIRE(frame.expected.size() == 1);
    CHECK(frame.expected_from == options.inputs.data_set->string());
}

TEST_CASE("a data set without names goes by position") {
    const TempDir folder;
    const fs::path graph = two_inputs(folder);
    save_tensor_proto(folder.path() / "set/input_0.pb", Tensor::of<float>({1, 2}));
    save_tensor_proto(folder.path() / "set/input_1.pb", Tensor::of<std::int64_t>({4, 5, 6}));
    save_tensor_proto(folder.path() / "set/output_0.pb", Tensor::of<float>({-1, -2}));
    ModelOptions options;
    options.inputs.data_set = folder.path() / "set";
    CHECK(error_of([&] { load_model(graph, options); }).find("found 1 outputs, expected 2") != std::string::npos);
    save_tensor_proto(folder.path() / "set/output_1.pb", Tensor::of<std::int64_t>({4, 5, 6}));
    const LoadedFrame frame = load_model(graph, options).at(0);
    CHECK(frame.inputs.at(1).values<std::int64_t>() == std::vector<std::int64_t>{4, 5, 6});
    CHECK(frame.expected.size() == 2);
}

TEST_CASE("a failure's inputs are kept") {
    const TempDir folder;
    Graph graph = load_graph(two_inputs(folder));
    Failure failure;
    failure.backend = "halide";
    failure.inputs = {Tensor::of<float>({5, 6}), Tensor::of<std::int64_t>({1, 2, 3})};
    graph.failure = failure;
    save_graph(graph, folder.path() / "m.json");
    const LoadedFrame frame = load_model(folder.path() / "m.json", {}).at(0);
    CHECK(frame.inputs_from == "the failure");
    CHECK(floats(frame.inputs.at(0)) == std::vector<float>{5, 6});
}
