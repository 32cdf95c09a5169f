#include "trace/load.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/table.h"

using namespace whittle;
using Catch::Contains;

namespace {

std::string message_of(const Graph& graph) {
    try {
        check_calls(graph, "g.json");
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

Node& call_of(Graph& graph, const RegisteredOp& op) {
    return *std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.target == op.name; });
}

}  // namespace

TEST_CASE("for every op, what is inferred is accepted and anything else refused", "[run]") {
    std::size_t samples = 0;
    for (const RegisteredOp& op : Registry::instance().all()) {
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            for (const Sample& sample : samples_of(op, dtype)) {
                INFO(op.name << " " << sample.label << " " << name(dtype));
                Graph graph = graph_of(op, sample);
                CHECK(message_of(graph) == "");
                Node& call = call_of(graph, op);
                const std::vector<ValueMeta> inferred = call.results;
                if (inferred.empty()) continue;
                call.results.back().sizes.push_back(7);
                CHECK_THAT(message_of(graph), Contains("g.json") && Contains("%" + call.name) &&
                                                  Contains("found " + print(call.results.back())) &&
                                                  Contains("expected " + print(inferred.back())));
                call.results = inferred;
                call.results.back().dtype = inferred.back().dtype == DType::f16 ? DType::f32 : DType::f16;
                CHECK_THAT(message_of(graph), Contains("expected " + print(inferred.back())));
                call.results = inferred;
                call.results.push_back(inferred.back());
                CHECK_THAT(message_of(graph), Contains("results, expected " + std::to_string(inferred.size())));
                ++samples;
            }
            break;  // one dtype of each op will do
        }
    }
    CHECK(samples > 1000);
}

TEST_CASE("what a file states of ops that no registry has is believed", "[run]") {
    const Graph unknown = parse(
        "graph g {\n %x = placeholder[\"x\"] : f32[2]\n %y = mine.op(%x) : f32[3]\n"
        " %z = aten.neg.default(%y) : f32[3]\n return (%z)\n}");
    CHECK(message_of(unknown) == "");
}

TEST_CASE("nested graphs are checked too", "[run]") {
    Graph nested = parse(
        "graph inner {\n %x = placeholder[\"x\"] : f32[2]\n %y = aten.neg.default(%x) : f32[3]\n"
        " return (%y)\n}");
    Graph graph = parse("graph outer {\n %x = placeholder[\"x\"] : f32[2]\n return (%x)\n}");
    graph.subgraphs["body"] = std::make_shared<const Graph>(nested);
    CHECK_THAT(message_of(graph), Contains("graph inner, node %y"));
}

TEST_CASE("a checked file is read like any other, with what it states held against its ops", "[run]") {
    const TempDir folder("whittle-test");
    Graph graph = parse(
        "graph g {\n %x = placeholder[\"x\"] : f32[2]\n %y = aten.neg.default(%x) : f32[2]\n"
        " return (%y)\n}");
    save_graph(graph, folder.path() / "good.json");
    CHECK(same_structure(load_checked_graph(folder.path() / "good.json"), graph));
    Record record{.name = "r", .inputs = {Tensor::of<float>({1, 2})}, .expected = {Tensor::of<float>({-1, -2})}};
    CHECK(load_checked_record(save_record(folder.path(), graph, record)).record.name == "r");
    graph.nodes[1].results[0] = ValueMeta::contiguous(DType::f32, {3});
    const auto file = save_record(folder.path(), graph, record);
    CHECK_THROWS_WITH(load_checked_record(file),
                      Contains(file.string()) && Contains("found f32[3] as the result, expected f32[2]"));
}

namespace {

/// As it is read back from a file.
Graph read_back(const std::string& text) {
    const TempDir folder("whittle-test");
    save_graph(parse(text), folder.path() / "g.json");
    return load_checked_graph(folder.path() / "g.json");
}

}  // namespace

