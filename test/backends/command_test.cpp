#include "backends/command/command.h"
#include "backends/command/repro_code.h"

#include <catch2/catch.hpp>
#include <iterator>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/weights.h"
#include "graph/text.h"
#include "run_on.h"
#include "tensor/compare.h"
#include "tensor/safetensors.h"

using namespace whittle;

namespace {

const Graph kGraph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %y = placeholder["y"] : f32[2]
  %z = aten.add.Tensor(%x, %y) : f32[2]
  return (%z, %x)
})");

const std::vector<Tensor> kAddends = {Tensor::of({1.f, 2.f}), Tensor::of({3.f, 4.f})};

/// A shell script as the command: $1 is the folder.
std::unique_ptr<Backend> script(const std::string& text) {
    return make_command_backend(shell_quote({"/bin/sh", "-c", text, "script"}));
}

RunResult run_script(const std::string& text, const BackendOptions& options = {}) {
    return test::run_on(*script(text), kGraph, kAddends, options);
}

BackendFailure failure_of_script(const std::string& text, const BackendOptions& options = {}) {
    return std::get<BackendFailure>(run_script(text, options));
}

/// Outputs for a script to copy into its folder.
class PreparedOutputs {
  public:
    explicit PreparedOutputs(const std::map<std::string, Tensor>& outputs) { save_safetensors(file(), outputs); }
    std::string copy() const { return "cp " + shell_quote({file().string()}) + " \"$1/outputs.safetensors\""; }

  private:
    std::filesystem::path file() const { return folder_.path() / "prepared.safetensors"; }
    TempDir folder_;
};

}  // namespace

TEST_CASE("a repro takes along what a script of the command names of its folder, and what that names") {
    const TempDir folder;
    const auto write = [&](const char* name, const std::string& text) { write_file(folder.path() / name, text); };
    write("compiler.py", "import helper, os\nfrom tables import rows\nsecret = 1\n");
    write("helper.py", "open('weights.txt')\n");
    for (const char* name : {"tables.py", "weights.txt", "secret.py", "other.txt"}) write(name, "");
    std::vector<std::string> names;
    for (const std::filesystem::path& file : files_named_by(folder.path() / "compiler.py"))
        names.push_back(file.filename().string());
    CHECK(names == std::vector<std::string>{"helper.py", "tables.py", "weights.txt"});
}

TEST_CASE("a command finds graph and inputs, and its outputs come back") {
    TempDir seen;
    const PreparedOutputs outputs({{"0", Tensor::of({4.f, 6.f})}, {"1", Tensor::of({1.f, 2.f})}});
    const Values values = std::get<Values>(run_script("cp \"$1\"/* " + seen.path().string() + " && " + outputs.copy()));
    REQUIRE(values.size() == 2);
    CHECK(values[0].values<float>() == std::vector<float>{4, 6});
    CHECK(values[1].values<float>() == std::vector<float>{1, 2});
    CHECK(read_file(seen.path() / "graph.json").find("aten.add.Tensor") != std::string::npos);
    const auto inputs = load_safetensors(seen.path() / "inputs.safetensors");
    REQUIRE(inputs.size() == 2);
    CHECK(same_bits(inputs.at("0"), kAddends[0]));
    CHECK(same_bits(inputs.at("1"), kAddends[1]));
}

