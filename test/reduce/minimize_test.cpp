#include "reduce/minimize.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <iterator>
#include <set>
#include <sstream>

#include "base/files.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/save.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "planted_backend.h"
#include "reduce/ladder.h"
#include "reduce/save.h"
#include "tensor/random.h"

using namespace whittle;
using namespace whittle::reduce;

namespace {

/// A ladder of n steps: %a0 = abs(x), %b0 = neg(%a0), %a1 = abs(%b0) …, with one tanh in the middle.
Graph ladder_of(int steps) {
    std::string text = "graph ladder {\n  %x = placeholder[\"x\"] : f32[4]\n";
    std::string last = "x";
    const auto add = [&](const std::string& name, const std::string& op) {
        text += "  %" + name + " = aten." + op + ".default(%" + last + ") : f32[4]\n";
        last = name;
    };
    for (int i = 0; i < steps; i++) {
        add("a" + std::to_string(i), "abs");
        if (i == steps / 2) add("t", "tanh");
        add("b" + std::to_string(i), "neg");
    }
    return parse(text + "  return (%" + last + ")\n}\n");
}

std::vector<std::string> targets(const Graph& graph) {
    std::vector<std::string> result;
    for (NodeId id : graph.calls()) result.push_back(graph.nodes[static_cast<std::size_t>(id)].target);
    return result;
}

Tensor plus_one(const Tensor& value) {
    std::vector<float> values = value.values<float>();
    for (float& v : values) v += 1;
    return Tensor::of(values, value.sizes());
}

Minimized minimize_planted(const Graph& graph, PlantedBackend& backend, bool accuracy, const Goal& goal = {}) {
    const auto oracle = backend_oracle(backend, {.spec = "planted", .tier = accuracy ? Tier::computes : Tier::ends});
    return minimize(graph, kInput, *oracle, {}, goal);
}

}  // namespace

TEST_CASE("a wrong op is found, with the values it had in the whole", "[minimize]") {
    PlantedBackend backend;
    backend.on_result = [](const Node& node, Tensor value) {
        return node.target == "aten.tanh.default" ? plus_one(value) : value;
    };
    const Minimized result = minimize_planted(ladder_of(20), backend, true);
    REQUIRE(result.ending == Minimized::Ending::minimized);
    CHECK(targets(result.smallest.graph) == std::vector<std::string>{"aten.tanh.default"});
    CHECK(result.search.one_minimal);
    CHECK(result.signature.kind == "mismatch");
    REQUIRE(result.smallest.graph.failure);
    CHECK(result.smallest.graph.failure->backend == "planted");
    REQUIRE(result.smallest.graph.failure->inputs.size() == 1);
    // The absolute value: the input recorded in the whole run, not the model's.
    CHECK_FALSE(same_bits(result.smallest.graph.failure->inputs[0], kInput[0]));
    CHECK(evaluate(result.smallest.graph, result.smallest.graph.failure->inputs).size() == 1);
}

TEST_CASE("a crash in the compiler is found and harms nobody", "[minimize]") {
    PlantedBackend backend;
    backend.on_compile = [](const Graph& graph) {
        const std::vector<std::string> all = targets(graph);
        for (std::size_t i = 0; i + 1 < all.size(); i++)
            if (all[i] == "aten.abs.default" && all[i + 1] == "aten.tanh.default") {
                std::signal(SIGSEGV, SIG_DFL);
                std::raise(SIGSEGV);
            }
    };
    const Minimized result = minimize_planted(ladder_of(12), backend, false);
    CHECK(targets(result.smallest.graph) == std::vector<std::string>{"aten.abs.default", "aten.tanh.default"});
    CHECK(result.signature.detail == "SIGSEGV");
}

