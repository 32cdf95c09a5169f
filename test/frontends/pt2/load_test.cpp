#include "frontends/pt2/load.h"

#include <catch2/catch.hpp>

#include "archives.h"
#include "base/error.h"
#include "base/files.h"
#include "frontends/pt2/archive.h"
#include "frontends/pt2/codes.h"
#include "frontends/pt2/numbers.h"
#include "frontends/pt2/pickle.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::pt2;
using namespace std::string_literals;

namespace {

const std::string kNet = WHITTLE_SOURCE_DIR "/test/fixtures/pt2/net.pt2";
const std::string kProgram = read_file(WHITTLE_SOURCE_DIR "/test/parsers/corpus/pt2/scale.json");
const std::string kConfig =
    R"({"config": {"w": {"path_name": "w0", "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}],
        "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}}}})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    return text.replace(at, from.size(), to);
}

std::map<std::string, std::string> entries(const std::string& program = kProgram) {
    const float values[] = {10, 100};
    return {{"m/archive_format", "pt2"},
            {"m/data/weights/model_weights_config.json", kConfig},
            {"m/data/weights/w0", std::string(reinterpret_cast<const char*>(values), sizeof values)},
            {"m/models/model.json", program}};
}

LoadedProgram load(const std::map<std::string, std::string>& archive, const LoadOptions& options = {}) {
    const TempDir folder;
    write_archive(folder.path() / "m.pt2", archive);
    return load_pt2(folder.path() / "m.pt2", options);
}

/// What loading is refused with, without the folder.
std::string refusal(const std::map<std::string, std::string>& archive) {
    try {
        load(archive);
    } catch (const Error& error) {
        const std::string text = error.what();
        return text.substr(text.find("m.pt2"));
    }
    return "";
}

}  // namespace

TEST_CASE("an exported program is a graph of registered ops with its weights") {
    const LoadedProgram loaded = load(entries());
    CHECK(print(loaded.graph) ==
          "graph main {\n"
          "  %x = placeholder[\"x\"] : f32[3, 2]\n"
          "  %w = get_attr[\"w\"] : f32[2]\n"
          "  %mul = aten.mul.Tensor(%x, %w) : f32[3, 2]   # a.b\n"
          "  return (%mul)\n"
          "}\n");
    CHECK(loaded.assumed_dims == std::vector<std::string>{"s0=3"});
    const Tensor x = Tensor::of<float>({1, 2, 3, 4, 5, 6}, {3, 2});
    CHECK(evaluate(loaded.graph, {&x, 1}).at(0).values<double>() == std::vector<double>{10, 200, 30, 400, 50, 600});
}

TEST_CASE("dynamic dimensions are what is given, and within the range that was exported") {
    CHECK(load(entries(), {.input_sizes = {{"x", {5, 2}}}}).graph.nodes.at(0).meta().sizes == Sizes{5, 2});
    CHECK(load(entries(), {.sizes = {{4, 2}}}).graph.nodes.at(0).meta().sizes == Sizes{4, 2});
    CHECK(load(entries(), {.dims = {{"s0", 8}}}).assumed_dims.empty());
    CHECK_THROWS_WITH(load(entries(), {.dims = {{"s0", 9}}}),
                      Catch::Contains("dynamic dimension s0 is 9, expected a size in the exported range: 1 to 8"));
}