TEST_CASE("a graph in the onnx dialect is handed over as ONNX") {
    const Graph graph = parse(R"(graph g opset("": 13) {
  %x = placeholder["in.1"] : f32[2]
  %y = onnx.Relu(%x) : f32[2]
  return (%y)
})");
    TempDir seen;
    const std::string keep = "cp \"$1\"/* " + seen.path().string() + "; exit 125";
    for (const char* format : {"auto", "json", "onnx"}) {
        CompileResult compiled = script(keep)->compile(graph, {{"format", format}});
        const RunResult result = std::get<std::unique_ptr<Executable>>(compiled)->run(std::span(kAddends).first(1));
        CHECK(std::get<BackendFailure>(result).unsupported);
        const bool onnx = std::string(format) != "json";
        CHECK(std::filesystem::exists(seen.path() / "model.onnx") == onnx);
        CHECK(std::filesystem::exists(seen.path() / "graph.json") == !onnx);
        if (onnx) {
            LoadOptions options;
            options.keep_unknown = true;  // the file matters here, not the op
            const Graph loaded = load_onnx_with_breaks(seen.path() / "model.onnx", options).graph;
            CHECK(loaded.node({loaded.placeholders().at(0)}).target == "in.1");
            CHECK(loaded.calls().size() == 1);
        }
        for (const auto& entry : std::filesystem::directory_iterator(seen.path())) std::filesystem::remove(entry);
    }
    // What ONNX cannot spell is no bug of the command's.
    const BackendFailure failure = failure_of_script("true", {{"format", "onnx"}});
    CHECK(failure.stage == "compile");
    CHECK(failure.unsupported);
}

TEST_CASE("{} stands for the folder anywhere in the line") {
    const PreparedOutputs outputs({{"0", Tensor::of({4.f})}, {"1", Tensor::of({1.f})}});
    const std::unique_ptr<Backend> backend = make_command_backend(shell_quote(
        {"/bin/sh", "-c", "test $# = 2 && set -- \"${1#--in=}\" \"$2\" && test \"$1\" = \"$2\" && " + outputs.copy(),
         "script", "--in={}", "{}"}));
    CompileResult compiled = backend->compile(kGraph, {});
    const RunResult result = std::get<std::unique_ptr<Executable>>(compiled)->run(kAddends);
    CHECK(std::holds_alternative<Values>(result));
}

TEST_CASE("a command that fails is a failure with its last words") {
    BackendFailure failure = failure_of_script("echo first >&2; echo '  the end  ' >&2; exit 3");
    CHECK(failure.stage == "run");
    CHECK(failure.message == "exited with 3:   the end");
    CHECK_FALSE(failure.unsupported);
    CHECK(failure_of_script("exit 1").message == "exited with 1");
    CHECK(failure_of_script("kill -SEGV $$").message == "killed by SIGSEGV");
    failure = failure_of_script("exit 125");
    CHECK(failure.unsupported);
}

TEST_CASE("a command may write down its failure") {
    const BackendFailure failure = failure_of_script(
        R"(echo '{"stage": "compile", "op": "aten.add.Tensor", "message": "no add", "unsupported": true}' > "$1/failure.json"; exit 1)");
    CHECK(failure.stage == "compile");
    CHECK(failure.op == "aten.add.Tensor");
    CHECK(failure.message == "no add");
    CHECK(failure.unsupported);
    CHECK_THAT(failure_of_script("echo '{' > \"$1/failure.json\"; exit 1").message,
               Catch::StartsWith("exited with 1; the command's failure.json cannot be read"));
    CHECK_THAT(failure_of_script("echo '[]' > \"$1/failure.json\"; exit 1").message, Catch::Contains("cannot be read"));
    CHECK(failure_of_script("echo '{\"message\": 3, \"stage\": \"x\"}' > \"$1/failure.json\"; exit 1").stage == "run");
}

TEST_CASE("missing, malformed and surplus outputs are failures") {
    CHECK(failure_of_script("true").message == "succeeded but wrote no outputs.safetensors");
    CHECK_THAT(failure_of_script("echo garbage > \"$1/outputs.safetensors\"").message,
               Catch::StartsWith("wrote a bad outputs.safetensors: byte 0: "));
    const Tensor tensor = Tensor::of({1.f});
    CHECK_THAT(failure_of_script(PreparedOutputs({{"0", tensor}, {"z", tensor}}).copy()).message,
               Catch::Contains("found no tensor '1', expected the tensors '0' to '1'"));
    CHECK_THAT(failure_of_script(PreparedOutputs({{"0", tensor}, {"1", tensor}, {"2", tensor}}).copy()).message,
               Catch::Contains("found 3 tensors, expected 2"));
}

