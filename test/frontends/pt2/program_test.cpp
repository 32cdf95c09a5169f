// Graphs of exported programs: what is written, lists of results, what is asserted.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "programs.h"
#include "trace/load.h"

namespace whittle::pt2::programs {

TEST_CASE("what a program leaves in a buffer is a further output, behind its own") {
    const LoadedProgram loaded =
        load_program(node("aten.neg.default", argument("self", tensor("w")), tensor("new_w")) + "," +
                         node("aten.relu.default", argument("self", tensor("x")), tensor("y")),
                     R"({"buffer_mutation": {"arg": {"name": "new_w"}, "buffer_name": "w"}},)" + returned("y"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{1, 2, 3}, {-10, -100}});
    CHECK(loaded.user_outputs == 1);
    CHECK(loaded.updates == std::vector<std::string>{"w"});
}

TEST_CASE("an op of lists of tensors is the op of one tensor for each") {
    const auto tensors = [](const std::string& names) { return R"({"as_tensors": [)" + names + "]}"; };
    const auto name = [](const std::string& name) { return R"({"name": ")" + name + R"("})"; };
    const std::string both = tensors(name("x") + "," + name("w"));
    const LoadedProgram loaded = load_program(
        node("aten._foreach_mul.ScalarList",
             argument("self", both) + "," + argument("scalars", R"({"as_floats": [2.0, 3.0]})"),
             tensors(name("a") + "," + name("b"))) +
            "," +
            node("aten._foreach_addcmul_.Scalar",
                 argument("self", tensors(name("a"))) + "," + argument("tensor1", tensors(name("x"))) + "," +
                     argument("tensor2", tensors(name("x"))) + "," + argument("value", R"({"as_float": 10.0})"),
                 "") +
            "," +
            node("aten._foreach_maximum.Scalar",
                 argument("self", tensors(name("b"))) + "," + argument("scalar", R"({"as_float": 31.0})"),
                 tensors(name("c"))),
        returned("a") + "," + returned("b") + "," + returned("c"));
    CHECK(results(loaded) == std::vector<std::vector<double>>{{12, 44, 96}, {30, 300}, {31, 300}});
    for (const NodeId id : loaded.graph.calls())
        CHECK(loaded.graph.node({id}).target.find("_foreach_") == std::string::npos);
}

TEST_CASE("tokens, objects and numbers among the inputs are no inputs of the graph") {
    const std::string more =
        R"(, {"token": {"arg": {"name": "t"}}}, {"constant_input": {"name": "mode", "value": {"as_string": "mul"}}},
            {"custom_obj": {"arg": {"name": "o", "class_fqn": "lib.Queue"}, "custom_obj_name": "queue"}},
            {"user_input": {"arg": )" +
        kNumber + "}}";
    const auto load = [&](const LoadOptions& options) {
        return load_program(kTimesNumber, R"({"token": {"arg": {"name": "t2"}}}, )" + returned("y"),
                            stating_number(R"json({"as_expr": {"expr_str": "Symbol('s3', integer=True)",
                                "hint": {"as_int": 7}}})json"),
                            options, more);
    };
    CHECK(load({}).graph.placeholders().size() == 1);
    CHECK(load({}).assumed_dims == std::vector<std::string>{"s3=7"});
    CHECK(results(load({})) == std::vector<std::vector<double>>{{7, 14, 21}});
    CHECK(results(load({.dims = {{"s3", 2}}})) == std::vector<std::vector<double>>{{2, 4, 6}});
}

TEST_CASE("a mask among index tensors is the positions that the values given choose") {
    const Tensor x = Tensor::of<float>({1, 2, 3});
    const LoadedProgram loaded = load_program(
        node("aten.gt.Scalar", argument("self", tensor("x")) + "," + argument("other", R"({"as_int": 1})"),
             tensor("mask")) +
            "," +
            node("aten.index.Tensor",
                 argument("self", tensor("x")) + "," + argument("indices", R"({"as_tensors": [{"name": "mask"}]})"),
                 tensor("chosen")),
        returned("chosen"),
        R"json("chosen": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "Symbol('u0', integer=True)"}}],
            "strides": [{"as_int": 1}], "layout": 7})json",
        {.values = [&](const Graph&) { return std::vector<Tensor>{x}; }});
    CHECK(results(loaded) == std::vector<std::vector<double>>{{2, 3}});
    CHECK(loaded.data_sizes == std::vector<std::string>{"u0=2"});
}

