#include "cli/model.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/tensor_proto.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
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
    CHECK(recognize(kModels / "squeezenet1_1") == ModelKind::onnx);
}

TEST_CASE("what is no model is refused by name") {
    const TempDir folder;
    const std::string at = folder.path().string() + "/";
    CHECK(recognize_error(folder.path() / "nothing") == at + "nothing: No such file or directory");
    CHECK(recognize_error(write(folder, "empty", "")) == at + "empty: the file is empty, expected a model");
    CHECK(recognize_error(write(folder, "p",
                                "\x7f"
                                "ELF...."))
              .find("an ELF file without execute permission") != std::string::npos);
    CHECK(recognize(write(folder, "m.pt2", "PK\x03\x04....")) == ModelKind::pt2);
    CHECK(recognize_error(write(folder, "t", "hello")).find("byte 0: unknown format") != std::string::npos);
    CHECK(recognize_error(write(folder, "train.py", "import torch")) ==
          at + "train.py: found a script, expected a model or a program that runs the script; hint: explain python3 " +
              at + "train.py reports the graphs; trace -o DIR python3 " + at +
              "train.py records the graphs for minify, repro and replay");
    CHECK(recognize_error(write(folder, "run", "#!/usr/bin/env -S bash -e\n")).find("explain bash " + at + "run ") !=
          std::string::npos);
    CHECK(recognize_error(write(folder, "l.json", "[1]")).find("byte 0: found no '{'") != std::string::npos);
    CHECK(recognize_error(kModels).find("neither a trace (index.json), nor a model (model.onnx)") != std::string::npos);
    CHECK(recognize_error("/dev/null").find("a device or a pipe") != std::string::npos);
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

TEST_CASE("inputs that are made or given lie in memory as the program's did") {
    const TempDir folder;
    const fs::path file = folder.path() / "g.json";
    save_graph(parse(R"(graph g {
        %x = placeholder["x"] : f32[2, 3] strides[1, 2]
        %r = aten.neg.default(%x) : f32[2, 3] strides[1, 2]
        return (%r)
    })"),
               file);
    ModelOptions options;
    const Tensor made = load_model(file, options).at(0).inputs.at(0);
    CHECK(made.strides() == Strides{1, 2});
    save_safetensors(folder.path() / "x.safetensors", {{"x", Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3})}});
    options.inputs.inputs = {"x=" + (folder.path() / "x.safetensors").string()};
    const Tensor given = load_model(file, options).at(0).inputs.at(0);
    CHECK(given.strides() == Strides{1, 2});
    CHECK(floats(given) == std::vector<float>{1, 2, 3, 4, 5, 6});
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
    CHECK(error({"in.a=" + file.string()}) ==
          file.string() + ": found f32[3] for the input 'in.a', expected f32[2], the type of this input in the model");
    CHECK(error({"in.c=" + file.string()}) ==
          file.string() + ": the model has no input 'in.c'; its inputs are in.a, in.b; hint: did you mean 'in.a'?");
    CHECK(error({"in.a"}) == "in.a: No such file or directory; hint: to give one input, use --input NAME=FILE");
    CHECK(error({"=x"}) == "invalid value '=x' for --input: expected NAME=FILE");
    CHECK(error({"a", "b"}) ==
          "--input: 'a' and 'b' each give all inputs, expected at most one file or folder with all inputs");
    CHECK(error({"in.a=" + file.string(), "in.a=" + file.string()}) == "--input: the input 'in.a' is given twice");
}

TEST_CASE("a data set brings inputs and expected outputs") {
    ModelOptions options;
    options.inputs.inputs = {(kModels / "squeezenet1_1/test_data_set_0").string()};
    const LoadedFrame frame = load_model(kSqueeze, options).at(0);
    REQUIRE(frame.inputs.size() == 1);
    CHECK(frame.inputs[0].sizes() == Sizes{1, 3, 96, 96});
    REQUIRE(frame.expected.size() == 1);
    CHECK(frame.expected_from == options.inputs.data_set()->string());
}