TEST_CASE("another failure is kept apart and not followed", "[minimize]") {
    PlantedBackend backend;
    backend.on_compile = [](const Graph& graph) {
        const std::vector<std::string> all = targets(graph);
        if (std::count(all.begin(), all.end(), "aten.tanh.default") == 0) throw std::runtime_error("tanh is missed");
        if (all.size() > 1) throw std::runtime_error("too long");
    };
    const Minimized result = minimize_planted(ladder_of(8), backend, false);
    CHECK(result.smallest.graph.calls().size() == 2);
    CHECK(result.message == "too long");
    REQUIRE(result.drifted.size() == 1);  // one find per signature
    const Graph& find = result.drifted[0].graph;
    REQUIRE(find.failure);
    CHECK(find.failure->message == "tanh is missed");
    CHECK(find.failure->signature.detail.find("tanh is missed") != std::string::npos);
    CHECK(find.failure->inputs.size() == find.placeholders().size());
    const std::vector<std::string> left = targets(find);
    CHECK(std::count(left.begin(), left.end(), "aten.tanh.default") == 0);
    CHECK(left.size() < 8);
}

TEST_CASE("a model that does not fail, or not always, is not minimized", "[minimize]") {
    PlantedBackend backend;
    CHECK(minimize_planted(ladder_of(3), backend, true).ending == Minimized::Ending::not_failing);
    const TempDir folder;
    const auto flag = folder.path() / "seen";
    backend.on_compile = [&](const Graph&) {
        if (std::filesystem::exists(flag)) return;
        write_file(flag, "");
        throw std::runtime_error("once only");
    };
    CHECK(minimize_planted(ladder_of(3), backend, true).ending == Minimized::Ending::flaky);
}

TEST_CASE("a model that has failed is run more often where it passes at first", "[minimize]") {
    PlantedBackend backend;
    const TempDir folder;
    const auto passed = folder.path() / "passed";  // a byte for each of the first runs, which pass
    backend.on_compile = [&](const Graph& graph) {
        const std::string runs = std::filesystem::exists(passed) ? read_file(passed) : "";
        if (runs.size() < 3) return write_file(passed, runs + '.');
        const std::vector<std::string> all = targets(graph);
        if (std::ranges::count(all, "aten.tanh.default") > 0) throw std::runtime_error("no tanh");
    };
    CHECK(minimize_planted(ladder_of(3), backend, true).ending == Minimized::Ending::not_failing);
    write_file(passed, "");
    const Minimized result = minimize_planted(ladder_of(3), backend, true, {.has_failed = true});
    REQUIRE(result.ending == Minimized::Ending::minimized);
    CHECK(targets(result.smallest.graph) == std::vector<std::string>{"aten.tanh.default"});
    CHECK(result.flaky.failures < result.flaky.runs);
}

TEST_CASE("what fails by an input that nothing reads is kept as it is", "[minimize]") {
    PlantedBackend backend;
    backend.on_compile = [&](const Graph& graph) {
        if (graph.placeholders().size() > 1) throw std::runtime_error("two inputs");
    };
    const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[4]\n  %idle = placeholder[\"idle\"] : f32[4]\n"
        "  %y = aten.neg.default(%x) : f32[4]\n  return (%y)\n}\n");
    const auto oracle = backend_oracle(backend, {.spec = "planted", .tier = Tier::ends});
    const Minimized found = minimize(graph, std::vector<Tensor>{kInput[0], kInput[0]}, *oracle);
    REQUIRE(found.ending == Minimized::Ending::minimized);
    CHECK(found.signature.detail == "two inputs");
    CHECK(found.smallest.graph.placeholders().size() == 2);
    CHECK(found.smallest.graph.failure->inputs.size() == 2);
    CHECK(found.confirmed);
}

TEST_CASE("wrong results count only when asked", "[minimize]") {
    PlantedBackend backend;
    backend.on_result = [](const Node&, Tensor value) { return plus_one(value); };
    CHECK(minimize_planted(ladder_of(3), backend, false).ending == Minimized::Ending::not_failing);
    CHECK(minimize_planted(ladder_of(3), backend, true).ending == Minimized::Ending::minimized);
}

