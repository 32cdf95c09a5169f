// Ring forms under schedules: whatever the order, the compiled kernel has the interpreter's bits, and a race does not.
#include <catch2/catch.hpp>

#include "backends/kernel_cases.h"
#include "backends/random_schedule.h"
#include "expr/builder.h"
#include "expr/random/random_group.h"
#include "expr/ring.h"

using namespace whittle;
using namespace whittle::halide;
using expr::Group;
using expr::Index;

namespace {

KernelCase in_ring(const Group& group, const expr::Schedule& schedule, const std::vector<Tensor>& inputs) {
    const auto form = expr::ring_form(group);
    if (const auto* why = std::get_if<std::string>(&form)) FAIL(*why);
    const expr::RingForm& ring = std::get<expr::RingForm>(form);
    return {ring.group, schedule, expr::ring_inputs(ring, group, inputs, 1)};
}

std::vector<KernelCase> random_ring_cases(Random& random, int count) {
    std::vector<KernelCase> cases;
    for (int i = 0; i < count; ++i) {
        const Group group = expr::random_group(random, {.depth = 3, .empty = i % 5 == 0});
        const expr::Schedule schedule = RandomSchedule(group, random).make();
        cases.push_back(in_ring(group, schedule, expr::random_inputs(group, random)));
    }
    return cases;
}

/// Sums of 64 terms each.
Group sums() {
    expr::GroupBuilder builder;
    const expr::Value x = builder.input("x", DType::f32, {8, 64}, {64, 1});
    builder.output(builder.reduce(
        DType::f32, {8}, {64}, [](const Index&) { return expr::constant(DType::f32, Scalar(0.0)); },
        [&](const Index& i, const Index& r, const expr::Expr& old) {
            return old + x({i[0], r[0]});
        }));
    return builder.finish();
}

/// Without races; or lanes of a vector race to add to one element.
expr::Schedule vectors_of_terms(const Group& group, bool race) {
    using Kind = expr::Directive::Kind;
    const expr::Stage& stage = group.stages.back();
    if (!race)
        return {{.kind = Kind::vectorize, .stage = stage.name, .update = 0, .args = {stage.vars[0].name}, .factor = 8}};
    return {{.kind = Kind::allow_race, .stage = stage.name, .update = 0},
            {.kind = Kind::vectorize,
             .stage = stage.name,
             .update = 0,
             .args = {stage.updates[0].domain[0].name},
             .factor = 8,
             .tail = "GuardWithIf",
             .requires_ = {0}}};
}

std::vector<Tensor> results(const KernelCase& c) {
    std::string error;
    std::vector<Tensor> got;
    if (const auto kernel = compile(c.group, c.schedule, error)) got = run(*kernel, c.group, c.inputs, error);
    CHECK(error == "");
    return got;
}

}  // namespace

TEST_CASE("ring forms of random groups are bit-equal under random schedules", "[ring]") {
    Random random(7);
    check_pipelines(random_ring_cases(random, 50));
}

TEST_CASE("the text of ring forms computes what the interpreter does", "[ring]") {
    Random random(9);
    check_texts(random_ring_cases(random, 15));
}

TEST_CASE("a race that the data hide is found in ring arithmetic", "[ring]") {
    const Group group = sums();
    const std::vector<Tensor> zeros = {Tensor(DType::f32, {8, 64})};
    for (const bool race : {false, true}) {
        const expr::Schedule schedule = vectors_of_terms(group, race);
        CHECK(same_bits(results({group, schedule, zeros}).at(0), interpret(group, zeros).at(0)));
        const KernelCase ring = in_ring(group, schedule, zeros);
        CHECK(same_bits(results(ring).at(0), interpret(ring.group, ring.inputs).at(0)) == !race);
    }
}

// Run by hand: 1,000 schedules without a false alarm.
TEST_CASE("soak: ring forms", "[.]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Random random(seed * 1000 + Catch::rngSeed());
        check_pipelines(random_ring_cases(random, 20));
    }
}