TEST_CASE("batch norm in training is read with its writes to the running statistics") {
    const std::string row = R"({"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 2}],
        "strides": [{"as_int": 2}, {"as_int": 1}], "layout": 7})";
    const std::string none = R"({"as_none": true})";
    const LoadedProgram loaded = load_program(
        node("aten.reshape.default", argument("self", tensor("w")) + "," + argument("shape", R"({"as_ints": [1, 2]})"),
             tensor("row")) +
            "," +
            node("aten.expand.default",
                 argument("self", tensor("row")) + "," + argument("size", R"({"as_ints": [2, 2]})"), tensor("batch")) +
            "," +
            node("aten.batch_norm.default",
                 argument("input", tensor("batch")) + "," + argument("weight", none) + "," + argument("bias", none) +
                     "," + argument("running_mean", tensor("w")) + "," + argument("running_var", tensor("w")) + "," +
                     argument("training", R"({"as_bool": true})") + "," + argument("momentum", R"({"as_float": 0.5})") +
                     "," + argument("eps", R"({"as_float": 1e-5})") + "," +
                     argument("cudnn_enabled", R"({"as_bool": true})"),
                 tensor("y")),
        returned("y"), R"("y": )" + row);
    std::vector<std::string> updates;
    const Graph function = checked_graph(loaded.graph, "m.pt2", {}, &updates);
    CHECK(updates == std::vector<std::string>{"w"});
    CHECK(function.outputs().size() == 2);
}

namespace {

std::string integer(int value) { return R"({"as_int": )" + std::to_string(value) + "}"; }

/// A call that is no op: "torch._C._set_grad_enabled".
std::string marker(const std::string& target, const std::string& inputs, const std::string& outputs) {
    return R"({"target": ")" + target + R"(", "inputs": [)" + inputs + R"(], "outputs": [)" + outputs + "]}";
}
std::string vmap(const std::string& name, const std::string& inputs, const std::string& outputs) {
    return marker("torch._functorch.predispatch." + name, inputs, outputs);
}
std::string add_dim(const std::string& from, int level, const std::string& to) {
    return vmap("_add_batch_dim",
                argument("", tensor(from)) + "," + argument("", integer(0)) + "," + argument("", integer(level)),
                tensor(to));
}
std::string remove_dim(const std::string& from, int level, int size, const std::string& to) {
    return vmap("_remove_batch_dim",
                argument("", tensor(from)) + "," + argument("", integer(level)) + "," + argument("", integer(size)) +
                    "," + argument("", integer(0)),
                tensor(to));
}

}  // namespace

TEST_CASE("vmap's hidden dimensions are the first ones of what is computed") {
    const std::string begin = vmap("lazy_load_decompositions", "", "") + "," +
                              vmap("_vmap_increment_nesting", argument("", integer(3)), "") + ",";
    const std::string sum =
        node("aten.add.Tensor", argument("self", tensor("a")) + "," + argument("other", tensor("b")), tensor("sum"));
    const std::string end = "," + remove_dim("sum", 2, 3, "inner") + "," + vmap("_vmap_decrement_nesting", "", "") +
                            "," + remove_dim("inner", 1, 3, "all");
    const LoadedProgram sums =
        load_program(begin + add_dim("x", 1, "a") + "," + add_dim("x", 2, "b") + "," + sum + end, returned("all"));
    CHECK(results(sums) == std::vector<std::vector<double>>{{2, 3, 4, 3, 4, 5, 4, 5, 6}});

    // What does not vary is repeated.
    const LoadedProgram repeated = load_program(
        add_dim("x", 1, "a") + "," + remove_dim("a", 2, 2, "inner") + "," + remove_dim("inner", 1, 3, "all"),
        returned("all"));
    CHECK(results(repeated) == std::vector<std::vector<double>>{{1, 1, 2, 2, 3, 3}});

    // Positions that vary, of a tensor that does not, and of one that does.
    const std::string positions = node("aten.arange.default", argument("end", integer(2)), tensor("p"));
    const auto indexed = [](const std::string& from, const std::string& at) {
        return node("aten.index.Tensor",
                    argument("self", tensor(from)) + "," +
                        argument("indices", R"({"as_optional_tensors": [{"as_tensor": {"name": ")" + at + R"("}}]})"),
                    tensor("read"));
    };
    CHECK(results(load_program(
              positions + "," + add_dim("p", 1, "q") + "," + indexed("x", "q") + "," + remove_dim("read", 1, 2, "all"),
              returned("all"))) == std::vector<std::vector<double>>{{1, 2}});
    const std::string table =
        node("aten.outer.default", argument("self", tensor("w")) + "," + argument("vec2", tensor("x")), tensor("t"));
    CHECK(results(load_program(table + "," + positions + "," + add_dim("t", 1, "row") + "," + add_dim("p", 1, "q") +
                                   "," + indexed("row", "q") + "," + remove_dim("read", 1, 2, "all"),
                               returned("all"))) == std::vector<std::vector<double>>{{10, 200}});

    // Other ops run for each slice, of one dimension or of two.
    CHECK(results(load_program(table + "," + add_dim("t", 1, "row") + "," +
                                   node("aten.sum.default", argument("self", tensor("row")), tensor("read")) + "," +
                                   remove_dim("read", 1, 2, "all"),
                               returned("all"))) == std::vector<std::vector<double>>{{60, 600}});
    const std::string dot =
        node("aten.dot.default", argument("self", tensor("a")) + "," + argument("tensor", tensor("b")), tensor("read"));
    CHECK(results(load_program(table + "," + add_dim("t", 1, "a") + "," + add_dim("t", 2, "b") + "," + dot + "," +
                                   remove_dim("read", 2, 2, "inner") + "," + remove_dim("inner", 1, 2, "all"),
                               returned("all"))) == std::vector<std::vector<double>>{{1400, 14000, 14000, 140000}});
    CHECK_THROWS_WITH(load_program(table + "," + add_dim("t", 1, "row") + "," +
                                       node("aten.aminmax.default", argument("self", tensor("row")), tensor("read")),
                                   returned("read")),
                      Catch::Contains("found aten.aminmax.default with several results inside vmap"));
}

