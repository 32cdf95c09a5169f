// Positions outside of a dimension: eager refuses them while it runs, and so does halide, of the same call.
#include <algorithm>
#include <catch2/catch.hpp>

#include "backends/eager/eager.h"
#include "backends/halide/halide_backend.h"
#include "base/error.h"
#include "ops/core/interpreter.h"
#include "ops/core/positions.h"
#include "ops/core/registry.h"
#include "ops/samples/samples.h"
#include "ops/samples/table.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

using samples::t;

/// A call whose second tensor, of `sizes`, holds positions in a dimension of `size`.
struct Indexed {
    std::string target;
    Sizes sizes;
    std::int64_t size;
    bool negatives;
    ArgList args;
};

const Tensor kTable = samples::ramp(DType::f32, {3, 4}), kRows = samples::ramp(DType::f32, {2, 4}),
             kRow = samples::ramp(DType::f32, {2});

const std::vector<Indexed>& calls() {
    const auto list = [](const Arg& first, const Arg& second) { return Arg(ArgList{first, second}); };
    static const std::vector<Indexed> calls = {
        {"aten.gather.default", {2, 4}, 3, false, {t(0), 0, t(1)}},
        {"aten.gather.default", {3, 2}, 4, false, {t(0), -1, t(1)}},
        {"aten.index_select.default", {2}, 4, false, {t(0), 1, t(1)}},
        {"aten.embedding.default", {2, 2}, 3, false, {t(0), t(1)}},
        {"aten.take.default", {2, 2}, 12, true, {t(0), t(1)}},
        {"aten.scatter.src", {2, 4}, 3, false, {t(0), 0, t(1), t(2)}},
        {"aten.scatter.value", {3, 2}, 4, false, {t(0), 1, t(1), 7}},
        {"aten.scatter_add.default", {2, 4}, 3, false, {t(0), 0, t(1), t(2)}},
        {"aten.scatter_reduce.two", {2, 4}, 3, false, {t(0), 0, t(1), t(2), "amax"}},
        {"aten.index.Tensor", {2}, 3, true, {t(0), list(t(1), Arg())}},
        {"aten.index.Tensor", {2}, 4, true, {t(0), list(Arg(), t(1))}},
        {"aten.index_put.default", {2}, 3, true, {t(0), list(t(1), Arg()), t(2)}},
        {"aten.index_put.default", {2}, 3, true, {t(0), list(t(1), t(1)), t(3), true}},
    };
    return calls;
}

/// The call in a graph; `computed`: its positions are those given, plus 1, minus 1.
Graph graph_of_indexing(const Indexed& call, bool computed) {
    Graph graph;
    GraphBuilder builder(graph);
    std::vector<NodeRef> operands;
    for (const auto& [name, tensor] : {std::pair("x", kTable), std::pair("i", Tensor(DType::i64, call.sizes)),
                                       std::pair("v", kRows), std::pair("w", kRow)})
        operands.push_back(graph.placeholder(name, ValueMeta::contiguous(tensor.dtype(), tensor.sizes())));
    if (computed)
        for (const char* op : {"aten.add.Scalar", "aten.sub.Scalar"})
            operands[1] = builder.call(op, {operands[1], 1}).ref;
    Node node{.target = call.target, .args = call.args};
    node = map_inputs(node, [&](NodeRef ref) { return Arg(operands[static_cast<std::size_t>(ref.id)]); });
    graph.output({builder.call(call.target, node.args).ref});
    return graph;
}

RunResult run_compiled(Backend& backend, const Graph& graph, const Tensor& positions) {
    CompileResult compiled = backend.compile(graph, {});
    if (const auto* failure = std::get_if<BackendFailure>(&compiled)) FAIL(failure->message);
    const std::vector<Tensor> inputs = {kTable, positions, kRows, kRow};
    return std::get<std::unique_ptr<Executable>>(compiled)->run(inputs);
}

TEST_CASE("halide refuses the positions that eager refuses", "[halide][positions]") {
    const auto eager = make_eager_backend();
    const auto halide = halide::make_halide_backend();
    for (const Indexed& call : calls())
        for (const bool computed : {false, true}) {
            const Graph graph = graph_of_indexing(call, computed);
            for (const std::int64_t bad : {call.size, call.negatives ? -call.size - 1 : -1, std::int64_t{1} << 32}) {
                INFO(call.target << " along " << call.size << ", position " << bad << (computed ? ", computed" : ""));
                std::vector<std::int64_t> list(static_cast<std::size_t>(element_count(call.sizes)), 0);
                list.back() = bad;
                const Tensor positions = Tensor::of(list, call.sizes);
                const RunResult expected = run_compiled(*eager, graph, positions),
                                got = run_compiled(*halide, graph, positions);
                REQUIRE(std::holds_alternative<BackendFailure>(expected));
                REQUIRE(std::holds_alternative<BackendFailure>(got));
                CHECK(std::get<BackendFailure>(expected).op == call.target);
                CHECK(std::get<BackendFailure>(got).op == call.target);
                const std::string found =
                    "found index " + std::to_string(bad) + " for a dimension of size " + std::to_string(call.size);
                CHECK_THAT(std::get<BackendFailure>(expected).message, Catch::Contains(found));
                CHECK_THAT(std::get<BackendFailure>(got).message, Catch::Contains(found));
            }
            std::vector<std::int64_t> list(static_cast<std::size_t>(element_count(call.sizes)), 0);
            list.back() = call.size - 1;
            const Tensor positions = Tensor::of(list, call.sizes);
            const RunResult expected = run_compiled(*eager, graph, positions),
                            got = run_compiled(*halide, graph, positions);
            INFO(call.target << ", positions inside");
            REQUIRE(std::holds_alternative<Values>(got));
            CHECK(same_bits(std::get<Values>(got).at(0), std::get<Values>(expected).at(0)));
        }
}

/// What eager says of the sample with a position far outside in operand `i`; empty when it says nothing.
std::string refusal(const Graph& graph, const Sample& sample, std::size_t i) {
    std::vector<Tensor> inputs = sample.inputs();
    std::vector<std::int64_t> list = inputs[i].values<std::int64_t>();
    list.back() = std::int64_t{1} << 30;
    inputs[i] = Tensor::of(list, inputs[i].sizes()).to(inputs[i].dtype());
    try {
        evaluate(graph, inputs);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("every primitive that refuses positions says of which operand", "[positions]") {
    int refused = 0;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.def->lower) continue;
        const DType* dtype = std::ranges::find_if(kAllDTypes, [&](DType d) { return op.def->dtypes & set_of(d); });
        for (const Sample& sample : samples_of(op, *dtype)) {
            const Graph graph = graph_of(op, sample);
            const Node& call = graph.nodes[static_cast<std::size_t>(graph.calls().front())];
            const std::vector<Positions> known = positions_of(graph, call);
            const std::vector<NodeId> placeholders = graph.placeholders();
            for (std::size_t i = 0; i < placeholders.size(); ++i) {
                const Tensor operand = sample.inputs()[i];
                if (!is_integer(operand.dtype()) || size_of(operand.dtype()) < 4 || operand.numel() == 0) continue;
                const std::string problem = refusal(graph, sample, i);
                if (problem.find("found index") == std::string::npos) continue;
                ++refused;
                INFO(op.name << " '" << sample.label << "': " << problem);
                CHECK(std::ranges::any_of(
                    known, [&](const Positions& positions) { return positions.operand.id == placeholders[i]; }));
            }
        }
    }
    CHECK(refused > 30);
}

}  // namespace
}  // namespace whittle
