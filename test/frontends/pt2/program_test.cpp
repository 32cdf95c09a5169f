// Graphs of exported programs: what is written, nested graphs, lists of results.
#include <catch2/catch.hpp>

#include "archives.h"
#include "base/error.h"
#include "base/files.h"
#include "frontends/pt2/load.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::pt2;

namespace {

std::string tensor(const std::string& name) { return R"({"as_tensor": {"name": ")" + name + R"("}})"; }

/// An argument that goes by position.
std::string argument(const std::string& name, const std::string& value) {
    return R"({"name": ")" + name + R"(", "kind": 1, "arg": )" + value + "}";
}

std::string node(const std::string& target, const std::string& inputs, const std::string& outputs) {
    return R"({"target": "torch.ops.)" + target + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs + "]}";
}

std::string graph(const std::string& inputs, const std::string& nodes, const std::string& outputs) {
    return R"({"inputs": [)" + inputs + R"(], "nodes": [)" + nodes + R"(], "outputs": [)" + outputs +
           R"(], "tensor_values": {"x": {"dtype": 7, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "layout": 7}}})";
}

std::string nested(const std::string& name, const std::string& body) {
    return R"({"as_graph": {"name": ")" + name + R"(", "graph": )" + body + "}}";
}

/// A program of one input f32[3], "x", and a buffer f32[2], "w" in the graph.
LoadedProgram load_program(const std::string& nodes, const std::string& output_specs) {
    const float values[] = {10, 100};
    const TempDir folder;
    write_archive(
        folder.path() / "m.pt2",
        {{"m/archive_format", "pt2"},
         {"m/data/weights/model_weights_config.json",
          R"({"config": {"w": {"path_name": "w0", "tensor_meta": {"dtype": 7, "sizes": [{"as_int": 2}],
              "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7}}}})"},
         {"m/data/weights/w0", std::string(reinterpret_cast<const char*>(values), sizeof values)},
         {"m/models/model.json",
          R"({"schema_version": {"major": 8, "minor": 14}, "graph_module": {"graph": )" + graph("", nodes, "") +
              R"(, "signature": {"input_specs": [{"buffer": {"arg": {"name": "w"}, "buffer_name": "w"}},
                  {"user_input": {"arg": )" +
              tensor("x") + R"(}}], "output_specs": [)" + output_specs + "]}}}"}});
    return load_pt2(folder.path() / "m.pt2");
}

std::string returned(const std::string& name) { return R"({"user_output": {"arg": )" + tensor(name) + "}}"; }

std::vector<std::vector<double>> results(const LoadedProgram& program) {
    const Tensor x = Tensor::of<float>({1, 2, 3});
    std::vector<std::vector<double>> values;
    for (const Tensor& result : evaluate(program.graph, {&x, 1})) values.push_back(result.values<double>());
    return values;
}

const std::string kDouble =
    node("aten.add.Tensor", argument("self", tensor("v")) + "," + argument("other", tensor("v")), tensor("twice"));
const std::string kNegate = node("aten.neg.default", argument("self", tensor("v")), tensor("minus"));

}  // namespace

TEST_CASE("what a program leaves in a buffer is a further output, behind its own") {
    const LoadedProgram loaded =
        load_program(node("aten.neg.default", argument("self", tensor("w")), tensor("new_w")) + "," +
                         node("aten.relu.default", argument("self", tensor("x")), tensor("y")),
                     R"({"buffer_mutation": {"arg": {"name": "new_w"}, "buffer_name": "w"}},)" + returned("y"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{1, 2, 3}, {-10, -100}});
}

TEST_CASE("cond is a call with two nested graphs") {
    const std::string positive =
        node("aten.sum.default", argument("self", tensor("x")), tensor("sum")) + "," +
        node("aten.gt.Scalar", argument("self", tensor("sum")) + "," + argument("other", R"({"as_int": 0})"),
             tensor("positive"));
    const auto cond = [&](const std::string& pred) {
        return node("higher_order.cond",
                    argument("", tensor(pred)) + "," +
                        argument("", nested("yes", graph(tensor("v"), kDouble, tensor("twice")))) + "," +
                        argument("", nested("no", graph(tensor("v"), kNegate, tensor("minus")))) + "," +
                        argument("", R"({"as_tensors": [{"name": "x"}]})"),
                    R"({"as_tensors": [{"name": "chosen"}]})");
    };
    CHECK(results(load_program(positive + "," + cond("positive"), returned("chosen"))) ==
          std::vector<std::vector<double>>{{2, 4, 6}});
    const std::string no = node("aten.logical_not.default", argument("self", tensor("positive")), tensor("not"));
    CHECK(results(load_program(positive + "," + no + "," + cond("not"), returned("chosen"))) ==
          std::vector<std::vector<double>>{{-1, -2, -3}});
}

TEST_CASE("while_loop repeats its graph, and map runs it on slices") {
    const std::string below =
        node("aten.sum.default", argument("self", tensor("v")), tensor("s")) + "," +
        node("aten.lt.Scalar", argument("self", tensor("s")) + "," + argument("other", R"({"as_int": 40})"),
             tensor("go"));
    CHECK(results(load_program(
              node("higher_order.while_loop",
                   argument("", nested("until", graph(tensor("v"), below, tensor("go")))) + "," +
                       argument("", nested("step", graph(tensor("v"), kDouble, tensor("twice")))) + "," +
                       argument("", R"({"as_tensors": [{"name": "x"}]})") + "," + argument("", R"({"as_tensors": []})"),
                   R"({"as_tensors": [{"name": "end"}]})"),
              returned("end"))) == std::vector<std::vector<double>>{{8, 16, 24}});
    CHECK(results(load_program(
              node("higher_order.map_impl",
                   argument("", nested("body", graph(tensor("v"), kNegate, tensor("minus")))) + "," +
                       argument("", R"({"as_tensors": [{"name": "x"}]})") + "," + argument("", R"({"as_tensors": []})"),
                   R"({"as_tensors": [{"name": "mapped"}]})"),
              returned("mapped"))) == std::vector<std::vector<double>>{{-1, -2, -3}});
}