TEST_CASE("a data set without names goes by position") {
    const TempDir folder;
    const fs::path graph = two_inputs(folder);
    save_tensor_proto(folder.path() / "set/input_0.pb", Tensor::of<float>({1, 2}));
    save_tensor_proto(folder.path() / "set/input_1.pb", Tensor::of<std::int64_t>({4, 5, 6}));
    save_tensor_proto(folder.path() / "set/output_0.pb", Tensor::of<float>({-1, -2}));
    ModelOptions options;
    options.inputs.inputs = {(folder.path() / "set").string()};
    CHECK(error_of([&] { load_model(graph, options); }).find("found 1 output in the file or folder, expected 2") !=
          std::string::npos);
    save_tensor_proto(folder.path() / "set/output_1.pb", Tensor::of<std::int64_t>({4, 5, 6}));
    const LoadedFrame frame = load_model(graph, options).at(0);
    CHECK(frame.inputs.at(1).values<std::int64_t>() == std::vector<std::int64_t>{4, 5, 6});
    CHECK(frame.expected.size() == 2);
}

TEST_CASE("a data set keeps its expected outputs where all of its inputs are constants of the graph") {
    const TempDir folder;
    const Graph graph = parse(R"(graph positions opset("": 17) {
        %x = placeholder["x"] : f32[3]
        %y = onnx.NonZero(%x) : i64[1, 3]
        return (%y)
    })");
    save_onnx(graph, folder.path() / "model.onnx");
    save_tensor_proto(folder.path() / "test_data_set_0/input_0.pb", Tensor::of<float>({3, 1, 3}));
    save_tensor_proto(folder.path() / "test_data_set_0/output_0.pb", Tensor::of<std::int64_t>({0, 1, 1}, {1, 3}));
    const LoadedFrame frame = load_model(folder.path(), {}).at(0);
    CHECK(frame.inputs.empty());
    REQUIRE(frame.expected.size() == 1);
    CHECK(frame.expected[0].values<std::int64_t>() == std::vector<std::int64_t>{0, 1, 1});
    CHECK(frame.expected_from == (folder.path() / "test_data_set_0").string());
}

namespace {

/// As numpy.save() writes floats.
std::string npy(const Tensor& tensor) {
    std::string shape;
    for (const std::int64_t size : tensor.sizes()) shape += std::to_string(size) + ",";
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + ")}";
    header.resize(117, ' ');
    const std::vector<float> elements = tensor.values<float>();
    return std::string("\x93NUMPY\x01\x00", 8) + std::string("\x76\x00", 2) + header + "\n" +
           std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float));
}

}  // namespace

