// The debug backends: each agrees with eager on everything that is right, and names what is not.
#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "graph/text.h"
#include "ops/core/custom.h"
#include "ops/core/registry.h"
#include "ops/samples/table.h"
#include "run_on.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

std::string failure_of(const char* name, const Graph& graph, const std::vector<Tensor>& inputs) {
    const RunResult result = test::run_on(*find_backend(name), graph, inputs);
    const auto* failure = std::get_if<BackendFailure>(&result);
    return failure ? failure->message : "";
}

const Tensor kTwo = Tensor::of<float>({1, 2});

/// One call of an op that returns its operand plus one, with what is wrong about it.
Graph one_call(const std::string& target, void (*spoil)(Tensor& operand, Tensor& result)) {
    register_op({.target = target,
                 .schema = target.substr(target.find('.') + 1) + "(Tensor x) -> Tensor",
                 .infer = [](const Arguments<ValueMeta>& a) { return std::vector{a.tensor("x")}; },
                 .eval =
                     [spoil](const Arguments<Tensor>& a) {
                         Tensor x = a.tensor("x"), y = x.clone();
                         spoil(x, y);
                         return std::vector{y};
                     }});
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::of(kTwo));
    graph.output({graph.add({.target = target, .args = {x}, .results = {ValueMeta::of(kTwo)}})});
    return graph;
}

}  // namespace

TEST_CASE("debug backends agree with eager on every op and sample", "[debug]") {
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (op.def->random || !(op.def->dtypes & set_of(DType::f32))) continue;
        for (const Sample& sample : samples_of(op, DType::f32)) {
            const Graph graph = graph_of(op, sample);
            CAPTURE(op.name, sample.label);
            const RunResult expected = test::run_on(*find_backend("eager"), graph, sample.inputs());
            for (const char* name : {"eager_noexcept", "eager_debug", "pre_dispatch_eager", "roundtrip", "aot_eager"}) {
                const RunResult got = test::run_on(*find_backend(name), graph, sample.inputs());
                CAPTURE(name);
                REQUIRE(got.index() == expected.index());
                if (const auto* failure = std::get_if<BackendFailure>(&got)) FAIL(failure->message);
                const Values &ours = std::get<Values>(got), &theirs = std::get<Values>(expected);
                REQUIRE(ours.size() == theirs.size());
                for (std::size_t i = 0; i < ours.size(); ++i)
                    CHECK(!compare(ours[i], theirs[i], Accuracy{.mode = Accuracy::Mode::strict}));
            }
        }
    }
}

TEST_CASE("eager_debug holds ops to their schemas", "[debug]") {
    using Catch::Contains;
    const std::vector<Tensor> inputs = {kTwo.clone()};
    const auto message = [&](const Graph& graph) { return failure_of("eager_debug", graph, inputs); };
    CHECK(message(one_call("debug_test.right", [](Tensor&, Tensor&) {})).empty());
    CHECK_THAT(message(one_call("debug_test.writes", [](Tensor& x, Tensor&) { x.mutable_data<float>()[0] = -0.0F; })),
               Contains("debug_test.writes wrote to the operand 'x'"));
    CHECK_THAT(message(one_call("debug_test.shares", [](Tensor& x, Tensor& y) { y = x; })),
               Contains("result 0 of debug_test.shares shares memory with the operand 'x'"));
    CHECK_THAT(message(one_call("debug_test.other",
                                [](Tensor&, Tensor& y) {
                                    y = Tensor::of<double>({1, 2});
                                })),
               Contains("is f64[2], recorded is f32[2]"));
    CHECK_THAT(message(one_call("debug_test.two",
                                [](Tensor&, Tensor& y) {
                                    y = y.as_strided({1, 2}, {2, 1}, 0);
                                })),
               Contains("is f32[1, 2], recorded is f32[2]"));
}