TEST_CASE("scan hands values on from slice to slice") {
    // carried + slice, twice that as what is kept of each
    const std::string step =
        node("aten.add.Tensor", argument("self", tensor("c")) + "," + argument("other", tensor("v")), tensor("next")) +
        "," +
        node("aten.mul.Tensor", argument("self", tensor("next")) + "," + argument("other", tensor("f")),
             tensor("kept"));
    const std::string first = node("aten.select.int",
                                   argument("self", tensor("x")) + "," + argument("dim", R"({"as_int": 0})") + "," +
                                       argument("index", R"({"as_int": 2})"),
                                   tensor("start"));
    CHECK(results(load_program(
              first + "," +
                  node("higher_order.scan",
                       argument("", nested("body", graph(tensor("c") + "," + tensor("v") + "," + tensor("f"), step,
                                                         tensor("next") + "," + tensor("kept")))) +
                           "," + argument("", R"({"as_tensors": [{"name": "start"}]})") + "," +
                           argument("", R"({"as_tensors": [{"name": "x"}]})") + "," +
                           argument("", R"({"as_tensors": [{"name": "start"}]})"),
                       R"({"as_tensors": [{"name": "last"}, {"name": "all"}]})"),
              returned("last") + "," + returned("all"))) == std::vector<std::vector<double>>{{9}, {12, 18, 27}});
}

TEST_CASE("what only sets the grad mode is written out") {
    const LoadedProgram loaded =
        load_program(node("higher_order.wrap_with_set_grad_enabled",
                          argument("", R"({"as_bool": false})") + "," +
                              argument("", nested("inner", graph(tensor("v"), kDouble, tensor("twice")))) + "," +
                              argument("", tensor("x")),
                          tensor("y")),
                     returned("y"));
    CHECK(loaded.graph.subgraphs.empty());
    CHECK(results(loaded) == std::vector<std::vector<double>>{{2, 4, 6}});
}

TEST_CASE("lists of results and numbers among the outputs") {
    const LoadedProgram loaded = load_program(
        node("aten.split.Tensor", argument("self", tensor("x")) + "," + argument("split_size", R"({"as_int": 2})"),
             R"({"as_tensors": [{"name": "front"}, {"name": "back"}]})"),
        returned("back") + R"(,{"user_output": {"arg": {"as_int": 7}}},)" + returned("front"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{3}, {1, 2}});
}

TEST_CASE("what a program asserts of its sizes is checked") {
    const auto asserting = [](const std::string& most) {
        return node("aten.sym_size.int", argument("self", tensor("x")) + "," + argument("dim", R"({"as_int": 0})"),
                    R"({"as_sym_int": {"as_name": "n"}})") +
               "," + R"({"target": "_operator.le", "inputs": [)" +
               argument("a", R"({"as_sym_int": {"as_name": "n"}})") + "," +
               argument("b", R"({"as_int": )" + most + "}") +
               R"(], "outputs": [{"as_sym_bool": {"as_name": "small"}}]},)" +
               node("aten._assert_scalar.default",
                    argument("self", R"({"as_sym_bool": {"as_name": "small"}})") + "," +
                        argument("assert_msg", R"({"as_string": "at most )" + most + R"( rows"})"),
                    "");
    };
    CHECK(results(load_program(asserting("3"), returned("x"))) == std::vector<std::vector<double>>{{1, 2, 3}});
    CHECK_THROWS_WITH(load_program(asserting("2"), returned("x")),
                      Catch::Contains("node 2 (torch.ops.aten._assert_scalar.default): an assertion of the program "
                                      "fails for the sizes of the inputs") &&
                          Catch::Contains("at most 2 rows"));
}

TEST_CASE("nested graphs have a limit of depth") {
    std::string body = graph(tensor("v"), kNegate, tensor("minus"));
    for (int i = 0; i < 70; ++i)
        body = graph(tensor("v"),
                     node("higher_order.wrap_with_set_grad_enabled",
                          argument("", R"({"as_bool": true})") + "," + argument("", nested("g", body)) + "," +
                              argument("", tensor("v")),
                          tensor("minus")),
                     tensor("minus"));
    CHECK_THROWS_WITH(load_program(node("higher_order.wrap_with_set_grad_enabled",
                                        argument("", R"({"as_bool": true})") + "," + argument("", nested("g", body)) +
                                            "," + argument("", tensor("x")),
                                        tensor("y")),
                                   returned("y")),
                      Catch::Contains("deep"));
}

TEST_CASE("what a program asserts of a value is a node, which is asked when the graph runs") {
    const std::string assertion =
        node("aten.sum.default", argument("self", tensor("x")), tensor("sum")) + "," +
        node("aten.lt.Scalar", argument("self", tensor("sum")) + "," + argument("other", R"({"as_int": 7})"),
             tensor("below")) +
        "," +
        node("aten._assert_async.msg",
             argument("self", tensor("below")) + "," + argument("assert_msg", R"({"as_string": "below 7"})"), "") +
        "," + node("aten.relu.default", argument("self", tensor("x")), tensor("y"));
    const LoadedProgram loaded = load_program(assertion, returned("y"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{1, 2, 3}});
    const Tensor more = Tensor::of<float>({1, 2, 4});
    CHECK_THROWS_WITH(evaluate(loaded.graph, {&more, 1}),
                      Catch::Contains("_assert_async") && Catch::Contains("below 7: found false"));
}