TEST_CASE("candidates that are given to a command share the files of their weights", "[minimize]") {
    const std::string type = "f32[" + std::to_string(SharedWeights::kLeast / sizeof(float)) + "]";
    Graph graph =
        parse("graph g opset(\"\": 13) {\n  %x = placeholder[\"x\"] : " + type + "\n  %w = get_attr[\"w\"] : " + type +
              "\n  %a = onnx.Relu(%x) : " + type + "\n  %b = onnx.Mul(%a, %w) : " + type +
              "\n  %y = onnx.Neg(%b) : " + type + "\n  return (%y)\n}\n");
    const Tensor w(DType::f32, graph.nodes.at(1).meta().sizes);
    graph.attributes["w"] = w;
    const TempDir folder;
    const auto seen = folder.path() / "seen";
    CommandOracleOptions options;
    // What was seen is kept: a file that is gone would leave its number to the next one.
    options.command = {"sh", "-c",
                       "cd \"$WHITTLE_QUERY_DIR\" && stat -c %i weights-*.bin >> " + seen.string() +
                           " && ln weights-*.bin " + seen.string() + ".$$"};
    options.extension = ".onnx";
    options.external_data = "yes";
    const auto observe = [&](const std::filesystem::path& file) {
        const auto oracle = command_oracle(options);
        Case candidate{graph, {w}, {w}};
        if (!file.empty()) candidate.file = std::make_shared<OnnxFile>(OnnxFile{.model = file});
        for (int i = 0; i < 3; ++i) CHECK(oracle->observe(candidate).failed);
        std::istringstream lines(read_file(seen));
        std::filesystem::remove(seen);
        return std::vector<std::string>(std::istream_iterator<std::string>(lines), {});
    };
    SharedWeights beside(folder.path());
    save_onnx(graph, folder.path() / "model.onnx", &beside);
    // Graphs, and a file that was given, byte by byte.
    for (const std::filesystem::path& file : {std::filesystem::path(), folder.path() / "model.onnx"}) {
        const std::vector<std::string> inodes = observe(file);
        CHECK(inodes.size() == 3);
        CHECK(std::set(inodes.begin(), inodes.end()).size() == 1);
    }
    options.external_data = "no";
    options.polarity = "test-must-fail";  // there are none
    CHECK(observe({}).empty());
}

TEST_CASE("a result that is too large for a model has its weights beside it, and no others", "[minimize]") {
    const std::string type = "f32[" + std::to_string(SharedWeights::kLeast / sizeof(float)) + "]";
    const auto product = [&](const std::vector<float>& factors) {
        Graph graph = parse("graph g opset(\"\": 13) {\n  %x = placeholder[\"x\"] : " + type +
                            "\n  %w = get_attr[\"w\"] : " + type + "\n  %y = onnx.Mul(%x, %w) : " + type +
                            "\n  return (%y)\n}\n");
        graph.attributes["w"] = Tensor::of(factors, graph.nodes.at(1).meta().sizes);
        graph.failure.emplace().inputs = {Tensor(DType::f32, graph.nodes.at(0).meta().sizes)};
        return graph;
    };
    const std::vector<float> ones(SharedWeights::kLeast / sizeof(float), 1), twos(ones.size(), 2);
    const TempDir folder;
    const auto files = [&] {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
            if (entry.path().extension() == ".bin") names.insert(entry.path().filename());
        return names;
    };
    save_minimized({product(ones)}, folder.path() / "m.onnx", 1);
    const std::set<std::string> of_ones = files();
    CHECK(of_ones.size() == 1);
    CHECK(load_onnx(folder.path() / "m.onnx").attributes.at("w").values<float>() == ones);
    save_minimized({product(ones)}, folder.path() / "other.onnx", 1);
    save_minimized({product(twos)}, folder.path() / "m.onnx", 1);
    CHECK(files().size() == 2);  // the other model needs them
    CHECK(load_onnx(folder.path() / "m.onnx").attributes.at("w").values<float>() == twos);
    save_minimized({product(ones)}, folder.path() / "m.onnx", 1);
    CHECK(files() == of_ones);
    save_minimized({product(ones)}, folder.path() / "m.onnx");
    save_minimized({product(ones)}, folder.path() / "other.onnx");
    CHECK(files().empty());
}