TEST_CASE("eager_debug and crossref see that results share memory with each other", "[debug]") {
    const auto message = [](const char* backend, const std::string& target, bool same) {
        register_op({.target = target,
                     .schema = target.substr(target.find('.') + 1) + "(Tensor x) -> (Tensor, Tensor)",
                     .infer =
                         [](const Arguments<ValueMeta>& a) {
                             return std::vector{a.tensor("x"), a.tensor("x")};
                         },
                     .eval =
                         [same](const Arguments<Tensor>& a) {
                             const Tensor y = a.tensor("x").clone();
                             return std::vector{y, same ? y : y.clone()};
                         }});
        const Graph graph = parse("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %t = " + target +
                                  "(%x) : (f32[2], f32[2])\n  %a = getitem(%t, 0) : f32[2]\n" +
                                  "  %b = getitem(%t, 1) : f32[2]\n  return (%a, %b)\n}\n");
        return failure_of(backend, graph, std::vector<Tensor>{kTwo.clone()});
    };
    for (const char* backend : {"eager_debug", "aot_eager_decomp_partition_crossref"}) {
        CAPTURE(backend);
        CHECK_THAT(message(backend, "debug_test.twins", true),
                   Catch::Contains("results 0 and 1 of debug_test.twins share memory"));
        CHECK(message(backend, "debug_test.sisters", false).empty());
    }
}

TEST_CASE("non_leaf_compile_error refuses an input that requires a gradient and that the program computed", "[debug]") {
    const auto message = [&](const std::string& source, const std::string& meta) {
        return failure_of(
            "non_leaf_compile_error_TESTING_ONLY",
            parse("graph g {\n  %w = placeholder[\"L['w']\"] : f32[2] grad\n  %h = placeholder[\"" + source +
                  "\"] : f32[2]" + meta + "\n  %y = aten.neg.default(%h) : f32[2]\n  return (%y)\n}\n"),
            std::vector<Tensor>{kTwo, kTwo});
    };
    CHECK(message("___live[0]", " grad nonleaf") == "TestingOnlyCompileError");
    CHECK(message("L['x']", " grad nonleaf") == "TestingOnlyCompileError");
    CHECK(message("___live[0]", " grad").empty());
    CHECK(message("L['x']", "").empty());
    const Graph idle = parse("graph g {\n  %h = placeholder[\"___live[0]\"] : f32[2] grad nonleaf\n  return (%h)\n}\n");
    CHECK(failure_of("non_leaf_compile_error_TESTING_ONLY", idle, std::vector<Tensor>{kTwo}).empty());
}

TEST_CASE("crossref holds what is inferred of ops from outside against what they give", "[debug]") {
    using Catch::Contains;
    // Each backend has inputs of its own, for one of the ops writes to them. Whoever does not ask what is inferred sees
    // nothing wrong.
    const auto message = [&](const Graph& graph) {
        const auto given = [] { return std::vector<Tensor>{kTwo.clone()}; };
        CHECK(failure_of("aot_eager_decomp_partition", graph, given()).empty());
        return failure_of("aot_eager_decomp_partition_crossref", graph, given());
    };
    CHECK(message(one_call("debug_test.right", [](Tensor&, Tensor&) {})).empty());
    CHECK_THAT(message(one_call("debug_test.lies",
                                [](Tensor&, Tensor& y) {
                                    y = Tensor::of<double>({1, 2});
                                })),
               Contains("result 0 of debug_test.lies is f64[2], inferred is f32[2]"));
    CHECK_THAT(message(one_call("debug_test.keeps", [](Tensor& x, Tensor& y) { y = x; })),
               Contains("result 0 of debug_test.keeps shares memory with the operand 'x'"));
    CHECK_THAT(message(one_call("debug_test.spoils", [](Tensor& x, Tensor&) { x.mutable_data<float>()[0] = -0.0F; })),
               Contains("debug_test.spoils wrote to the operand 'x'"));
}

TEST_CASE("crossref finds nothing wrong with what is inferred of our own ops and their gradients", "[debug]") {
    const auto backend = find_backend("aot_eager_decomp_partition_crossref");
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (op.def->random || !(op.def->dtypes & set_of(DType::f32))) continue;
        for (const Sample& sample : samples_of(op, DType::f32)) {
            CAPTURE(op.name, sample.label);
            const RunResult got = test::run_on(*backend, graph_of(op, sample), sample.inputs(), {{"ops", "all"}});
            if (const auto* failure = std::get_if<BackendFailure>(&got)) FAIL_CHECK(failure->message);
        }
    }
}

