// Exported programs with ops that Whittle does not know, and with values that it only keeps.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "graph/placement.h"
#include "graph/value_ref.h"
#include "programs.h"
#include "trace/load.h"

namespace whittle::pt2::programs {

TEST_CASE("an op that the registry does not know is an opaque call with what the file states") {
    const LoadedProgram loaded = load_program(
        node("mylib.pair.default", argument("x", tensor("x")) + "," + argument("times", R"({"as_int": 2})"),
             tensor("a") + R"(, {"as_none": true}, )" + tensor("b")) +
            "," + node("aten.neg.default", argument("self", tensor("b")), tensor("y")),
        returned("y") + "," + returned("a"), R"("a": )" + kStated + R"(, "b": )" + kStated);
    const Node& call = *loaded.graph.find("a");
    CHECK(call.target == "mylib.pair.default");
    CHECK(call.args.at(1) == Arg(2));
    REQUIRE(call.results.size() == 3);
    CHECK(call.results[2].sizes == Sizes{3});
    const auto read = [&](NodeId node) { return value_of(loaded.graph, {node}).index; };
    CHECK(read(loaded.graph.find("y")->args.at(0).node()->id) == 2);
    CHECK(read(loaded.graph.outputs().at(1)) == 0);
    // What returns nothing may write to its tensors.
    const LoadedProgram writing =
        load_program(node("mylib.bump.default", argument("x", tensor("x")), ""), returned("x"));
    const ValueRef left = value_of(writing.graph, {writing.graph.outputs().at(0)});
    CHECK(left.index == 1);
    CHECK(writing.graph.node({left.node}).target == "higher_order.auto_functionalized");
    CHECK(writing.graph.node({left.node}).args.at(0) == Arg("torch.ops.mylib.bump.default"));
}

TEST_CASE("a number that an unknown op gives is what the file says") {
    const auto counted = [](const std::string& number, const LoadOptions& options = {}) {
        return load_program(node("mylib.count.default", argument("x", tensor("x")), kNumber) + "," + kTimesNumber,
                            returned("y"), stating_number(number), options);
    };
    const std::string open = R"json({"as_expr": {"expr_str": "Symbol('u0', integer=True)"}})json";
    CHECK(results(counted(R"({"as_int": 4})")) == std::vector<std::vector<double>>{{4, 8, 12}});
    CHECK_THROWS_WITH(counted(open),
                      Catch::Contains("node 0 (torch.ops.mylib.count.default)") &&
                          Catch::Contains("set the size with --dim NAME=SIZE, where NAME is the symbol of the size"));
}

TEST_CASE("where() and repeat_interleave() of tensors are parts whose sizes the given values decide") {
    const std::string open = R"json({"dtype": 5, "sizes": [{"as_expr": {"expr_str": "Symbol('u0', integer=True)"}}],
        "strides": [{"as_int": 1}], "layout": 7})json";
    const LoadOptions options{.values = [](const Graph&) { return std::vector{Tensor::of<float>({1, 2, 3})}; }};
    const LoadedProgram loaded = load_program(
        node("aten.where.default", argument("condition", tensor("x")), R"({"as_tensors": [{"name": "at"}]})") + "," +
            node("aten.repeat_interleave.self_Tensor",
                 argument("self", tensor("x")) + "," + argument("repeats", tensor("at")) + "," +
                     argument("dim", R"({"as_int": 0})"),
                 tensor("y")),
        returned("at") + "," + returned("y"), R"("at": )" + open, options);
    CHECK(loaded.data_sizes == std::vector<std::string>{"u0=3"});
    CHECK(results(loaded) == std::vector<std::vector<double>>{{0, 1, 2}, {2, 3, 3}});
}

TEST_CASE("elements that Whittle only keeps are opaque, and calls of them are what the file states") {
    const auto cast = [](const std::string& from, int code, const std::string& to) {
        return node("aten.to.dtype",
                    argument("self", tensor(from)) + "," +
                        argument("dtype", R"({"as_scalar_type": )" + std::to_string(code) + "}"),
                    tensor(to));
    };
    std::string narrow = kStated;
    narrow.replace(narrow.find('7'), 1, "31");
    const LoadedProgram loaded = load_program(cast("x", 31, "a") + "," + cast("a", 7, "y"), returned("y"),
                                              R"("a": )" + narrow + R"(, "y": )" + kStated);
    const Node& call = *loaded.graph.find("a");
    CHECK(unusual_type(call.meta()) == "f8_e4m3fnuz[3]");
    CHECK(call.args.at(1) == Arg("f8_e4m3fnuz"));
    CHECK(loaded.graph.find("y")->meta().dtype == DType::f32);
    CHECK(!loaded.graph.find("y")->meta().placement);
    CHECK_NOTHROW(checked_graph(loaded.graph, "m.pt2"));
}

