// Nested graphs of exported programs.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "programs.h"
#include "trace/load.h"

namespace whittle::pt2::programs {

TEST_CASE("a checkpoint runs its graph on the operands, whatever its options say") {
    const LoadedProgram loaded = load_program(
        node("higher_order.tag_activation_checkpoint",
             argument("", nested("inner", graph(tensor("v"), kDouble, tensor("twice")))) + "," +
                 argument("", tensor("x")) + R"(, {"name": "use_reentrant", "kind": 2, "arg": {"as_bool": false}})",
             tensor("y")),
        returned("y"));
    CHECK(loaded.graph.subgraphs.empty());
    CHECK(results(loaded) == std::vector<std::vector<double>>{{2, 4, 6}});
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
    const std::string start = argument("", R"({"as_tensors": [{"name": "start"}]})");
    // `older`: what PyTorch 2.6 has in front of the operands of all slices.
    const auto scan = [&](const std::string& older, const std::string& values = "") {
        return load_program(
            first + "," +
                node("higher_order.scan",
                     argument("", nested("body", graph(tensor("c") + "," + tensor("v") + "," + tensor("f"), step,
                                                       tensor("next") + "," + tensor("kept"), values))) +
                         "," + start + "," + argument("", R"({"as_tensors": [{"name": "x"}]})") + "," + older + start,
                     R"({"as_tensors": [{"name": "last"}, {"name": "all"}]})"),
            returned("last") + "," + returned("all"), values);
    };
    const auto direction = [&](const char* reverse) {
        return argument("", R"({"as_int": 0})") + "," + argument("", reverse) + ",";
    };
    const std::vector<std::vector<double>> expected{{9}, {12, 18, 27}};
    CHECK(results(scan("")) == expected);
    CHECK(results(scan(direction(R"({"as_bool": false})"))) == expected);
    // From the last slice to the first it is an opaque call.
    std::string values = R"("all": )" + kStated;
    for (const char* scalar : {"c", "v", "f", "next", "kept", "last"})
        values += ", \"" + std::string(scalar) + R"(": {"dtype": 7, "sizes": [], "strides": [], "layout": 7})";
    const LoadedProgram reversed = scan(direction(R"({"as_bool": true})"), values);
    CHECK(reversed.graph.find("last")->target == "torch.ops.higher_order.scan");
    CHECK(reversed.graph.find("last")->args.at(4) == Arg(true));
    CHECK_NOTHROW(checked_graph(reversed.graph, "m.pt2"));
    CHECK(reversed.graph.find("last")->args.at(0) == Arg(GraphRef{"body"}));
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

}  // namespace whittle::pt2::programs