namespace {

/// Where x is not zero, that shifted by how many there are, and a number that is read and not used.
const std::string kData =
    R"json({"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}],
  "outputs": [{"as_tensor": {"name": "found"}}, {"as_tensor": {"name": "shifted"}}], "nodes": [
  {"target": "torch.ops.aten.nonzero.default", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}],
   "outputs": [{"as_tensor": {"name": "found"}}]},
  {"target": "torch.ops.aten.sum.default", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}],
   "outputs": [{"as_tensor": {"name": "total"}}]},
  {"target": "torch.ops.aten.item.default", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "total"}}, "kind": 1}],
   "outputs": [{"as_sym_float": {"as_name": "item"}}]},
  {"target": "torch.ops.aten.sym_size.int", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "found"}}, "kind": 1},
   {"name": "dim", "arg": {"as_int": 0}, "kind": 1}], "outputs": [{"as_sym_int": {"as_name": "n"}}]},
  {"target": "torch.ops.aten._assert_scalar.default", "inputs": [{"name": "self", "arg": {"as_bool": true}, "kind": 1},
   {"name": "assert_msg", "arg": {"as_string": "u0 >= 0"}, "kind": 1}], "outputs": []},
  {"target": "torch.ops.aten.add.Tensor", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "found"}}, "kind": 1},
   {"name": "other", "arg": {"as_sym_int": {"as_name": "n"}}, "kind": 1}], "outputs": [{"as_tensor": {"name": "shifted"}}]}],
  "sym_float_values": {"item": {"as_expr": {"expr_str": "Symbol('zuf0')", "hint": null}}},
  "tensor_values": {
   "x": {"dtype": 7, "sizes": [{"as_int": 3}, {"as_int": 2}], "strides": [{"as_int": 2}, {"as_int": 1}], "layout": 7},
   "found": {"dtype": 5, "sizes": [{"as_expr": {"expr_str": "Symbol('u0', integer=True)", "hint": null}}, {"as_int": 2}],
    "strides": [{"as_int": 2}, {"as_int": 1}], "layout": 7}}},
  "signature": {"input_specs": [{"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
   {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
   "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "found"}}}}, {"user_output": {"arg": {"as_tensor": {"name": "shifted"}}}}]}},
  "range_constraints": {"u0": {"min_val": 0, "max_val": 6}}, "schema_version": {"major": 8, "minor": 14}})json";

}  // namespace

TEST_CASE("what the file states of a result is what follows from the operands") {
    const std::string stated =
        R"("shifted": {"dtype": 5, "sizes": [{"as_int": 3}, {"as_int": 2}], "strides": [{"as_int": 2}, {"as_int": 1}], "layout": 7},
   "found": {)";
    const Tensor x = Tensor::of<float>({1, 0, 0, 4, 5, 0}, {3, 2});
    const LoadOptions options{.values = [&](const Graph&) { return std::vector<Tensor>{x}; }};
    const std::string right = replaced(kData, R"("found": {)", stated);
    CHECK_NOTHROW(load(entries(right), options));
    CHECK_THROWS_WITH(load(entries(replaced(right, R"("dtype": 5, "sizes": [{"as_int": 3}, {"as_int": 2}])",
                                            R"("dtype": 5, "sizes": [{"as_int": 2}, {"as_int": 3}])")),
                           options),
                      Catch::Contains("node 5 (torch.ops.aten.add.Tensor): the call computes the result 'shifted' as "
                                      "i64[3, 2] from its operands, but the file declares the result as i64[2, 3]"));
    CHECK_THROWS_WITH(load(entries(replaced(right, R"({"dtype": 5, "sizes": [{"as_int": 3})",
                                            R"({"dtype": 7, "sizes": [{"as_int": 3})")),
                           options),
                      Catch::Contains("as i64[3, 2] from its operands, but the file declares the result as f32[3, 2]"));
    CHECK(refusal(entries(replaced(kProgram, R"(3}}}, {"as_int": 2})", R"(3}}}, {"as_int": -2})")))
              .find("m.pt2: m/models/model.json: tensor x: found size -2") == 0);
    for (const char* wrong : {"18446744073709551616", "9223372036854775808", "2.0"})
        CHECK(refusal(entries(replaced(kProgram, R"(3}}}, {"as_int": 2})",
                                       "3}}}, {\"as_int\": " + std::string(wrong) + "}")))
                  .find("expected an integer that fits in 64 bits") != std::string::npos);
}

TEST_CASE("sizes and numbers that depend on data are those that the values given make") {
    const Tensor x = Tensor::of<float>({1, 0, 0, 4, 5, 0}, {3, 2});
    LoadOptions options{.values = [&](const Graph&) { return std::vector<Tensor>{x}; }};
    const LoadedProgram loaded = load(entries(kData), options);
    CHECK(loaded.data_sizes == std::vector<std::string>{"u0=3"});
    CHECK(loaded.graph.find("found")->meta().sizes == Sizes{3, 2});
    CHECK(loaded.graph.find("shifted")->kwargs.empty());
    const std::vector<Tensor> results = evaluate(loaded.graph, {&x, 1});
    CHECK(results.at(0).values<double>() == std::vector<double>{0, 0, 1, 1, 2, 0});
    CHECK(results.at(1).values<double>() == std::vector<double>{3, 3, 4, 4, 5, 3});
    // What is read with item() is asked of other values.
    const Tensor other = Tensor::of<float>({1, 0, 0, 4, 6, 0}, {3, 2});
    CHECK_THROWS_WITH(
        evaluate(loaded.graph, {&other, 1}),
        Catch::Contains("a number that the program reads has changed since the graph was imported: found 11"));
    CHECK_THROWS_WITH(load(entries(kData)), Catch::Contains("node 0 (torch.ops.aten.nonzero.default)") &&
                                                Catch::Contains("found a size that depends on the values of inputs"));
    options.dims = {{"u0", 4}};
    CHECK_THROWS_WITH(load(entries(kData), options),
                      Catch::Contains("the size u0 is 3 with these inputs, but --dim requests 4"));
}

TEST_CASE("sizes of an input that are expressions decide their symbols") {
    const std::string twice =
        replaced(kProgram, "Symbol('s0', integer=True)", "Mul(Integer(2), Symbol('s0', integer=True, positive=True))");
    const std::string even = replaced(twice, R"("hint": {"as_int": 3})", R"("hint": {"as_int": 4})");
    CHECK(load(entries(even)).assumed_dims == std::vector<std::string>{"s0=2"});
    const LoadedProgram given = load(entries(even), {.input_sizes = {{"x", {6, 2}}}});
    CHECK(given.assumed_dims.empty());
    CHECK(given.graph.nodes.at(0).meta().sizes == Sizes{6, 2});
    CHECK(load(entries(even), {.dims = {{"s0", 5}}}).graph.nodes.at(0).meta().sizes == Sizes{10, 2});
    CHECK_THROWS_WITH(load(entries(even), {.input_sizes = {{"x", {20, 2}}}}),
                      Catch::Contains("dynamic dimension s0 is 10, expected a size in the exported range: 1 to 8"));
    const std::string ranged =
        replaced(even, R"("s0": {"min_val": 1,)", R"("2*s0": {"min_val": 4, "max_val": 8}, "s0": {"min_val": 1,)");
    CHECK_THROWS_WITH(load(entries(ranged), {.dims = {{"s0", 5}}}),
                      Catch::Contains("dynamic dimension 2*s0 is 10, expected a size in the exported range: 4 to 8"));
    CHECK_THROWS_WITH(load(entries(ranged), {.dims = {{"2*s0", 8}}}), Catch::Contains("2*s0"));
}

TEST_CASE("an archive may hold several models, of which one is read by its name") {
    auto archive = entries();
    archive["m/models/other.json"] = archive.at("m/models/model.json");
    archive["m/data/weights/other_weights_config.json"] = archive.at("m/data/weights/model_weights_config.json");
    const TempDir folder;
    const auto path = folder.path() / "m.pt2";
    write_archive(path, archive);
    CHECK(pt2_models(path) == std::vector<std::string>{"model", "other"});
    CHECK(load_pt2(path, {.model = "other"}).graph.name == "other");
    CHECK_THROWS_WITH(load_pt2(path), Catch::Contains("found several models: model, other, expected one"));
    CHECK_THROWS_WITH(load_pt2(path, {.model = "third"}),
                      Catch::Contains("found no model 'third', expected one of model, other"));
}

TEST_CASE("a convolution net with in-place ops and buffers loads") {
    const LoadedProgram loaded = load_pt2(kNet);
    CHECK(loaded.graph.attributes.size() == 6);
    const Node& relu = *loaded.graph.find("relu_");
    CHECK(relu.target == "aten.relu_.default");
    CHECK(relu.module_path == "relu");
    REQUIRE(relu.stack.size() == 1);
    CHECK(relu.stack[0].line == 11);
}

TEST_CASE("what no exported program can be is one error that says where") {
    auto archive = entries();
    archive.erase("m/archive_format");
    CHECK(refusal(archive).find("m.pt2: found a zip archive without an exported program") == 0);
    archive = entries();
    archive.erase("m/models/model.json");
    archive["m/data/aotinductor/model/model.so"] = "ELF";
    CHECK(refusal(archive).find("m.pt2: the file is an AOTInductor package, which holds compiled code and no graph") ==
          0);
    CHECK(refusal({{"data/executorch/model.pte", "ET12"}}).find("m.pt2: the file is an ExecuTorch package") == 0);
    archive = entries();
    archive["m/data/aotinductor/model/model.so"] = "ELF";
    CHECK(refusal(archive).empty());  // its graph is there, too
    archive = entries();
    archive.erase("m/data/weights/w0");
    CHECK(refusal(archive).find("found no entry 'm/data/weights/w0'") != std::string::npos);
    archive = entries();
    archive["m/data/weights/w0"] = "1234";
    CHECK(refusal(archive).find("m.pt2: m/data/weights/model_weights_config.json: w: ") == 0);
    CHECK(refusal(entries("{")).find("m.pt2: m/models/model.json") == 0);
    CHECK(refusal(entries(replaced(kProgram, R"("major": 8)", R"("major": 6)"))) ==
          "m.pt2: m/models/model.json: schema_version: found major version 6, expected 7 (PyTorch 2.5) or 8");
    CHECK(refusal(entries(replaced(kProgram, R"("arg": {"as_tensor": {"name": "x"}}, "kind")",
                                   R"("arg": {"as_tensor": {"name": "y"}}, "kind")"))) ==
          "m.pt2: m/models/model.json: node 0 (torch.ops.aten.sym_size.int): the node reads 'y', which no earlier node "
          "defines");
}

namespace {

/// The pickle of {"w": a parameter of two floats in storage '0'}, as torch.save() writes it.
const std::string kPickle =
    "\x80\x02}q\x00X\x01\x00\x00\x00w"
    "ctorch._utils\n_rebuild_parameter\nctorch._utils\n_rebuild_tensor_v2\n"
    "((X\x07\x00\x00\x00storageq\x04"
    "ctorch\nFloatStorage\nX\x01\x00\x00\x00"
    "0X\x03\x00\x00\x00"
    "cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89"
    "ccollections\nOrderedDict\nq\x0b)RtR\x88h\x0b)R\x87Rs."s;

/// What torch.save() writes of it.
std::string saved(const std::string& pickle, const std::string& bytes = entries().at("m/data/weights/w0")) {
    const TempDir folder;
    write_archive(folder.path() / "w.pt", {{"archive/data.pkl", pickle}, {"archive/data/0", bytes}});
    return read_file(folder.path() / "w.pt");
}

}  // namespace

TEST_CASE("pickled weights are read as data, in both older layouts") {
    const std::string expected = print(load(entries()).graph);
    CHECK(print(load({{"serialized_exported_program.json", kProgram},
                      {"serialized_state_dict.pt", saved(kPickle)},
                      {"serialized_constants.pt", ""}})
                    .graph) == expected);
    const LoadedProgram loaded = load(
        {{"m/archive_format", "pt2"}, {"m/models/model.json", kProgram}, {"m/data/weights/model.pt", saved(kPickle)}});
    CHECK(print(loaded.graph) == expected);
    CHECK(loaded.graph.attributes.at("w").values<double>() == std::vector<double>{10, 100});
}

TEST_CASE("tensors of newer types, and parameters with attributes, are unpickled") {
    const auto weight = [](const std::string& pickle, const std::string& bytes) {
        const TempDir folder;
        write_file(folder.path() / "w.pt", saved(pickle, bytes));
        return read_state_dict(Archive(folder.path() / "w.pt")).at("w");
    };
    const std::string attributed =
        replaced(replaced(kPickle, "_rebuild_parameter\n", "_rebuild_parameter_with_state\n("), "\x87Rs.", "}tRs.");
    CHECK(weight(attributed, entries().at("m/data/weights/w0")).values<double>() == std::vector<double>{10, 100});
    // {"w": _rebuild_tensor_v3(a storage of two bytes, 0, (2,), (1,), False, OrderedDict(), torch.float8_e5m2)}
    const Tensor typed = weight(
        "\x80\x02}q\x00X\x01\x00\x00\x00w"
        "ctorch._utils\n_rebuild_tensor_v3\n"
        "((X\x07\x00\x00\x00storage"
        "ctorch.storage\nUntypedStorage\nX\x01\x00\x00\x00"
        "0X\x03\x00\x00\x00"
        "cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89"
        "ccollections\nOrderedDict\n)R"
        "ctorch\nfloat8_e5m2\ntRs."s,
        "\x3c\x40");
    CHECK(typed.dtype() == DType::f8_e5m2);
    CHECK(typed.values<double>() == std::vector<double>{1, 2});
}

TEST_CASE("nothing but tensors is unpickled") {
    const auto refused = [](const std::string& pickle, const std::string& bytes = "12345678") {
        return refusal(
            {{"serialized_exported_program.json", kProgram}, {"serialized_state_dict.pt", saved(pickle, bytes)}});
    };
    CHECK(refused(replaced(kPickle, "_rebuild_parameter", "_rebuild_anything"))
              .find("found 'torch._utils _rebuild_anything', expected a known type of tensor") != std::string::npos);
    CHECK(refused("\x80\x02"
                  "cos\nsystem\nX\x02\x00\x00\x00id\x85R.")
              .find("found ") != std::string::npos);
    CHECK(refused(kPickle, "1234").find("serialized_state_dict.pt") != std::string::npos);
    CHECK(refused("K\x01.").find("found a value that is not a dictionary") != std::string::npos);
    // Cut anywhere it is an error, never a crash.
    for (std::size_t size = 0; size < kPickle.size(); ++size) CHECK(!refused(kPickle.substr(0, size)).empty());
}

TEST_CASE("a damaged archive is refused") {
    const TempDir folder;
    const std::string path = (folder.path() / "m.pt2").string();
    std::string bytes = read_file(kNet);
    bytes.at(bytes.find("weight_0") + 40) ^= 1;  // a number of the first weight
    write_file(path, bytes);
    CHECK_THROWS_WITH(load_pt2(path), Catch::Contains("the entry is damaged: CRC error"));
    write_file(path, bytes.substr(0, bytes.size() / 2));
    CHECK_THROWS_WITH(load_pt2(path), Catch::Contains("the file is not a readable zip archive"));
    write_archive(path, {{"m/big", std::string(1 << 20, 'x')}}, true);
    CHECK(Archive(path).text("m/big").size() == 1 << 20);
}

TEST_CASE("sizes are expressions of both notations") {
    const std::map<std::string, std::int64_t> symbols{{"s0", 3}, {"s77", 5}};
    CHECK(pt2::evaluate("Symbol('s77', integer=True, positive=True)", symbols) == 5);
    CHECK(pt2::evaluate("Mul(Integer(6), Symbol('s77', integer=True, positive=True))", symbols) == 30);
    CHECK(pt2::evaluate("Add(Integer(-1), Mul(Integer(2), Symbol('s0', integer=True)))", symbols) == 5);
    CHECK(pt2::evaluate("FloorDiv(Symbol('s77', integer=True), Integer(2))", symbols) == 2);
    CHECK(pt2::evaluate("2*s0 + s77 - 1", symbols) == 10);
    CHECK(pt2::evaluate("2*(s0 + 1)", symbols) == 8);
    CHECK(pt2::evaluate("Pow(Symbol('s0', integer=True), Integer(2))", symbols) == 9);
    CHECK(pt2::evaluate("(s77//2) + s0**2 % 4", symbols) == 3);
    CHECK(solved("2*s1 + s0", 13, symbols) == std::pair(std::string("s1"), std::int64_t{5}));
    CHECK(solved("Symbol('s1', integer=True)", 0, symbols) == std::pair(std::string("s1"), std::int64_t{0}));
    CHECK(undecided_symbols("s1*s2 + s0", symbols) == std::set<std::string>{"s1", "s2"});
    for (const char* unsolved : {"2*s1", "s1*s2", "s0", "FloorDiv(s1, 4)", "s1 +"})
        CHECK(solved(unsolved, 5, symbols) == std::nullopt);
    for (const char* wrong : {"", "s1", "2*", "Sin(Integer(1))", "Symbol('s0'", "(", ")",
                              "Integer(99999999999999999999)", "9223372036854775807 * 2", "s0 s0", "Max()"})
        CHECK(pt2::evaluate(wrong, symbols) == std::nullopt);
    CHECK(symbol_of("Symbol('s77', integer=True, positive=True)") == "s77");
    CHECK(symbol_of("s0") == "s0");
    CHECK(symbol_of("2*s0") == std::nullopt);
}

TEST_CASE("computations on sizes are Python's") {
    CHECK(number_of("_operator.floordiv", {Arg(-7), Arg(2)}) == Arg(-4));
    CHECK(number_of("_operator.mod", {Arg(-7), Arg(2)}) == Arg(1));
    CHECK(number_of("_operator.truediv", {Arg(7), Arg(2)}) == Arg(3.5));
    CHECK(number_of("_operator.le", {Arg(2), Arg(2.0)}) == Arg(true));
    CHECK(number_of("torch.sym_max", {Arg(2), Arg(5)}) == Arg(5));
    CHECK(number_of("torch.sym_not", {Arg(true)}) == Arg(false));
    CHECK_THROWS_WITH(number_of("_operator.floordiv", {Arg(1), Arg(0)}), Catch::Contains("a division of 1 by 0"));
    CHECK_THROWS_WITH(
        number_of("_operator.getitem", {Arg("a"), Arg(0)}),
        Catch::Contains("found getitem(not a number, 0), expected numbers for which getitem has a result"));
}