TEST_CASE("an in-place view replaces its operand, and an out variant writes into its argument") {
    const std::string unsqueezed =
        node("aten.neg.default", argument("self", tensor("x")), tensor("n")) + "," +
        node("aten.unsqueeze_.default", argument("self", tensor("n")) + "," + argument("dim", integer(0)), tensor("u"));
    const LoadedProgram view = load_program(unsqueezed, returned("n"));
    CHECK(view.graph.node(NodeRef{view.graph.outputs().at(0)}).meta().sizes == Sizes{1, 3});
    CHECK(print(view.graph).find("unsqueeze_") == std::string::npos);

    const std::string zeros = node("aten.zeros_like.default", argument("self", tensor("x")), tensor("z"));
    const std::string out = R"({"name": "out", "kind": 2, "arg": )" + tensor("z") + "}";
    const std::string sum = node(
        "aten.add.out", argument("self", tensor("x")) + "," + argument("other", tensor("x")) + "," + out, tensor("s"));
    CHECK(results(load_program(zeros + "," + sum, returned("z") + "," + returned("s"))) ==
          std::vector<std::vector<double>>{{2, 4, 6}, {2, 4, 6}});
}

TEST_CASE("grad modes say nothing, and autocast converts what the file says that it does") {
    const std::string grad = marker("torch._C._set_grad_enabled", argument("", R"({"as_bool": false})"), "");
    const auto enter = [](const std::string& enabled) {
        return marker("torch.amp.autocast_mode._enter_autocast",
                      argument("", R"({"as_string": "cpu"})") + "," + argument("", R"({"as_scalar_type": 13})") + "," +
                          argument("", R"({"as_bool": )" + enabled + "}"),
                      "");
    };
    const std::string leave = marker("torch.amp.autocast_mode._exit_autocast", "", "");
    const std::string product =
        node("aten.mul.Tensor", argument("self", tensor("x")) + "," + argument("other", tensor("x")), tensor("low"));
    const LoadedProgram loaded =
        load_program(grad + "," + enter("true") + "," + product + "," + leave, returned("low"));
    CHECK(loaded.graph.node(NodeRef{loaded.graph.outputs().at(0)}).meta().dtype == DType::bf16);
    CHECK(results(loaded) == std::vector<std::vector<double>>{{1, 4, 9}});
    CHECK_THROWS_WITH(load_program(enter("false") + "," + product + "," + leave, returned("low")),
                      Catch::Contains("but the file declares"));
    CHECK_THROWS_WITH(load_program(leave, returned("x")), Catch::Contains("never began"));
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

}  // namespace whittle::pt2::programs
