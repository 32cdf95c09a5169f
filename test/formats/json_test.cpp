#include "formats/json.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "graph/example.h"
#include "graph/text.h"
#include "json_schema.h"
#include "tensor/random.h"
#include "tensor/safetensors.h"

using namespace whittle;
using Catch::Contains;

namespace {

/// What a minimized graph remembers, with every kind of value.
Failure full_failure(const Graph& graph) {
    Failure failure;
    failure.backend = "halide";
    failure.options = {{"target", "host"}, {"disable", "tile"}};
    failure.command = {"sh", "-c", "grep Relu \"$1\""};
    failure.polarity = "check";
    failure.signature = {"mismatch", "run", "nan_or_inf"};
    failure.message = "found \"nan\"\nexpected 1";
    failure.accuracy = {Accuracy::Mode::fp64, 3, {{DType::f32, {1e-3, 0, 4}}, {DType::u8, {0, 1, 0}}}};
    failure.culprit = Culprit{"schedule", "conv.vectorize(x, 8)", {"conv.compute_root()"}, ""};
    Tensor input(DType::f64, {3, 2});
    for (int i = 0; i < 6; ++i) input.mutable_data<double>()[i] = i - 2.5;
    failure.inputs = {input.as_strided({2, 3}, {1, 2}, 0).with_requires_grad(true)};
    CHECK(failure.inputs[0].sizes() == graph.nodes[0].meta().sizes);
    return failure;
}

Graph failing_graph() {
    Graph graph = full_graph();
    graph.failure = full_failure(graph);
    return graph;
}

/// Saved and loaded again.
Graph round_trip(const Graph& graph) {
    const TempDir folder;
    save_graph(graph, folder.path() / "g.json");
    return load_graph(folder.path() / "g.json");
}

std::string complaint_about(const std::string& json) {
    std::map<std::string, Tensor> tensors;
    graph_to_json(full_graph(), tensors);
    return thrown<Error>([&] { graph_from_json(json, tensors, "g.json"); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

std::string json_of(const Graph& graph) {
    std::map<std::string, Tensor> sidecar;
    return graph_to_json(graph, sidecar);
}

}  // namespace

TEST_CASE("the rate of a failure and the partner of a pass come back; a file without them is read as it was") {
    Graph graph = failing_graph();
    CHECK(json_of(graph).find("\"rate\"") == std::string::npos);
    graph.failure->signature.rate = {12, 40};
    graph.failure->culprit =
        Culprit{.component = "pass", .together = {"pass-limit=a=0", "pass-limit=a=1"}, .op = "a", .partner = "b"};
    const Graph read = round_trip(graph);
    REQUIRE(read.failure);
    CHECK(read.failure->signature.rate == Rate{12, 40});
    CHECK(read.failure->culprit == graph.failure->culprit);
    // What was written before the two were apart.
    std::map<std::string, Tensor> tensors;
    const std::string json = graph_to_json(graph, tensors);
    const std::string old = replaced(replaced(json, R"("op": "a", "partner": "b")", R"("op": "a together with b")"),
                                     R"(, "rate": {"failed": 12, "runs": 40})", "");
    const Graph older = graph_from_json(old, tensors, "g.json");
    CHECK(older.failure->culprit->text() == graph.failure->culprit->text());
    CHECK(older.failure->signature.rate == Rate{});
}

TEST_CASE("the dependents of a culprit come back, in the version that has them") {
    Graph graph = failing_graph();
    graph.failure->culprit = Culprit{.component = "schedule", .directive = "f.compute_root()"};
    CHECK(json_of(graph).find("dependents") == std::string::npos);
    graph.failure->culprit->minimized_only = true;
    CHECK(json_of(graph).find(R"("version": "1.4")") != std::string::npos);
    graph.failure->culprit->dependents = {"f.vectorize(x, 8)", "f.parallel(y)"};
    CHECK(json_of(graph).find(R"("version": "1.5")") != std::string::npos);
    const Graph read = round_trip(graph);
    REQUIRE(read.failure);
    CHECK(read.failure->culprit == graph.failure->culprit);
}

TEST_CASE("a graph comes back with its data, stacks and failure") {
    const Graph graph = failing_graph(), read = round_trip(graph);
    CHECK(same_structure(read, graph));
    CHECK(print(read) == print(graph));
    CHECK(read.find("many")->stack == graph.find("many")->stack);
    for (const auto& [key, tensor] : graph.attributes) {
        INFO(key);
        CHECK(same_bits(read.attributes.at(key), tensor));
        CHECK(read.attributes.at(key).strides() == tensor.strides());
    }
    REQUIRE(read.failure);
    const Failure &was = *graph.failure, &is = *read.failure;
    CHECK(is.backend == was.backend);
    CHECK(is.options == was.options);
    CHECK(is.command == was.command);
    CHECK(is.polarity == was.polarity);
    CHECK(is.signature == was.signature);
    CHECK(is.message == was.message);
    CHECK(is.reference == was.reference);
    CHECK(is.accuracy == was.accuracy);
    CHECK(is.culprit == was.culprit);
    REQUIRE(is.inputs.size() == 1);
    CHECK(same_bits(is.inputs[0], was.inputs[0]));
    CHECK(is.inputs[0].strides() == Strides{1, 2});
    CHECK(is.inputs[0].requires_grad());
}

TEST_CASE("a file says the oldest version that has all of its members") {
    Graph graph = failing_graph();
    CHECK(json_of(graph).find(R"("version": "1.0")") != std::string::npos);
    graph.failure->version = "9.1";
    CHECK(json_of(graph).find(R"("version": "1.2")") != std::string::npos);
    CHECK(round_trip(graph).failure->version == "9.1");
}

TEST_CASE("files are equal for equal graphs and readable by line") {
    const std::string text = json_of(failing_graph());
    CHECK(text == json_of(round_trip(failing_graph())));
    std::map<std::string, Tensor> tensors;
    CHECK(graph_to_json(failing_graph(), tensors) == text);
    CHECK(tensors.size() == 2);
    CHECK(json_of(graph_from_json(text, tensors, "g.json")) == text);
    std::size_t node_lines = 0;
    for (std::size_t at = text.find("\n    {\"kind\": "); at != std::string::npos;
         at = text.find("\n    {\"kind\": ", at + 1))
        ++node_lines;
    CHECK(node_lines == failing_graph().nodes.size());
}

TEST_CASE("what is written satisfies the published schema") {
    const std::string schema = read_file(std::string(WHITTLE_SOURCE_DIR) + "/share/schema/graph.schema.json");
    const JsonSchema validator(nlohmann::json::parse(schema));
    CHECK(validator.check(nlohmann::json::parse(json_of(failing_graph()))) == "");
    CHECK(validator.check(nlohmann::json::parse(json_of(small_graph()))) == "");
    CHECK_THAT(validator.check(nlohmann::json::parse(replaced(json_of(small_graph()), "\"call\"", "\"cal\""))),
               Contains("/nodes/2/kind: breaks enum"));
    CHECK_THAT(validator.check(nlohmann::json::parse(replaced(json_of(small_graph()), "\"name\"", "\"nome\""))),
               Contains("nome"));
}

TEST_CASE("every bit of every dtype survives, inline and in the sidecar") {
    const DType dtype = GENERATE(from_range(std::begin(kAllDTypes), std::end(kAllDTypes)));
    const std::int64_t count = GENERATE(5, 64);
    INFO(name(dtype) << " of " << count);
    Tensor tensor(dtype, {count});
    auto* bytes = static_cast<unsigned char*>(tensor.mutable_raw());
    const std::size_t width = size_of(dtype);
    Random random(static_cast<std::uint64_t>(count));
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) * width; ++i)
        bytes[i] = static_cast<unsigned char>(dtype == DType::boolean ? random.next() & 1 : random.next());
    if (is_floating(dtype)) {  // -0, infinities, quiet NaNs of both signs
        const auto put = [&](std::size_t i, double value) {
            visit_dtype(dtype, [&](auto zero) {
                using T = decltype(zero);
                if constexpr (!std::is_integral_v<T>) tensor.mutable_data<T>()[i] = static_cast<T>(value);
            });
        };
        put(0, -0.0);
        put(1, std::numeric_limits<double>::infinity());
        put(2, std::nan(""));
        put(3, -std::nan(""));
    }
    Graph graph;
    graph.output({graph.get_attr("w", tensor)});
    CHECK(same_bits(round_trip(graph).attributes.at("w"), tensor));
}

TEST_CASE("equal tensors are stored once and small ones not at all") {
    const TempDir folder;
    Graph graph;
    Tensor big(DType::f32, {100});
    const NodeRef a = graph.get_attr("a", big), b = graph.get_attr("b", big.clone());
    const NodeRef c = graph.get_attr("c", Tensor::of<float>({1, 2}));
    graph.output({a, b, c});
    save_graph(graph, folder.path() / "g.json");
    const auto stored = load_safetensors(folder.path() / "g.safetensors");
    REQUIRE(stored.size() == 1);
    CHECK(stored.begin()->first == content_hash(big));

    Graph small = small_graph();
    save_graph(small, folder.path() / "small.json");
    CHECK_FALSE(std::filesystem::exists(folder.path() / "small.safetensors"));
}

TEST_CASE("text that is not UTF-8 survives in arguments and is refused in names") {
    Graph graph = small_graph();
    graph.nodes[2].kwargs[0].second = std::string("\xff\x00\x80", 3);
    CHECK(same_structure(round_trip(graph), graph));
    graph.nodes[2].target = "bad\xff";
    CHECK_THAT(thrown<Error>([&] { json_of(graph); }), Contains("expected a name in UTF-8"));
}

TEST_CASE("versions") {
    const std::string text = json_of(small_graph());
    CHECK(complaint_about(text).empty());
    CHECK_THAT(complaint_about(replaced(text, "\"1.0\"", "\"2.0\"")),
               Contains("g.json: /version: found \"2.0\", expected version 1.x"));
    CHECK_THAT(complaint_about(replaced(text, "\"1.0\"", "\"1\"")),
               Contains("expected a version, for example \"1.5\""));
    CHECK_THAT(complaint_about(replaced(text, "whittle.graph", "whittle.record")),
               Contains("expected \"whittle.graph\""));
    const std::string extended = replaced(text, "\"dialect\"", "\"colour\": 3, \"dialect\"");
    CHECK_THAT(complaint_about(extended), Contains("/colour: found an unknown member, expected one of format"));
    CHECK(complaint_about(replaced(extended, "\"1.0\"", "\"1.7\"")).empty());
}

TEST_CASE("malformed graph files are refused with a pointer") {
    const auto [from, to, message] = GENERATE(table<std::string, std::string, std::string>({
        {"\"nodes\"", "\"knots\"", "/knots: found an unknown member"},
        {"\"name\": \"graph\",", "", "g.json: the top level: found no member \"name\", expected one"},
        {"\"dialect\": \"aten\"", "\"dialect\": 7", "/dialect: found 7, expected a string"},
        {"\"call\"", "\"cal\"", "/nodes/2/kind: found \"cal\", expected placeholder"},
        {"\"add\"", "\"input_1\"", "/nodes/2/name: found \"input_1\", expected a name that no earlier node has"},
        {"{\"node\": \"input_1\"}", "{\"node\": \"later\"}",
         "/nodes/2/args/0/node: found \"later\", expected the name"},
        {"{\"node\": \"input_1\"}", "{\"nod\": \"input_1\"}",
         "/nodes/2/args/0: found an object, expected an object with one member"},
        {"{\"node\": \"input_1\"}", "{}", "/nodes/2/args/0: found an object, expected an object with one member"},
        {"\"sizes\": [2, 3]", "\"sizes\": [2, -3]", "/nodes/0/results/0/sizes: found [2, -3], expected sizes"},
        {"\"sizes\": [2, 3]", "\"sizes\": [2, 3.5]", "/nodes/0/results/0/sizes/1: found 3.5, expected an integer"},
        {"\"sizes\": [2, 3]", "\"sizes\": [18446744073709551615]", "expected an integer that fits in 64 bits"},
        {"\"sizes\": [2, 3]", "\"sizes\": [4294967296, 4294967296]", "expected sizes of a tensor"},
        {"\"dtype\": \"f32\"", "\"dtype\": \"f33\"", "/attributes/layer.weight/dtype: found \"f33\", expected a dtype"},
        {"\"data\": [1.0", "\"data\": [[1.0]",
         "/attributes/layer.weight/data/0: found a list of 1 element, expected a number"},
        {"\"data\": [1.0", "\"data\": [\"big\"", "/attributes/layer.weight/data/0: found \"big\""},
        {"\"data\": [1.0", "\"data\": [1e300", "a number in the range of f32"},
        {"\"data\": [1.0", "\"data\": [1.0, 2.0",
         "/attributes/layer.weight/data: found a list of 4 elements, expected 3 elements"},
        {"\"sizes\": [3]", "\"sizes\": [1125899906842624]", "expected 1125899906842624 elements"},
        {"\"data\": [1.0, 2.0, 3.0]", "\"hash\": \"00\"", "expected the hash of a tensor in the tensors file"},
        {", \"data\": [1.0, 2.0, 3.0]", "", "found neither 'data' nor 'hash'"},
        {"\"data\": [1.0, 2.0, 3.0]", "\"data\": [1.0, 2.0, 3.0], \"hash\": \"00\"", "hash: found data with the hash"},
        {"\"data\": [1.0, 2.0, 3.0]", "\"data\": [1.0, 2.0, 3.0], \"strides\": [1000000000000]",
         "gaps of at most 128 MiB"},
        {"\"data\": [1.0, 2.0, 3.0]", "\"data\": [1.0, 2.0, 3.0], \"strides\": [1, 1]", "expected 1 strides"},
        {"\"layer.weight\": {", "\"layer.bias\": {", "breaks the rule \"attributes exist\""},
        {"{\"kind\": \"output\"", "{\"kind\": \"call\"", "exactly one output node"},
        {"\"alpha\": 2", "\"alpha\": {\"float\": \"infinite\"}",
         "/nodes/2/kwargs/alpha: found an object, expected a number or"},
        {"\"alpha\": 2", "\"alpha\": {\"bytes\": \"abc\"}", "expected pairs of hexadecimal digits"},
        {"\"alpha\": 2", "\"alpha\": 2, \"alpha\": 3", "found the member \"alpha\" twice"},
        {"\"alpha\": 2", "\"alpha\": 2 \"beta\": 3", "g.json: byte"},
        {"\"alpha\": 2", "\"alpha\": 1e999", "g.json: byte"},
    }));
    INFO(to);
    CHECK_THAT(complaint_about(replaced(json_of(small_graph()), from, to)), Contains(message));
}

TEST_CASE("a file cut anywhere is refused") {
    const std::string text = json_of(failing_graph());
    for (std::size_t length = 0; length + 2 < text.size(); length += 7)
        CHECK(complaint_about(text.substr(0, length)) != "");
}

TEST_CASE("depth is bounded") {
    const std::string deep(200000, '[');
    CHECK_THAT(complaint_about(deep), Contains("nested deeper than 256 levels"));
    CHECK_THAT(thrown<Error>([&] { parse_json(deep, "x.json"); }),
               Contains("x.json: found JSON nested deeper than 256"));
    CHECK(parse_json("{\"a\": [1, 2.5, null]}", "x.json")["a"][1] == 2.5);
    CHECK_THAT(thrown<Error>([&] { parse_json("{\"a\": 1, \"a\": 2}", "x.json"); }), Contains("twice"));
    CHECK_THAT(thrown<Error>([&] { parse_json("{\"a\": ", "x.json"); }), Contains("x.json: byte 7"));
}

TEST_CASE("damage to the sidecar is found") {
    const TempDir folder;
    const auto json = folder.path() / "g.json", beside = folder.path() / "g.safetensors";
    const auto message = [&] { return thrown<Error>([&] { load_graph(json); }); };
    save_graph(full_graph(), json);
    const std::string bytes = read_file(beside), text = read_file(json);
    std::string damaged = bytes;
    damaged.back() ^= 1;
    write_file(beside, damaged);
    CHECK_THAT(message(), Contains("/hash: found data with the hash"));
    write_file(beside, bytes.substr(0, bytes.size() - 1));
    CHECK_THAT(message(), Contains("g.safetensors"));
    std::filesystem::remove(beside);
    CHECK_THAT(message(), Contains("g.safetensors"));
    save_safetensors(beside, {});
    CHECK_THAT(message(), Contains("expected the hash of a tensor in the tensors file"));
    write_file(json, replaced(text, "g.safetensors", "../g.safetensors"));
    CHECK_THAT(message(), Contains("/tensors: found \"../g.safetensors\", expected the name of a file in the same"));
}