TEST_CASE("outputs of an earlier run do not count for a later one") {
    const PreparedOutputs outputs({{"0", Tensor::of({4.f})}, {"1", Tensor::of({1.f})}});
    CompileResult compiled =
        script("test -e \"$1/again\" && exit 0; : > \"$1/again\"; " + outputs.copy())->compile(kGraph, {});
    Executable& executable = *std::get<std::unique_ptr<Executable>>(compiled);
    CHECK(std::holds_alternative<Values>(executable.run(kAddends)));
    CHECK(std::holds_alternative<BackendFailure>(executable.run(kAddends)));
}

TEST_CASE("a command that does not exist is an error, one that takes too long a failure") {
    CHECK_THROWS_WITH(make_command_backend("/no/such/compiler --fast"),
                      Catch::Contains("found no program '/no/such/compiler'"));
    CHECK(failure_of_script("sleep 1000", {{"timeout", "0.05"}}).message == "no result after 50 ms");
}

TEST_CASE("queries of one command, each in a process of its own, share the files of weights") {
    const std::int64_t elements = static_cast<std::int64_t>(SharedWeights::kLeast / sizeof(float));
    const std::string type = "f32[" + std::to_string(elements) + "]";
    const auto weighted = [&](const std::string& opset, const std::string& op) {
        Graph graph =
            parse("graph g" + opset + " {\n  %x = placeholder[\"x\"] : " + type + "\n  %w = get_attr[\"w\"] : " + type +
                  "\n  %y = " + op + "(%x, %w) : " + type + "\n  return (%y)\n}\n");
        graph.attributes["w"] = Tensor(DType::f32, {elements});
        return graph;
    };
    // What stat says of some files of a query's folder.
    const auto seen_by_two = [](const Graph& graph, const std::string& format, const std::string& files,
                                const BackendOptions& options) {
        const TempDir seen;
        // What was seen is kept: a file that is gone would leave its number to the next one.
        const std::string said = (seen.path() / "said").string();
        const auto backend = script("cd \"$1\" && stat -c " + format + " " + files + " >> " + said + " && ln " + files +
                                    " " + said + ".$$; exit 125");
        const Tensor x(DType::f32, graph.node({graph.placeholders().at(0)}).meta().sizes);
        for (int query = 0; query < 2; ++query)
            run_forked([&] {
                CompileResult compiled = backend->compile(graph, options);
                std::get<std::unique_ptr<Executable>>(compiled)->run(std::vector{x});
                return 0;
            });
        std::istringstream lines(read_file(said));
        return std::vector<std::string>(std::istream_iterator<std::string>(lines), {});
    };
    const Graph aten = weighted("", "aten.mul.Tensor"), onnx = weighted(" opset(\"\": 13)", "onnx.Mul");
    for (const std::vector<std::string>& inodes :
         {seen_by_two(aten, "%i", "graph.safetensors", {}),
          seen_by_two(onnx, "%i", "weights-*.bin", {{"external_data", "yes"}})}) {
        REQUIRE(inodes.size() == 2);
        CHECK(inodes[0] == inodes[1]);
    }
    for (const char* inside : {"auto", "no"}) {
        const std::vector<std::string> sizes = seen_by_two(onnx, "%s", "model.onnx", {{"external_data", inside}});
        REQUIRE(sizes.size() == 2);
        CHECK(std::stoul(sizes[0]) > SharedWeights::kLeast);
    }
}

TEST_CASE("options of a command backend are checked") {
    CHECK_THROWS_WITH(run_script("true", {{"timeout", "soon"}}),
                      Catch::Contains("'soon', expected a number of seconds"));
    CHECK_THROWS_WITH(run_script("true", {{"timeout", "-1"}}), Catch::Contains("'-1'"));
    CHECK_THROWS_WITH(run_script("true", {{"format", "pb"}}), Catch::Contains("expected one of auto, onnx, json"));
}
