#include "trace/record.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
#include "graph/example.h"
#include "graph/placement.h"
#include "json_schema.h"
#include "trace/guard_json.h"
#include "trace/index.h"

using namespace whittle;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

JsonSchema schema(const std::string& name) {
    return JsonSchema(
        nlohmann::json::parse(read_file(std::string(WHITTLE_SOURCE_DIR) + "/share/schema/" + name + ".schema.json")));
}

Tensor counting(Sizes sizes) {
    Tensor tensor(DType::f32, std::move(sizes));
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i) / 4;
    return tensor;
}

/// One large input, so that there is a sidecar, and one small output.
Graph recorded_graph() {
    Graph graph;
    graph.name = "recorded/graph";
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {4, 5}));
    const NodeRef w = graph.get_attr("w", counting({20}));
    const NodeRef y =
        graph.add({.target = "aten.mystery", .args = {x, w}, .results = {ValueMeta::contiguous(DType::f32, {2})}});
    graph.output({y});
    return graph;
}

Record full_record() {
    Record record;
    record.name = "main 0";
    record.frame = "main";
    record.backend = "halide";
    record.backend_options = {{"asserts", "off"}, {"disable", "f.vectorize(x, 8)"}};
    record.inputs = {counting({4, 5})};
    record.expected = {Tensor::of<float>({std::nanf(""), -0.0f})};
    record.expected_from = "output_0.pb";
    record.accuracy.tolerances[DType::f32] = {1e-3, 1e-6, 0};
    record.environment = {{"os", "Debian GNU/Linux 12 (bookworm)"}, {"cores", "2"}};
    return record;
}