TEST_CASE("a command judges candidates by its exit status", "[minimize]") {
    const TempDir folder;
    const auto script = folder.path() / "oracle.sh";
    const auto minimized = [&](const std::string& body, const std::string& polarity) {
        write_file(script, "#!/bin/sh\n" + body + "\n");
        std::filesystem::permissions(script, std::filesystem::perms::owner_all);
        CommandOracleOptions options;
        options.command = {script.string(), "{}"};
        options.polarity = polarity;
        const auto oracle = command_oracle(options);
        return minimize(ladder_of(10), kInput, *oracle);
    };
    const std::vector<std::string> tanh = {"aten.tanh.default"};
    CHECK(targets(minimized("grep -q tanh \"$1\"", "test").smallest.graph) == tanh);
    CHECK(targets(minimized("! grep -q tanh \"$1\"", "test-must-fail").smallest.graph) == tanh);
    CHECK(targets(minimized("! grep -q tanh \"$1\"", "check").smallest.graph) == tanh);
    // The inputs lie beside the candidate; 125 says nothing about a candidate.
    CHECK(
        targets(
            minimized(
                "test -s \"$WHITTLE_QUERY_DIR/inputs.safetensors\" || exit 3; grep -q tanh \"$1\" || exit 125; exit 1",
                "check")
                .smallest.graph) == tanh);
    CHECK(minimized("exit 1", "test").ending == Minimized::Ending::not_failing);
    for (const char* const polarity : {"test", "test-must-fail", "check"}) {
        CHECK_THROWS_WITH(minimized("exit 127", polarity), Catch::Contains("127 (command not found)"));
        CHECK_THROWS_WITH(minimized("exit 126", polarity), Catch::Contains("126 (command not executable)"));
    }
    const Minimized declined = minimized("echo cannot say; exit 125", "test");
    CHECK(declined.ending == Minimized::Ending::unsupported);
    CHECK(declined.message == "cannot say");
    CHECK(name(declined.ending) == "unsupported");
}

TEST_CASE("calls of unknown ops are gone around, and what they give is made up", "[minimize]") {
    const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[4]\n  %a = aten.abs.default(%x) : f32[4]\n"
        "  %u = my.split(%a, 2) : (f32[2], f32[2])\n  %u_1 = getitem(%u, 1) : f32[2]\n"
        "  %t = aten.tanh.default(%u_1) : f32[2]\n  return (%t)\n}\n");
    PlantedBackend backend;
    std::string wanted;
    backend.on_compile = [&](const Graph& candidate) {
        const std::vector<std::string> all = targets(candidate);
        if (std::count(all.begin(), all.end(), wanted)) throw std::runtime_error("not that");
    };
    const auto oracle = backend_oracle(backend, {.spec = "planted", .tier = Tier::ends});
    wanted = "my.split";
    const Minimized split = minimize(graph, kInput, *oracle);
    REQUIRE(split.ending == Minimized::Ending::minimized);
    CHECK(targets(split.smallest.graph) ==
          std::vector<std::string>{"my.split", "getitem"});  // of its results, what was read
    CHECK(split.smallest.graph.find("a")->meta().sizes == Sizes{4});
    wanted = "aten.tanh.default";
    const Minimized behind = minimize(graph, kInput, *oracle);
    CHECK(targets(behind.smallest.graph) == std::vector<std::string>{wanted});
    CHECK(behind.smallest.graph.failure->inputs.size() == 1);
}

TEST_CASE("a candidate that rounding may explain has no answer where the original fails beyond rounding",
          "[minimize]") {
    const Graph graph = parse(
        "graph sum {\n  %x = placeholder[\"x\"] : f32[1000]\n  %s = aten.sum.default(%x) : f32[]\n"
        "  return (%s)\n}\n");
    std::vector<float> alternating(1000, 1);
    for (std::size_t i = 1; i < alternating.size(); i += 2) alternating[i] = -1;
    const std::vector<Tensor> inputs = {Tensor::of(alternating, {1000})};
    const Case candidate{graph, inputs, evaluate(graph, inputs)};
    double error = 0.01;  // inside the interval, which is too wide to decide
    PlantedBackend backend;
    backend.on_result = [&](const Node&, const Tensor& value) {
        return Tensor::of(Scalar(value.item().to_double() + error), DType::f32);
    };
    const Suspect suspect{.spec = "planted", .tier = Tier::computes};
    Suspect beyond = suspect;
    beyond.beyond_rounding = true;
    CHECK(backend_oracle(backend, suspect)->observe(candidate).failed);
    const Observation seen = backend_oracle(backend, beyond)->observe(candidate);
    CHECK(seen.unresolved);
    CHECK_FALSE(seen.failed);
    error = 5;
    CHECK(backend_oracle(backend, beyond)->observe(candidate).failed);
}
