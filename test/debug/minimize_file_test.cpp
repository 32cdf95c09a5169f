// A file whose failure is not one of the graph that Whittle makes of it is minimized node by node.
#include "debug/minimize_file.h"

#include <onnx/defs/parser.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"

using namespace whittle;
namespace fs = std::filesystem;

namespace {

struct Model {
    explicit Model(const std::string& graph) {
        onnx::ModelProto model;
        const auto text = "<ir_version: 8, opset_import: [\"\" : 16]> " + graph;
        REQUIRE(onnx::OnnxParser::Parse(model, text.c_str()).IsOK());
        write_file(folder.path() / "model.onnx", model.SerializeAsString());
    }
    /// Judged by whether the file holds both words.
    debug::Search search(const std::string& one, const std::string& other) const {
        reduce::CommandOracleOptions command;
        command.polarity = reduce::CommandOracleOptions::Polarity::check;
        command.extension = ".onnx";
        command.command = {"sh", "-c", "! { grep -aq " + one + " \"$0\" && grep -aq " + other + " \"$0\"; }", "{}"};
        return {.judge = command, .output = folder.path() / "out.onnx"};
    }
    LoadedFrame frame() const { return {.file = folder.path() / "model.onnx", .unread = "the input s holds strings"}; }
    TempDir folder;
};

const char* const kStrings =
    "g (string[2] s, float[2] x) => (string[N] u, float[2] y) {"
    "  a = Relu(x)  b = Neg(a)  t = StringNormalizer(s)  u = Identity(t)  c = Abs(b)  y = Tanh(c) }";

}  // namespace

TEST_CASE("a file with strings is minimized to the nodes that a command needs", "[file]") {
    const Model model(kStrings);
    const debug::Minimized found = debug::minimize(model.frame(), model.search("StringNormalizer", "Abs"), {});
    REQUIRE(found.failed());
    CHECK(found.nodes == std::vector<std::string>{"t = StringNormalizer(s)", "c = Abs(b)"});
    CHECK(found.result.search.one_minimal);
    CHECK(found.result.confirmed);
    CHECK(fs::exists(found.written.output));
}

TEST_CASE("a file that does not fail is not minimized", "[file]") {
    const Model model(kStrings);
    const debug::Minimized found = debug::minimize(model.frame(), model.search("Gelu", "Abs"), {});
    CHECK_FALSE(found.failed());
    CHECK_FALSE(fs::exists(model.folder.path() / "out.onnx"));
}