void replace_in(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = read_file(file);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write_file(file, text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("a record comes back as it was saved") {
    const TempDir folder;
    const Record record = full_record();
    const fs::path file = save_record(folder.path(), recorded_graph(), record);
    CHECK(file == folder.path() / "records/main_0.json");
    CHECK(fs::exists(folder.path() / "graphs/recorded_graph.json"));
    CHECK(is_record(file));
    CHECK_FALSE(is_record(folder.path() / "graphs/recorded_graph.json"));

    const LoadedRecord loaded = load_record(file);
    CHECK(loaded.file == file);
    CHECK(same_structure(loaded.graph, recorded_graph()));
    CHECK(loaded.record.name == record.name);
    CHECK(loaded.record.frame == record.frame);
    CHECK(loaded.record.backend == record.backend);
    CHECK(loaded.record.backend_options == record.backend_options);
    CHECK(loaded.record.expected_from == record.expected_from);
    CHECK(loaded.record.accuracy == record.accuracy);
    CHECK(loaded.record.environment == record.environment);
    REQUIRE(loaded.record.inputs.size() == 1);
    CHECK(same_bits(loaded.record.inputs[0], record.inputs[0]));
    REQUIRE(loaded.record.expected.size() == 1);
    CHECK(same_bits(loaded.record.expected[0], record.expected[0]));
}

TEST_CASE("what is written satisfies the published schemas") {
    const TempDir folder;
    const fs::path file = save_record(folder.path(), recorded_graph(), full_record());
    CHECK(schema("record").check(nlohmann::json::parse(read_file(file))) == "");
    CHECK(schema("graph").check(nlohmann::json::parse(read_file(folder.path() / "graphs/recorded_graph.json"))) == "");
}

TEST_CASE("records share an equal graph and keep unequal ones apart") {
    const TempDir folder;
    Record record = full_record();
    record.name = "a";
    const fs::path a = save_record(folder.path(), recorded_graph(), record);
    record.name = "b";
    const fs::path b = save_record(folder.path(), recorded_graph(), record);
    Graph other = recorded_graph();
    other.attributes["w"] = counting({20}).clone();
    other.attributes["w"].mutable_data<float>()[3] = -1;
    record.name = "c";
    const fs::path c = save_record(folder.path(), other, record);
    CHECK(load_record(a).graph.attributes["w"].values<float>()[3] == 0.75f);
    CHECK(load_record(b).graph.attributes["w"].values<float>()[3] == 0.75f);
    CHECK(load_record(c).graph.attributes["w"].values<float>()[3] == -1);
    CHECK(fs::exists(folder.path() / "graphs/recorded_graph_1.json"));
    CHECK_FALSE(fs::exists(folder.path() / "graphs/recorded_graph_2.json"));
}

TEST_CASE("graphs that have weights in common share their file") {
    const TempDir folder;
    Record record = full_record();
    record.name = "a";
    const fs::path a = save_record(folder.path(), recorded_graph(), record);
    Graph renamed = recorded_graph();
    renamed.name = "another";
    record.name = "b";
    const fs::path b = save_record(folder.path(), renamed, record);
    CHECK(fs::exists(folder.path() / "graphs/another.json"));
    CHECK_FALSE(fs::exists(folder.path() / "graphs/another.safetensors"));
    CHECK(same_bits(load_record(b).graph.attributes["w"], load_record(a).graph.attributes["w"]));
}

TEST_CASE("changed data is refused, wherever it is") {
    const TempDir folder;
    const fs::path file = save_record(folder.path(), recorded_graph(), full_record());
    const fs::path graph = folder.path() / "graphs/recorded_graph.json";
    const auto message = [&] { return thrown<Error>([&] { load_record(file); }); };

    SECTION("an inline output") {
        replace_in(file, "-0.0", "0.0");
        CHECK_THAT(message(), Contains("/expected/0/hash: found data with the hash"));
    }
    SECTION("an input in the sidecar") {
        const fs::path beside = folder.path() / "records/main_0.safetensors";
        std::string bytes = read_file(beside);
        bytes[bytes.size() - 2] ^= 1;
        write_file(beside, bytes);
        CHECK_THAT(message(), Contains("/inputs/0/hash: found data with the hash"));
    }
    SECTION("the graph") {
        replace_in(graph, "mystery", "misery");
        CHECK_THAT(message(), Contains("/graph/hash: found a graph with the hash"));
    }
    SECTION("a weight") {
        std::string bytes = read_file(folder.path() / "graphs/recorded_graph.safetensors");
        bytes.back() ^= 1;
        write_file(folder.path() / "graphs/recorded_graph.safetensors", bytes);
        CHECK_THAT(message(), Contains("recorded_graph.json: /attributes/w/hash: found data with the hash"));
    }
}

TEST_CASE("malformed records are refused with a pointer") {
    const auto [from, to, message] = GENERATE(table<std::string, std::string, std::string>({
        {"whittle.record", "whittle.graph", "/format: found \"whittle.graph\", expected \"whittle.record\""},
        {"\"1.2\"", "\"3.0\"", "/version: found \"3.0\", expected version 1.x"},
        {"\"frame\"", "\"fram\"", "/fram: found an unknown member"},
        {"../graphs/recorded_graph.json", "/etc/passwd",
         "/graph/file: found \"/etc/passwd\", expected a relative path"},
        {"../graphs/recorded_graph.json", "../../x.json",
         "/graph/file: found \"../../x.json\", expected a relative path"},
        {"../graphs/recorded_graph.json", "../graphs/gone.json", "graphs/gone.json: cannot open"},
        {"\"sizes\": [4, 5]", "\"sizes\": [5, 4]",
         "/inputs/0: found f32[4, 5] in the tensors file, expected f32[5, 4]"},
        {"\"expected\": [", "\"expected\": [], \"inputs_2\": [", "found an unknown member"},
        {"\"mode\": \"close\"", "\"mode\": \"near\"", "/accuracy/mode: found"},
        {"\"rtol\": ", "\"xtol\": 1, \"rtol\": ", "/accuracy/tolerances/f32/xtol: found an unknown member"},
    }));
    const TempDir folder;
    const fs::path file = save_record(folder.path(), recorded_graph(), full_record());
    replace_in(file, from, to);
    INFO(to);
    CHECK_THAT(thrown<Error>([&] { load_record(file); }), Contains(message));
}

TEST_CASE("inputs must fit the graph, outputs need not") {
    const TempDir folder;
    Record record = full_record();
    record.expected = {Tensor::of<std::int64_t>({1, 2, 3})};
    CHECK(load_record(save_record(folder.path(), recorded_graph(), record)).record.expected[0].numel() == 3);
    record.inputs = {counting({4, 6})};
    const fs::path file = save_record(folder.path(), recorded_graph(), record);
    CHECK_THAT(thrown<Error>([&] { load_record(file); }),
               Contains("/inputs/0: found f32[4, 6], expected f32[4, 5] of %x"));
}

namespace {

/// One of every kind, and every kind of source and value.
std::vector<IndexGuard> some_guards() {
    using capture::Guard, capture::Source, capture::SizeCondition;
    capture::TensorMatch match = capture::TensorMatch::of(ValueMeta::contiguous(DType::f32, {2, 3}));
    match.requires_grad = true;
    const capture::TensorMatch any{.dtype = DType::i64, .sizes = {{capture::kDynamicSize, 3}, {"s0", ""}}};
    const Source x = Source::local("x"), layer = Source::local("self").attribute("layers").item(2);
    const capture::SizeSymbol s0{"s0", x, 0}, s1{"s1", layer, 1};
    return {Guard(layer.attribute("weight"), match),
            Guard(x, any),
            Guard(Source::live(2), match),
            Guard::scalar(Source::local("n"), std::int64_t{3}),
            Guard::scalar(Source::global("rate"), 2.0),
            Guard::scalar(Source::random(0).item(1), -std::numeric_limits<double>::infinity()),
            Guard::scalar(Source::local("text"), std::string("a \"b\"")),
            Guard::scalar(Source::local("none"), {}),
            Guard::state("grad_mode", false),
            Guard(Source::local("y"), capture::SameTensor{x}),
            Guard::relation({SizeCondition::Kind::equal, s0, 3, s1}),
            Guard::relation({.left = s0}),
            Guard::relation({SizeCondition::Kind::multiple, s0, 4, {}}),
            Guard::relation({SizeCondition::Kind::at_most, s0, 64, {}}),
            Guard(Source::condition("n > 2", 12), capture::Outcomes{{1, 1, 0}}, {{"model.cpp", 12, 9, "g", ""}}),
            Guard(Source::condition("n", 13), capture::Outcomes{{7}, true}),
            IndexGuard("of an older trace")};
}

}  // namespace

TEST_CASE("the index of a trace comes back and satisfies its schema") {
    const TempDir folder;
    TraceIndex index;
    index.model = "model.onnx";
    index.backend = "halide";
    index.frames = {"main", "helper"};
    index.breaks = {{.reason = "the op onnx.Strange is not registered",
                     .id = "WB0007",
                     .op = "onnx.Strange",
                     .frame = "main",
                     .stack = {{"model.cpp", 3, 9, "f", "strange(x);"}},
                     .count = 2}};
    index.graphs = {index_graph(recorded_graph(), "main"), index_graph(full_graph(), "helper")};
    index.graphs[0].file = "graphs/recorded_graph.json";
    index.graphs[0].ended_by_break = 0;
    index.graphs[0].order = 4;
    index.records = {{"a", "records/a.json", "recorded/graph"}};
    index.graphs[1].guards = some_guards();
    index.graphs[1].compile_seconds = 0.25;
    index.graphs[1].compilations = 3;
    index.recompiles = {
        {capture::GuardFailure{"L['n'] == 3", "4"}, "helper", {{"model.cpp", 5, 1, "g", "if (n == 3)"}}, "hoist it", 7},
        {capture::GuardFailure{"L['mode'] == 'a, now b'", "'c, now d'"}, "helper"}};
    index.notes = {"libfoo.so has no line numbers"};
    index.environment = {{"os", "Debian"}};
    CHECK(index.graphs[0].ops == 1);
    CHECK(index.graphs[1].ops == 2);  // the getitem does not count
    CHECK(index.graphs[1].outputs == 3);
    save_index(folder.path(), index);
    CHECK(load_index(folder.path()) == index);
    CHECK(schema("index").check(nlohmann::json::parse(read_file(folder.path() / "index.json"))) == "");

    const auto message = [&](const std::string& from, const std::string& to) {
        save_index(folder.path(), index);
        replace_in(folder.path() / "index.json", from, to);
        return thrown<Error>([&] { load_index(folder.path()); });
    };
    CHECK_THAT(message("{\"break\": 0}", "{\"break\": 1}"),
               Contains("/graphs/0/ended_by/break: found 1, expected a position"));
    CHECK_THAT(message("\"return\"", "\"finish\""), Contains("/graphs/1/ended_by: found \"finish\""));
    CHECK_THAT(message("records/a.json", "../a.json"),
               Contains("/records/0/file: found \"../a.json\", expected a relative"));
    CHECK_THAT(message("\"count\": 2", "\"count\": -2"),
               Contains("/breaks/0/count: found -2, expected an integer, 0 or more"));
    CHECK_THAT(message("\"relation\": \"equal\"", "\"relation\": \"alike\""),
               Contains("/graphs/1/guards/10/relation: found \"alike\", expected above, equal, multiple or at_most"));
    CHECK_THAT(message("{\"live\": 2}", "{\"path\": [2]}"),
               Contains("/graphs/1/guards/2/tensor: found an object, expected a member \"local\""));
    // Until 1.3 guards were written as text.
    save_index(folder.path(), index);
    replace_in(folder.path() / "index.json",
               json_of(capture::Guard::scalar(capture::Source::local("n"), std::int64_t{3})), "\"L['n'] == 3\"");
    CHECK(load_index(folder.path()).graphs[1].guards.at(3) == IndexGuard("L['n'] == 3"));
    // Until 1.5 a recompile's guard was one text.
    save_index(folder.path(), index);
    replace_in(folder.path() / "index.json", R"(, "condition": "L['n'] == 3", "found": "4")", "");
    CHECK(load_index(folder.path()) == index);
}

TEST_CASE("data that Whittle cannot read are bytes in a record", "[record]") {
    const TempDir folder("whittle-test");
    Graph graph;
    graph.name = "words";
    graph.output({graph.placeholder("x", opaque_meta("string", {2}))});
    const Tensor bytes = Tensor::of<std::uint8_t>({1, 2, 3, 4, 5});
    Record record{.name = "words", .inputs = {bytes}, .expected = {bytes}};
    const LoadedRecord loaded = load_record(save_record(folder.path(), graph, record));
    CHECK(same_bits(loaded.record.inputs.at(0), bytes));
    CHECK(unusual_type(loaded.graph.node({0}).meta()) == "string[2]");
    record.name = "numbers";
    record.inputs = {Tensor::of<float>({1, 2})};
    const fs::path wrong = save_record(folder.path(), graph, record);
    CHECK_THROWS_WITH(load_record(wrong), Contains("found f32[2], expected bytes (u8) of the string[2] of %x"));
}