TEST_CASE("what a file's graph writes of what it is given is a further output", "[run]") {
    const Graph writing = read_back(R"(graph g {
        %x = placeholder["x"] : f32[2]
        %y = aten.neg_.default(%x) : f32[2]
        %z = aten.add.Tensor(%x, %y) : f32[2]
        return (%z)
    })");
    REQUIRE(writing.outputs().size() == 2);
    const Tensor x = Tensor::of(std::vector<float>{1, -2}, {2});
    const std::vector<Tensor> values = evaluate(writing, std::vector{x});
    CHECK(values[0].values<float>() == std::vector<float>{-2, 4});
    CHECK(values[1].values<float>() == std::vector<float>{-1, 2});
    CHECK(x.values<float>() == std::vector<float>{1, -2});

    const std::string computed = R"(graph g {
  %x = placeholder["x"] : f32[2]
  %y = aten.neg.default(%x) : f32[2]
  %z = aten.neg_.default(%y) : f32[2]
  return (%y)
}
)";
    CHECK(print(read_back(computed)) == computed);
}

TEST_CASE("batch norm's running statistics are written by a file's graph", "[run]") {
    const Graph graph = read_back(R"(graph g {
        %x = placeholder["x"] : f32[2,1]
        %mean = placeholder["mean"] : f32[1]
        %var = placeholder["var"] : f32[1]
        %norm = aten.native_batch_norm.default(%x, none, none, %mean, %var, true, 0.5, 0.0) : (f32[2,1], f32[1], f32[1])
        %y = getitem(%norm, 0) : f32[2,1]
        return (%y)
    })");
    const auto f32 = [](const std::vector<float>& values, const Sizes& sizes) { return Tensor::of(values, sizes); };
    const std::vector<Tensor> values = evaluate(graph, std::vector{f32({1, 3}, {2, 1}), f32({0}, {1}), f32({4}, {1})});
    REQUIRE(values.size() == 3);
    CHECK(values[0].values<float>() == std::vector<float>{-1, 1});
    CHECK(values[1].values<float>() == std::vector<float>{1});  // half way to the mean, 2
    CHECK(values[2].values<float>() == std::vector<float>{3});  // and to the unbiased variance, 2
}

TEST_CASE("what is written without gradients ends them, what is written with them does not", "[run]") {
    const Graph graph = read_back(R"(graph g {
        %x = placeholder["x"] : f32[2] grad
        %ema = placeholder["ema"] : f32[2]
        %y = aten.neg.default(%x) : f32[2] grad
        %z = aten.relu_.default(%y) : f32[2] grad
        %e = aten.add_.Tensor(%ema, %x) : f32[2]
        return (%z)
    })");
    const std::vector<NodeId> outputs = graph.outputs();
    REQUIRE(outputs.size() == 2);
    CHECK(graph.node({outputs[0]}).meta().requires_grad);
    CHECK_FALSE(graph.node({outputs[1]}).meta().requires_grad);
}

TEST_CASE("a record of a graph that writes expects what the reference says it writes", "[run]") {
    const TempDir folder("whittle-test");
    const Graph graph = parse(R"(graph g {
        %x = placeholder["x"] : f32[2]
        %y = aten.neg_.default(%x) : f32[2]
        %z = aten.relu.default(%y) : f32[2]
        return (%z)
    })");
    const Tensor x = Tensor::of(std::vector<float>{1, -2}, {2}), z = Tensor::of(std::vector<float>{0, 2}, {2});
    Record record;
    record.inputs = {x};
    record.expected = {z};
    const std::filesystem::path file = save_record(folder.path(), graph, record);
    const LoadedRecord loaded = load_checked_record(file);
    REQUIRE(loaded.record.expected.size() == 2);
    CHECK(loaded.record.expected[0].values<float>() == std::vector<float>{0, 2});
    CHECK(loaded.record.expected[1].values<float>() == std::vector<float>{-1, 2});
}
