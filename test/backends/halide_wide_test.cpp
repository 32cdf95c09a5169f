// Every kind of lowering on tensors that are wide and big enough for each rule of the schedule, of odd and prime sizes:
// what Halide computes, with its asserts on, is what eager computes, signs of zeros included. That vectorized and
// parallel loops were in the kernels that ran is counted, not assumed.
#include <algorithm>
#include <catch2/catch.hpp>

#include "backends/halide/halide_backend.h"
#include "backends/halide/planned.h"
#include "differing.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/samples.h"

namespace whittle {
namespace {

using samples::call_of, samples::t;

const Sizes kCube = {5, 67, 211};  // 70685 elements, more than 2^16; odd and prime throughout

/// Random numbers; every seventh is one of the dtype's special values, which so come to lie in every lane.
Tensor mixed(DType dtype, const Sizes& sizes) {
    const Tensor random = samples::random(dtype, sizes), special = samples::special(dtype);
    const std::int64_t count = random.numel();
    std::vector<std::int64_t> from;
    for (std::int64_t i = 0; i < count; ++i) from.push_back(i % 7 == 0 ? count + i / 7 % special.numel() : i);
    const Graph graph = graph_of(
        Registry::instance().require("aten.cat.default"),
        {.label = "", .tensors = {random.as_strided({count}, {1}, 0), special}, .args = {Arg(ArgList{t(0), t(1)}), 0}});
    const Tensor all = evaluate(graph, std::vector<Tensor>{random.as_strided({count}, {1}, 0), special}).at(0);
    const Graph taken =
        graph_of(Registry::instance().require("aten.take.default"), call_of("", {all, Tensor::of(from, sizes)}));
    return evaluate(taken, std::vector<Tensor>{all, Tensor::of(from, sizes)}).at(0);
}

Tensor places(const Sizes& sizes, std::int64_t bound) {
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < element_count(sizes); ++i) list.push_back(i * 7919 % bound);
    return Tensor::of(list, sizes);
}

struct Wide {
    std::string target;
    std::string label;
    std::vector<Tensor> tensors;
    ArgList args;
    std::vector<std::pair<std::string, Arg>> kwargs = {};
    bool vectorized = true, parallel = true;  ///< what the rules find to do
};

/// How many directives of a kind the kernels of the graph have.
int directives(const Graph& graph, expr::Directive::Kind kind) {
    program::CompiledProgram program(graph);
    const auto planned = halide::planned(program);
    if (const auto* failure = std::get_if<BackendFailure>(&planned)) FAIL(failure->message);
    int count = 0;
    for (const program::Kernel& kernel : std::get<const program::Plan*>(planned)->kernels)
        for (const expr::Directive* directive : expr::active(kernel.schedule)) count += directive->kind == kind;
    return count;
}

void check(const Wide& wide) {
    INFO(wide.target << " " << wide.label);
    const RegisteredOp& op = Registry::instance().require(wide.target);
    const Sample sample{.label = wide.label, .tensors = wide.tensors, .args = wide.args, .kwargs = wide.kwargs};
    const Graph graph = graph_of(op, sample);
    CHECK((directives(graph, expr::Directive::Kind::vectorize) > 0) == wide.vectorized);
    CHECK((directives(graph, expr::Directive::Kind::parallel) > 0) == wide.parallel);
    CompileResult compiled = halide::make_halide_backend()->compile(graph, {});
    if (const auto* failure = std::get_if<BackendFailure>(&compiled)) FAIL(failure->message);
    const RunResult result = std::get<std::unique_ptr<Executable>>(compiled)->run(sample.inputs());
    if (const auto* failure = std::get_if<BackendFailure>(&result)) FAIL(failure->message);
    const std::vector<Tensor> expected = evaluate(graph, sample.inputs());
    const Values& got = std::get<Values>(result);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(test::differing(got[i], expected[i]) == "");
}

TEST_CASE("element by element, wide", "[halide][wide]") {
    const Tensor f32 = mixed(DType::f32, kCube), f64 = mixed(DType::f64, kCube), i8 = mixed(DType::i8, kCube);
    const Tensor i64 = mixed(DType::i64, kCube), half = mixed(DType::f16, kCube), truth = mixed(DType::boolean, kCube);
    check({"aten.relu.default", "f32", {f32}, {t(0)}});
    check({"aten.neg.default", "negative strides", {samples::negative(f32)}, {t(0)}});
    check({"aten.sqrt.default", "f64, transposed", {samples::transposed(f64)}, {t(0)}});
    check({"aten.exp.default", "f16", {half}, {t(0)}});
    check({"aten.sigmoid.default", "bf16", {mixed(DType::bf16, kCube)}, {t(0)}});
    check({"aten.round.default", "f32, every second", {samples::strided(f32)}, {t(0)}});
    check({"aten.abs.default", "i8", {i8}, {t(0)}});
    check({"aten.logical_not.default", "bool", {truth}, {t(0)}});
    check({"aten.add.Tensor", "a column to all", {f32, mixed(DType::f32, {67, 1})}, {t(0), t(1)}});
    check({"aten.mul.Tensor",
           "by one number, stride 0",
           {f32, samples::expanded(samples::scalar(DType::f32, -0.0), kCube)},
           {t(0), t(1)}});
    check({"aten.fmod.Tensor", "f64", {f64, samples::negative(f64)}, {t(0), t(1)}});
    check({"aten.maximum.default", "f32 and f16", {f32, half}, {t(0), t(1)}});
    check({"aten.div.Tensor_mode",
           "i64, floor",
           {i64, samples::uniform(DType::i64, kCube, 1, 100)},
           {t(0), t(1)},
           {{"rounding_mode", "floor"}}});
    check({"aten.bitwise_xor.Tensor", "u8", {mixed(DType::u8, kCube), mixed(DType::u8, {211})}, {t(0), t(1)}});
    check({"aten.lt.Tensor", "f32", {f32, samples::transposed(f32)}, {t(0), t(1)}});
    check({"aten.where.self", "f32", {truth, f32, samples::scalar(DType::f32, -0.0)}, {t(0), t(1), t(2)}});
    check({"aten.pow.Tensor_Tensor", "f32", {samples::uniform(DType::f32, kCube, 0, 3), f32}, {t(0), t(1)}});
    check({"aten.to.dtype", "i8 to f64", {i8}, {t(0), Arg(DType::f64)}});
}

TEST_CASE("reductions, wide", "[halide][wide]") {
    const Tensor x = samples::random(DType::f32, kCube), special = mixed(DType::f32, kCube);
    for (const int dim : {0, 1, 2}) {
        const std::string label = "dim " + std::to_string(dim);
        check({"aten.sum.dim_IntList", label, {x}, {t(0), Arg::ints({dim})}});
        // Of the first dimension a maximum of five, written out: one pass, not worth threads.
        check({"aten.amax.default", label, {x}, {t(0), Arg::ints({dim})}, {}, true, dim > 0});
        check({"aten.argmin.default", label, {special}, {t(0), dim}});
    }
    check({"aten.sum.default", "all", {samples::negative(x)}, {t(0)}, {}, false, false});
    check({"aten.sum.dim_IntList", "f16", {samples::random(DType::f16, kCube)}, {t(0), Arg::ints({1})}});
    check({"aten.prod.dim_int", "i64", {samples::random(DType::i64, kCube)}, {t(0), 1}});
    check({"aten.any.dim", "bool", {samples::random(DType::boolean, kCube)}, {t(0), 0}});
    check({"aten.var.correction", "rows", {x}, {t(0), Arg::ints({2})}});
    check({"aten._softmax.default", "last", {special}, {t(0), 2, false}});
    check({"aten._log_softmax.default", "middle", {x}, {t(0), 1, false}});
    check({"aten.native_layer_norm.default",
           "rows",
           {x, samples::random(DType::f32, {211})},
           {t(0), Arg::ints({211}), t(1), Arg(), 1e-5}});
    check({"aten.cumsum.default", "first", {x}, {t(0), 0}});
    check({"aten.logcumsumexp.default", "middle", {x}, {t(0), 1}});
    check({"aten.sort.default", "lines of 29", {mixed(DType::f32, {89, 29, 31})}, {t(0), 1}});
}

TEST_CASE("transposed convolutions are contractions", "[halide]") {
    const RegisteredOp& op = Registry::instance().require("aten.convolution.default");
    for (const std::int64_t kernel : {2, 3, 4})
        for (const std::int64_t groups : {1, 2}) {
            const Sample sample = call_of(
                "", {samples::random(DType::f32, {1, 16, 20, 20}), samples::random(DType::f32, {16, 8, kernel, kernel}),
                     Arg(), Arg::ints({2}), Arg::ints({0}), Arg::ints({1}), true, Arg::ints({0}), groups});
            INFO("kernel " << kernel << ", groups " << groups);
            CHECK(directives(graph_of(op, sample), expr::Directive::Kind::contract) == 1);
        }
}

TEST_CASE("products and windows, wide", "[halide][wide]") {
    const auto random = [](const Sizes& sizes, int seed) {
        return samples::random(DType::f32, sizes, static_cast<std::uint64_t>(seed));
    };
    check({"aten.mm.default", "f32", {random({131, 257}, 1), samples::transposed(random({257, 79}, 2))}, {t(0), t(1)}});
    check({"aten.bmm.default",
           "f64",
           {samples::random(DType::f64, {3, 67, 31}), samples::random(DType::f64, {3, 31, 71}, 2)},
           {t(0), t(1)}});
    check({"aten.addmm.default",
           "a column",
           {random({257, 1}, 1), random({257, 33}, 2), random({33, 197}, 3)},
           {t(0), t(1), t(2)},
           {{"beta", 0.5}, {"alpha", -2.0}}});
    const auto pair = [](std::int64_t v) { return Arg::ints({v, v}); };
    const Tensor images = random({2, 3, 37, 71}, 1);
    check({"aten.convolution.default",
           "padded",
           {random({2, 8, 37, 71}, 1), random({24, 8, 3, 3}, 2), random({24}, 3)},
           {t(0), t(1), t(2), pair(1), pair(1), pair(1), false, pair(0), 1}});
    check({"aten.convolution.default",
           "depthwise, dilated",
           {images, random({3, 1, 3, 3}, 2)},
           {t(0), t(1), Arg(), pair(1), pair(2), pair(2), false, pair(0), 3}});
    check({"aten.convolution.default",
           "transposed",
           {images, random({3, 5, 3, 3}, 2)},
           {t(0), t(1), Arg(), pair(2), pair(1), pair(1), true, pair(0), 1}});
    check({"aten.convolution.default",
           "transposed, side by side",
           {random({2, 16, 23, 31}, 1), random({16, 12, 2, 2}, 2), random({12}, 3)},
           {t(0), t(1), t(2), pair(2), pair(0), pair(1), true, pair(0), 1}});
    check({"aten.convolution.default",
           "transposed, in groups, twice as large",
           {random({1, 24, 31, 37}, 1), random({24, 5, 4, 4}, 2)},
           {t(0), t(1), Arg(), pair(2), pair(1), pair(1), true, pair(0), 3}});
    check({"aten.max_pool2d_with_indices.default",
           "3x3",
           {mixed(DType::f32, {3, 3, 67, 71})},
           {t(0), pair(3), pair(1), pair(1)}});
    check({"aten.avg_pool2d.default", "3x3", {random({3, 3, 67, 71}, 1)}, {t(0), pair(3), pair(1), pair(1)}});
    check({"aten.upsample_bilinear2d.vec",
           "by 1.7",
           {random({3, 3, 67, 71}, 1)},
           {t(0), Arg(), false, Arg(ArgList{Arg(1.7), Arg(1.7)})}});
    check({"aten.upsample_nearest2d.vec",
           "by 1.7",
           {random({3, 3, 67, 71}, 1)},
           {t(0), Arg(), Arg(ArgList{Arg(1.7), Arg(1.7)})}});
}

TEST_CASE("elements moved, wide", "[halide][wide]") {
    const Tensor x = mixed(DType::f32, kCube), i8 = mixed(DType::i8, kCube);
    const Tensor lines = mixed(DType::f32, {331, 211});
    check({"aten.cat.default", "last", {x, samples::negative(x)}, {Arg(ArgList{t(0), t(1)}), 2}});
    check({"aten.constant_pad_nd.default", "both ends", {x}, {t(0), Arg::ints({3, 2, 1, -1}), 0.5}});
    check({"aten.reflection_pad1d.default", "f64", {mixed(DType::f64, kCube)}, {t(0), Arg::ints({5, 7})}});
    check({"aten.flip.default", "i8", {i8}, {t(0), Arg::ints({0, 2})}});
    check({"aten.roll.default", "f32", {x}, {t(0), Arg::ints({3}), Arg::ints({2})}});
    check({"aten.clone.default", "transposed", {samples::transposed(x)}, {t(0)}});
    check({"aten.gather.default", "middle", {x, places(kCube, 67)}, {t(0), 1, t(1)}});
    check({"aten.index_select.default", "last", {x, places({307}, 211)}, {t(0), 2, t(1)}});
    check({"aten.embedding.default", "rows", {lines, places({3, 127}, 331)}, {t(0), t(1)}});
    check({"aten.index.Tensor",
           "first and last",
           {x, places({101, 703}, 5), places({101, 703}, 211)},
           {t(0), Arg(ArgList{t(1), Arg(), t(2)})}});
    check({"aten.scatter.src", "last", {x, places(kCube, 211), mixed(DType::f32, kCube)}, {t(0), 2, t(1), t(2)}});
    check({"aten.scatter_add.default",
           "middle",
           {samples::random(DType::f32, kCube), places(kCube, 67), samples::random(DType::f32, kCube, 2)},
           {t(0), 1, t(1), t(2)}});
    check({"aten.index_put.default",
           "rows",
           {lines, places({89}, 331), mixed(DType::f32, {89, 211})},
           {t(0), Arg(ArgList{t(1), Arg()}), t(2)}});
    check({"aten.tril.default", "f32", {x}, {t(0), 3}});
}

}  // namespace
}  // namespace whittle
