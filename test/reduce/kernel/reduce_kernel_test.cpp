// Reduction of kernels: what an oracle asks for stays, all else goes, and every case on the way is a kernel.
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/sanitizer.h"
#include "expr/interpret.h"
#include "expr/parts.h"
#include "expr/random/random_group.h"
#include "reduce/kernel/kernel_case.h"

using namespace whittle;
using namespace whittle::reduce;
using expr::Directive;

namespace {

const auto kNoDeadline = std::chrono::steady_clock::time_point::max();

bool interprets(const KernelCase& kernel) {
    try {
        expr::interpret(kernel.group, kernel.inputs);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// The sum over k of a[i, k] * b[k, j], relu of it, vectorized.
KernelCase matmul() {
    using namespace expr;
    const Expr i = variable("i"), j = variable("j"), k = variable("k");
    Stage mm{.name = "mm", .vars = {{"i", 6}, {"j", 10}}, .value = constant(DType::f32, Scalar(0.0)), .origin = "%mm"};
    mm.updates.push_back(
        {.domain = {{"k", 12}},
         .where = {i, j},
         .value = load("mm", DType::f32, {i, j}) + load("a", DType::f32, {i, k}) * load("b", DType::f32, {k, j})});
    Stage relu{.name = "relu", .vars = {{"i", 6}, {"j", 10}}};
    const Expr x = load("mm", DType::f32, {i, j}), zero = constant(DType::f32, Scalar(0.0));
    relu.value = select(zero < x, x, zero);
    Random random(7);
    KernelCase kernel;
    kernel.group = {.inputs = {{"a", DType::f32, {6, 12}, {12, 1}}, {"b", DType::f32, {12, 10}, {10, 1}}},
                    .stages = {mm, relu},
                    .outputs = {"relu"}};
    kernel.inputs = random_inputs(kernel.group, random);
    kernel.schedule = {
        {.kind = Directive::Kind::compute_root, .stage = "mm"},
        {.kind = Directive::Kind::vectorize, .stage = "mm", .args = {"j"}, .factor = 8, .requires_ = {0}},
        {.kind = Directive::Kind::allow_race, .stage = "mm", .update = 0, .requires_ = {0}},
        {.kind = Directive::Kind::vectorize,
         .stage = "mm",
         .update = 0,
         .args = {"k"},
         .factor = 8,
         .requires_ = {0, 2}},
        {.kind = Directive::Kind::parallel, .stage = "relu", .args = {"i"}}};
    kernel.culprit = 3;
    kernel.targets = {"whittle", "host"};
    return kernel;
}

}  // namespace

TEST_CASE("kernel reduction: what is guilty stays, with what it needs, and nothing else") {
    const KernelReduction reduction = reduce_kernel(
        matmul(),
        [](const KernelCase& kernel) {
            if (!interprets(kernel)) return false;
            const Directive& culprit = kernel.schedule.at(static_cast<std::size_t>(kernel.culprit));
            const expr::Stage* stage = kernel.group.stage(culprit.stage);
            // An update over at least two points, vectorized along them, with the promise before it.
            return culprit.kind == Directive::Kind::vectorize && culprit.requires_.size() >= 1 && stage &&
                   !stage->updates.empty() && !stage->updates[0].domain.empty() &&
                   stage->updates[0].domain[0].extent >= 2;
        },
        kNoDeadline);
    const KernelCase small = named(reduction.smallest);
    CHECK_FALSE(reduction.out_of_time);
    CHECK(small.group.inputs.empty());
    CHECK_FALSE(small.with_workarounds);
    CHECK_FALSE(small.careful);
    CHECK(small.targets == std::vector<std::string>{"host"});
    REQUIRE(small.group.stages.size() == 1);
    CHECK(small.group.outputs == std::vector<std::string>{"f"});
    CHECK(small.group.stages[0].vars.empty());
    CHECK(small.group.stages[0].origin.empty());
    REQUIRE(small.group.stages[0].updates.size() == 1);
    CHECK(small.group.stages[0].updates[0].domain == std::vector<expr::LoopVar>{{"r", 2}});
    REQUIRE(small.schedule.size() == 2);
    CHECK(expr::print(small.schedule[0]) == "f.update(0).allow_race_conditions()");
    CHECK(expr::print(small.schedule[1]) == "f.update(0).vectorize(r, 2, Auto)");
    CHECK(small.schedule[1].requires_ == std::vector<int>{0});
    CHECK(small.culprit == 1);
}

TEST_CASE("kernel reduction: a stage keeps its place in another one's loops, and loses its own") {
    using Kind = Directive::Kind;
    KernelCase start = matmul();
    start.schedule = {{.kind = Kind::compute_at, .stage = "mm", .args = {"j"}, .at = "relu"},
                      {.kind = Kind::vectorize, .stage = "mm", .args = {"j"}, .factor = 8, .requires_ = {0}},
                      {.kind = Kind::hoist_storage, .stage = "mm", .args = {"i"}, .at = "relu", .requires_ = {0}},
                      {.kind = Kind::never_partition, .stage = "relu", .args = {"i"}}};
    start.culprit = 2;
    const auto reads_it = [](const KernelCase& kernel) {
        const std::vector<expr::Stage>& stages = kernel.group.stages;
        return stages.size() == 2 && expr::loaded_by(stages[1]).contains(stages[0].name) && interprets(kernel);
    };
    const KernelReduction reduction = reduce_kernel(start, reads_it, kNoDeadline);
    const KernelCase small = named(reduction.smallest);
    REQUIRE(small.group.stages.size() == 2);
    CHECK(small.group.stages[0].vars.empty());
    REQUIRE(small.schedule.size() == 2);
    CHECK(expr::print(small.schedule[0]) == "f.compute_at(g, x)");
    CHECK(expr::print(small.schedule[1]) == "f.hoist_storage(g, y)");
    CHECK(small.culprit == 1);
}

TEST_CASE("kernel reduction: a value that only the data make") {
    // The failure is an element above 20: loops and types may go, the data may not become zeros.
    const auto large = [](const KernelCase& kernel) {
        if (!interprets(kernel)) return false;
        for (const double value : expr::interpret(kernel.group, kernel.inputs)[0].values<double>())
            if (value > 20) return true;
        return false;
    };
    KernelCase start = matmul();
    start.culprit = -1;
    for (Tensor& input : start.inputs)
        input = Tensor::of(std::vector<float>(static_cast<std::size_t>(input.numel()), 5.0F), input.sizes());
    const KernelReduction reduction = reduce_kernel(start, large, kNoDeadline);
    CHECK(large(reduction.smallest));
    CHECK(reduction.smallest.schedule.empty());
    CHECK(reduction.smallest.group.stages.size() == 1);
    std::int64_t elements = 0;
    for (const Tensor& input : reduction.smallest.inputs) elements += input.numel();
    CHECK(elements <= 2);
}

TEST_CASE("kernel reduction: every case that an oracle is asked about is a kernel in bounds or one that says so") {
    for (std::uint64_t seed = 0; seed < (kAddressSanitizer ? 100 : 500); seed++) {
        Random random(seed);
        KernelCase start;
        start.group = expr::random_group(random, {.library = false});
        start.group.outputs.resize(1);
        start.inputs = expr::random_inputs(start.group, random);
        for (std::size_t i = 0; i < start.inputs.size(); i++) {
            start.inputs[i] = start.inputs[i].clone();
            start.group.inputs[i].strides = contiguous_strides(start.group.inputs[i].sizes);
        }
        start.targets = {""};
        int asked = 0;
        const auto chance = [&](const KernelCase& kernel) {
            expr::verify(kernel.group);
            REQUIRE(kernel.inputs.size() == kernel.group.inputs.size());
            for (std::size_t i = 0; i < kernel.inputs.size(); i++) {
                REQUIRE(kernel.inputs[i].sizes() == kernel.group.inputs[i].sizes);
                REQUIRE(kernel.inputs[i].dtype() == kernel.group.inputs[i].dtype);
                REQUIRE(kernel.inputs[i].strides() == kernel.group.inputs[i].strides);
            }
            // By chance, so that the search comes through more than one way; never the way to nothing.
            return interprets(kernel) && (asked++ + seed) % 3 != 0 && asked < 300;
        };
        CAPTURE(seed);
        const KernelReduction reduction = reduce_kernel(start, chance, kNoDeadline);
        CHECK(interprets(reduction.smallest));
        for (const KernelCase& milestone : reduction.milestones) CHECK(interprets(milestone));
        const KernelCase renamed = named(reduction.smallest);
        expr::verify(renamed.group);
        const Tensor before = expr::interpret(reduction.smallest.group, reduction.smallest.inputs).at(0);
        CHECK(same_bits(expr::interpret(renamed.group, renamed.inputs).at(0).contiguous(), before.contiguous()));
    }
}

TEST_CASE("kernel reduction: ends with its time") {
    int asked = 0;
    const KernelReduction reduction = reduce_kernel(
        matmul(), [&](const KernelCase&) { return ++asked, false; }, std::chrono::steady_clock::now());
    CHECK(asked == 0);
    CHECK(reduction.out_of_time);
    CHECK(reduction.smallest.group.stages.size() == 2);
}