TEST_CASE("pre_dispatch_eager infers anew, eager_noexcept tells what throws, and where", "[debug]") {
    using Catch::Contains;
    Graph graph = one_call("debug_test.right", [](Tensor&, Tensor&) {});
    graph.nodes[1].results = {ValueMeta::contiguous(DType::f32, {3})};
    const std::vector<Tensor> inputs = {kTwo.clone()};
    CHECK_THAT(failure_of("pre_dispatch_eager", graph, inputs), Contains("is inferred as f32[2], recorded is f32[3]"));
    CHECK(failure_of("eager_noexcept", graph, inputs).empty());
    const Graph throws = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %i = placeholder["i"] : i64[1]
  %y = aten.index_select.default(%x, 0, %i) : f32[1]
  return (%y)
})");
    CHECK_THAT(failure_of("eager_noexcept", throws, std::vector<Tensor>{kTwo, Tensor::of<std::int64_t>({7})}),
               Contains("the captured graph throws an exception that the program did not throw") && Contains("%y"));
}

TEST_CASE("each debug backend fails at something that the one before it takes", "[debug]") {
    const auto fails_first = [](const char* before, const char* name, const Graph& graph) {
        CAPTURE(name);
        CHECK(failure_of(before, graph, std::vector<Tensor>{kTwo.clone()}).empty());
        return failure_of(name, graph, std::vector<Tensor>{kTwo.clone()});
    };
    using Catch::Contains;
    const auto right = [](Tensor&, Tensor&) {};
    Graph misremembered = one_call("debug_test.right", right);
    misremembered.nodes[1].results = {ValueMeta::contiguous(DType::f32, {3})};
    CHECK_THAT(fails_first("eager", "pre_dispatch_eager", misremembered), Contains("recorded is f32[3]"));
    const Graph writes = one_call("debug_test.writes", [](Tensor& x, Tensor&) { x.mutable_data<float>()[0] = 7; });
    CHECK_THAT(fails_first("pre_dispatch_eager", "eager_debug", writes), Contains("wrote to the operand 'x'"));
    Graph unspellable = one_call("debug_test.right", right);
    unspellable.nodes[0].name = "x y";
    CHECK_THAT(fails_first("eager_debug", "roundtrip", unspellable), Contains("the written graph cannot be read back"));
    unspellable.nodes[0].name = "\xff";  // no UTF-8
    CHECK_THAT(fails_first("eager_debug", "roundtrip", unspellable), Contains("the written graph cannot be read back"));
}

TEST_CASE("modes are around each call, and nan names the first that gives one", "[debug]") {
    using Catch::Contains;
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %l = aten.log.default(%x) : f32[2]
  %y = aten.neg.default(%l) : f32[2]
  return (%y)
})");
    const std::vector<Tensor> fine = {Tensor::of<float>({1, 2})}, wrong = {Tensor::of<float>({1, -2})};
    CHECK(failure_of("eager", graph, wrong).empty());
    CHECK(failure_of("aot_eager_decomp_partition", graph, wrong).empty());
    for (const char* name : {"eager_with_modes", "aot_eager_decomp_partition_with_mode"}) {
        CAPTURE(name);
        CHECK(failure_of(name, graph, fine).empty());
        CHECK_THAT(failure_of(name, graph, wrong), Contains("of aten.log.default has NaN: 1 of 2 values"));
    }
    const auto backend = find_backend("eager_with_modes");
    const RunResult all = test::run_on(*backend, graph, fine, {{"modes", "log;time;memory;nan"}});
    CHECK(!compare(std::get<Values>(all).at(0),
                   std::get<Values>(test::run_on(*find_backend("eager"), graph, fine)).at(0),
                   Accuracy{.mode = Accuracy::Mode::strict}));
    CHECK_THROWS_WITH(check_options(*backend, {{"modes", "log;nans"}}), Contains("one of log, nan, time, memory"));
    CHECK_THROWS_WITH(check_options(*backend, {{"modes", ""}}), Contains("one of log, nan, time, memory"));
}

}  // namespace whittle