TEST_CASE("sparse tensors are kept as the file states them, and calls of them are opaque") {
    std::string sparse = kStated;
    sparse.replace(sparse.rfind('7'), 1, "2");
    const LoadedProgram loaded =
        load_program(node("aten.to_sparse_csr.default", argument("self", tensor("x")), tensor("a")) + "," +
                         node("aten.neg.default", argument("self", tensor("a")), tensor("b")) + "," +
                         node("aten.to_dense.default", argument("self", tensor("b")), tensor("y")),
                     returned("y"), R"("a": )" + sparse + R"(, "b": )" + sparse + R"(, "y": )" + kStated);
    for (const char* name : {"a", "b"}) {
        const ValueMeta& meta = loaded.graph.find(name)->meta();
        REQUIRE(meta.placement);
        CHECK(meta.placement->text() == "a sparse tensor (CSR)");
        CHECK(meta.sizes == Sizes{3});
    }
    CHECK(!loaded.graph.find("y")->meta().placement);
    CHECK_NOTHROW(checked_graph(loaded.graph, "m.pt2"));
    CHECK(misplaced_value(loaded.graph) == "%a, a sparse tensor (CSR)");
}

TEST_CASE("a weight of elements that Whittle only keeps is the bytes of the file") {
    const TempDir folder;
    write_archive(folder.path() / "m.pt2",
                  {{"m/archive_format", "pt2"},
                   {"m/data/weights/model_weights_config.json",
                    R"({"config": {"w": {"path_name": "w0", "tensor_meta": {"dtype": 33, "sizes": [{"as_int": 2}],
              "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}}}})"},
                   {"m/data/weights/w0", "\x7f\x80"},
                   {"m/models/model.json",
                    R"({"schema_version": {"major": 8, "minor": 14}, "graph_module": {"graph": )" + graph("", "", "") +
                        R"(, "signature": {"input_specs": [{"buffer": {"arg": {"name": "w"}, "buffer_name": "w"}}],
                  "output_specs": [)" +
                        returned("w") + "]}}}"}});
    const LoadedProgram loaded = load_pt2(folder.path() / "m.pt2", {});
    CHECK(unusual_type(loaded.graph.find("w")->meta()) == "f8_e8m0[2]");
    CHECK(same_bits(loaded.graph.attributes.at("w"), Tensor::of<std::uint8_t>({0x7f, 0x80})));
    CHECK_NOTHROW(checked_graph(loaded.graph, "m.pt2"));
}

TEST_CASE("a higher-order op that Whittle does not run is an opaque call with its nested graphs") {
    // The file says bf16, as under autocast: it is believed.
    const std::string narrow = R"({"dtype": 13, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7})";
    const std::string twice =
        node("aten.add.Tensor", argument("self", tensor("x")) + "," + argument("other", tensor("x")), tensor("twice"));
    const LoadedProgram loaded = load_program(
        node("higher_order.flex_attention",
             argument("", tensor("x")) + "," +
                 argument("", nested("score", graph(tensor("x"), twice, tensor("twice"), R"("twice": )" + narrow))) +
                 "," + argument("", R"({"as_operator": "torch.ops.aten.add.Tensor"})"),
             tensor("y")),
        returned("y"), R"("y": )" + kStated);
    const Node& call = *loaded.graph.find("y");
    CHECK(call.target == "higher_order.flex_attention");
    CHECK(call.args.at(1) == Arg(GraphRef{"score"}));
    CHECK(call.args.at(2) == Arg("torch.ops.aten.add.Tensor"));
    CHECK(loaded.graph.subgraphs.at("score")->find("twice")->meta().dtype == DType::bf16);
    CHECK_NOTHROW(checked_graph(loaded.graph, "m.pt2"));
}

}  // namespace whittle::pt2::programs
