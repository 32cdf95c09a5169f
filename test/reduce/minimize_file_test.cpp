// A file whose failure is not one of the graph that Whittle makes of it is minimized node by node.
#include "reduce/minimize_frame.h"

#include <onnx/onnx_pb.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"
#include "frontends/onnx/load.h"

using namespace whittle;
namespace fs = std::filesystem;

namespace {

void add_value(onnx::ValueInfoProto& value, const char* name, onnx::TensorProto::DataType type) {
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(2);
}

/// A model with strings on disk: a, b, c, y are made of x one after the other, t and u of s.
struct Model {
    Model() {
        onnx::ModelProto model;
        model.set_ir_version(8);
        model.add_opset_import()->set_version(16);
        onnx::GraphProto& graph = *model.mutable_graph();
        graph.set_name("g");
        add_value(*graph.add_input(), "s", onnx::TensorProto::STRING);
        add_value(*graph.add_input(), "x", onnx::TensorProto::FLOAT);
        add_value(*graph.add_output(), "u", onnx::TensorProto::STRING);
        add_value(*graph.add_output(), "y", onnx::TensorProto::FLOAT);
        const char* const nodes[][3] = {{"Relu", "x", "a"},     {"Neg", "a", "b"}, {"StringNormalizer", "s", "t"},
                                        {"Identity", "t", "u"}, {"Abs", "b", "c"}, {"Tanh", "c", "y"}};
        for (const auto& [op, input, output] : nodes) {
            onnx::NodeProto& node = *graph.add_node();
            node.set_op_type(op);
            node.add_input(input);
            node.add_output(output);
        }
        write_file(folder.path() / "model.onnx", model.SerializeAsString());
    }
    /// Judged by whether the file holds both words.
    reduce::Request search(const std::string& one, const std::string& other) const {
        reduce::CommandOracleOptions command;
        command.polarity = "check";
        command.extension = ".onnx";
        command.command = {"sh", "-c", "! { grep -aq " + one + " \"$0\" && grep -aq " + other + " \"$0\"; }", "{}"};
        return {.judge = command, .output = folder.path() / "out.onnx"};
    }
    LoadedFrame frame() const { return {.file = folder.path() / "model.onnx", .unread = "the input s holds strings"}; }
    TempDir folder;
};

}  // namespace

TEST_CASE("a file with strings is minimized to the nodes that a command needs", "[file]") {
    const Model model;
    const reduce::Minimized found = reduce::minimize(model.frame(), model.search("StringNormalizer", "Abs"), {});
    REQUIRE(found.failed());
    CHECK(found.smallest.nodes == std::vector<std::string>{"t = StringNormalizer(s)", "c = Abs(b)"});
    CHECK(found.search.one_minimal);
    CHECK(found.confirmed);
    CHECK(fs::exists(found.output));
}

TEST_CASE("a file that does not fail is not minimized", "[file]") {
    const Model model;
    const reduce::Minimized found = reduce::minimize(model.frame(), model.search("Gelu", "Abs"), {});
    CHECK_FALSE(found.failed());
    CHECK_FALSE(fs::exists(model.folder.path() / "out.onnx"));
}

TEST_CASE("a search of a file that was stopped goes on from its journal", "[file]") {
    const Model model;
    reduce::Request search = model.search("StringNormalizer", "Abs");
    const reduce::Minimized whole = reduce::minimize(model.frame(), search, {});
    fs::remove(search.output);
    const fs::path journal = search.output.string() + ".journal";
    search.how.step_limit = 3;
    std::size_t told = 0;
    const reduce::Observer counts{.progress = [&](const reduce::Progress&) { ++told; }};
    const reduce::Minimized stopped = reduce::minimize(model.frame(), search, counts);
    CHECK(stopped.ending == reduce::Minimized::Ending::interrupted);
    CHECK(told == 2);  // candidates
    CHECK(fs::exists(journal));
    search.how = {.resume = true};
    const reduce::Minimized found = reduce::minimize(model.frame(), search, {});
    CHECK(found.smallest.nodes == whole.smallest.nodes);
    CHECK(found.search.queries == whole.search.queries);
    CHECK(found.replayed >= 3);
    CHECK(found.confirmed);
    CHECK_FALSE(fs::exists(journal));
}

TEST_CASE("a file of which no part fails is the result, byte by byte", "[file]") {
    const Model model;
    write_file(model.folder.path() / "model.onnx",
               read_file(model.folder.path() / "model.onnx") + "\372\001\006marker");
    const reduce::Minimized found = reduce::minimize(model.frame(), model.search("marker", "Abs"), {});
    REQUIRE(found.ending == reduce::Minimized::Ending::minimized);
    CHECK(found.confirmed);
    CHECK(read_file(found.output) == read_file(model.folder.path() / "model.onnx"));
}

TEST_CASE("a backend that refuses what reading computes is followed with nothing folded", "[file]") {
    const TempDir folder("whittle-folded");
    const fs::path file = folder.path() / "model.onnx";
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(16);
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_name("g");
    add_value(*graph.add_input(), "x", onnx::TensorProto::FLOAT);
    add_value(*graph.add_output(), "y", onnx::TensorProto::FLOAT);
    onnx::TensorProto& constant = *graph.add_initializer();
    constant.set_name("w");
    constant.set_data_type(onnx::TensorProto::FLOAT);
    constant.add_dims(2);
    for (const float value : {1.0f, 2.0f}) constant.add_float_data(value);
    onnx::NodeProto& neg = *graph.add_node();
    neg.set_op_type("Neg");
    neg.add_input("w");
    neg.add_output("n");
    onnx::NodeProto& sum = *graph.add_node();
    sum.set_op_type("Add");
    sum.add_input("x");
    sum.add_input("n");
    sum.add_output("y");
    write_file(file, model.SerializeAsString());

    const Tensor x = Tensor::of<float>({3, 4});
    const auto read = [&](bool fold) {
        LoadedModel loaded = load_onnx_with_breaks(file, {.fold = fold});
        LoadedFrame frame{.file = file, .graph = std::move(loaded.graph), .inputs = {x}, .folded = loaded.folded};
        frame.onnx = OnnxFile{.model = file, .inputs = {{"x"}}, .outputs = {{"y"}}, .values = {x}};
        return frame;
    };
    const std::string refuses =
        "cmd:sh -c 'grep -aq Neg \"$0/model.onnx\" || exit 125; echo error: no Neg of constants >&2; exit 1'";
    reduce::Request search{.judge = Suspect{.spec = refuses}, .output = folder.path() / "out.json"};
    REQUIRE_FALSE(read(true).folded.empty());
    CHECK_FALSE(reduce::minimize(read(true), search, {}).failed());  // nobody can read the file once more
    search.unfolded = [&] { return read(false); };
    const reduce::Minimized found = reduce::minimize(read(true), search, {});
    REQUIRE(found.failed());
    REQUIRE(found.smallest.graph.calls().size() == 1);
    CHECK(found.smallest.graph.node({found.smallest.graph.calls()[0]}).target == "onnx.Neg");
}