TEST_CASE("of a program that writes buffers, the outputs that it returns suffice") {
    const fs::path model = WHITTLE_SOURCE_DIR "/test/fixtures/pt2/batch_norm.pt2";
    const LoadedFrame made = load_model(model, {}).at(0);
    const std::vector<Tensor> all = evaluate(made.graph, made.inputs);
    REQUIRE(all.size() == made.updates.size() + 1);
    REQUIRE(made.updates.size() == 3);
    const auto mean =
        std::ranges::find_if(made.updates, [](const std::string& name) { return name.ends_with("mean"); });
    REQUIRE(mean != made.updates.end());
    const auto at = static_cast<std::size_t>(mean - made.updates.begin()) + 1;
    const TempDir folder;
    write_file(folder.path() / "in_0.npy", npy(made.inputs.at(0)));
    write_file(folder.path() / "out_0.npy", npy(all.at(0)));
    ModelOptions options;
    options.inputs.inputs = {folder.path().string()};
    const LoadedFrame computed = load_model(model, options).at(0);
    REQUIRE(computed.expected.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(same_bits(computed.expected[i], all[i]));
    const Tensor other = Tensor::of<float>({1, 2});
    write_file(folder.path() / (*mean + ".npy"), npy(other));
    CHECK(same_bits(load_model(model, options).at(0).expected.at(at), other));
    fs::remove(folder.path() / (*mean + ".npy"));
    save_safetensors(folder.path() / (*mean + ".safetensors"), {{"value", other}});
    CHECK(same_bits(load_model(model, options).at(0).expected.at(at), other));
    write_file(folder.path() / "out_1.npy", npy(other));
    CHECK(error_of([&] { load_model(model, options); }).find("expected 4, the number of outputs of the model") !=
          std::string::npos);
}

TEST_CASE("inputs come from numpy files in order, or from a safetensors file by name") {
    const TempDir folder;
    const fs::path graph = two_inputs(folder), set = folder.path() / "set", file = folder.path() / "all.safetensors";
    const auto npy = [](const char* descr, std::string_view bytes, int size) {
        std::string header =
            std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (" + std::to_string(size) + ",)}";
        header.resize(63, ' ');
        return std::string("\x93NUMPY\x01\x00", 8) + std::string("\x40\x00", 2) + header + "\n" + std::string(bytes);
    };
    const float a[] = {1, 2};
    const std::int64_t b[] = {4, 5, 6};
    write_file(set / "in_0.npy", npy("<f4", {reinterpret_cast<const char*>(a), sizeof a}, 2));
    write_file(set / "in_1.npy", npy("<i8", {reinterpret_cast<const char*>(b), sizeof b}, 3));
    save_safetensors(file, {{"in.a", Tensor::of<float>({1, 2})}, {"in.b", Tensor::of<std::int64_t>({4, 5, 6})}});
    for (const fs::path& from : {set, file}) {
        ModelOptions options;
        options.inputs.inputs = {from.string()};
        const LoadedFrame frame = load_model(graph, options).at(0);
        CHECK(floats(frame.inputs.at(0)) == std::vector<float>{1, 2});
        CHECK(frame.inputs.at(1).values<std::int64_t>() == std::vector<std::int64_t>{4, 5, 6});
        CHECK(frame.inputs_from == from.string());
    }
}

TEST_CASE("an input of a wrong type is refused also where only the graph is wanted") {
    const TempDir folder;
    const fs::path graph = two_inputs(folder), file = folder.path() / "t.safetensors";
    save_safetensors(file, {{"x", Tensor::of<std::int64_t>({7, 8})}});
    ModelOptions options{.need_inputs = false};
    options.inputs.inputs = {"in.a=" + file.string()};
    CHECK(error_of([&] { load_model(graph, options); }).find("found i64[2] for the input 'in.a', expected f32[2]") !=
          std::string::npos);
}

TEST_CASE("a folder of the ONNX backend tests is a model with its inputs") {
    const LoadedFrame frame = load_model(kModels / "squeezenet1_1", {}).at(0);
    CHECK(frame.file == kSqueeze);
    CHECK(frame.inputs_from == (kModels / "squeezenet1_1/test_data_set_0").string());
    CHECK(frame.expected.size() == 1);
    CHECK(load_model(kModels / "squeezenet1_1", {.inputs = {.seed = 1}, .need_inputs = false}).size() == 1);
}

TEST_CASE("the values beside an ONNX file are for it, unless other values are asked for") {
    const TempDir folder;
    const fs::path model = folder.path() / "net.onnx", values = folder.path() / "test_data_set_0";
    fs::copy(kSqueeze, model);
    fs::copy(kModels / "squeezenet1_1/test_data_set_0", values);
    const auto from = [&](const InputOptions& inputs) {
        return load_model(model, {.inputs = inputs}).at(0).inputs_from;
    };
    CHECK(from({}) == values.string());
    CHECK(load_model(model, {}).at(0).expected_from == values.string());
    CHECK(from({.seed = 0}) == "seed 0");
    // Of two models either may be what they are for; not so of model.onnx.
    fs::copy(kSqueeze, folder.path() / "model.onnx");
    CHECK(from({}) == "seed 0");
    CHECK(load_model(folder.path() / "model.onnx", {}).at(0).inputs_from == values.string());
    save_tensor_proto(values / "input_0.pb", Tensor::of<float>({1, 2}));
    const std::string wrong = error_of([&] { load_model(folder.path() / "model.onnx", {}); });
    CHECK(wrong.find("the values came from " + values.string()) != std::string::npos);
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
