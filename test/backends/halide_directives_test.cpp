// Every kind of directive and every tail strategy is known to all that read schedules: as a printed line, as C++ text
// and as a call of Halide; and what this Halide does not have is refused by name.
#include <catch2/catch.hpp>

#include "backends/halide/build_info.h"
#include "backends/halide/definitions.h"
#include "backends/halide/plain_text.h"
#include "backends/kernel_cases.h"
#include "base/error.h"

using namespace whittle;
using namespace whittle::halide;
using expr::Directive;

namespace {

using Scope = expr::DirectiveKind::Scope;

/// f(i, j) = e^zero(i, j), to which x(i, k) x(i, j) is added for three k; g = f + 1. All values are whole numbers, so
/// that no order of summing and no rounding makes another result.
KernelCase scheduled(expr::Schedule schedule) {
    using namespace expr;
    const Expr i = variable("i"), j = variable("j"), k = variable("k");
    const std::vector<LoopVar> loops = {{"i", 4}, {"j", 24}};
    const auto x = [](const Expr& row, const Expr& column) { return load("x", DType::f32, {row, column}); };
    const Expr zero = load("zero", DType::f32, {i, j});
    const Expr f = load("f", DType::f32, {i, j});
    Stage first{.name = "f", .vars = loops, .value = unary(expr::Op::exp, zero)};
    first.updates.push_back({.domain = {{"k", 3}}, .where = {i, j}, .value = f + x(i, k) * x(i, j)});
    Stage second{.name = "g", .vars = loops, .value = f + constant(DType::f32, Scalar(1.0))};
    const Sizes sizes = {4, 24};
    const Group group{.inputs = {{"x", DType::f32, sizes, {24, 1}}, {"zero", DType::f32, sizes, {24, 1}}},
                      .stages = {first, second},
                      .outputs = {"g"}};
    std::vector<float> values;
    for (int n = 0; n < 4 * 24; n++) values.push_back(static_cast<float>(n % 17 - 8));
    return {group,
            std::move(schedule),
            {Tensor::of(values, sizes), Tensor::of(std::vector<float>(values.size(), 0.0F), sizes)}};
}

Directive on_f(Directive::Kind kind, std::vector<std::string> args, std::int64_t factor = 0,
               const std::string& tail = {}, int update = -1) {
    return {.kind = kind,
            .stage = "f",
            .update = update,
            .args = std::move(args),
            .factor = factor,
            .tail = tail,
            .requires_ = {0}};
}

/// A schedule whose last directive is of the kind.
expr::Schedule sample(Directive::Kind kind) {
    using Kind = Directive::Kind;
    const Directive stored{.kind = Kind::compute_root, .stage = "f"};
    const Directive split = on_f(Kind::split, {"j", "jo", "ji"}, 7, "GuardWithIf");
    const auto placed = [](Kind how, const std::string& loop) {
        return Directive{.kind = how, .stage = "f", .args = {loop}, .at = "g"};
    };
    switch (kind) {
        case Kind::compute_root:
            return {stored};
        case Kind::compute_at:
            return {placed(Kind::compute_at, "i")};
        case Kind::hoist_storage: {
            Directive hoisted = placed(Kind::hoist_storage, "i");
            hoisted.requires_ = {0};
            return {placed(Kind::compute_at, "j"), hoisted};
        }
        case Kind::split:
            return {stored, split};
        case Kind::reorder:
            return {stored, on_f(kind, {"i", "j"})};
        case Kind::vectorize:
            return {stored, on_f(kind, {"j"}, 8, "ShiftInwards")};
        case Kind::unroll:
            return {stored, on_f(kind, {"j"}, 3)};
        case Kind::parallel:
            return {stored, on_f(kind, {"i"})};
        case Kind::always_partition:
        case Kind::never_partition:
            return {stored, split, on_f(kind, {"jo"})};
        case Kind::vector_math:
            return {stored, on_f(Kind::vectorize, {"j"}, 8, "ShiftInwards"), on_f(kind, {})};
        case Kind::contract:
        case Kind::allow_race:
            return {stored, on_f(kind, {}, 0, {}, 0)};
    }
    return {};
}

/// A schedule whose last directive has the tail. Blending is for updates, for which Halide does not take ShiftInwards.
expr::Schedule sample(const expr::TailKind& tail) {
    const bool blends = tail.name.ends_with("Blend");
    return {{.kind = Directive::Kind::compute_root, .stage = "f"},
            on_f(Directive::Kind::vectorize, {"j"}, 8, std::string(tail.name), blends ? 0 : -1)};
}

std::string text_of_kernel(const KernelCase& c) { return to_halide_cpp(c.group, c.schedule, "kernel"); }

/// The statements of a short program. Inputs whose elements are alike are written in one line.
std::string plain_text_of(const KernelCase& c) {
    const std::vector<Tensor> alike(c.inputs.size(), c.inputs.back());
    const auto text = plain_text({.group = c.group, .schedule = c.schedule, .inputs = alike});
    REQUIRE(text);
    return text->statements;
}

/// Whether the Halide at hand has the last directive; if not, both readers say so.
bool is_here(const KernelCase& c) {
    const int since = halide_since(c.schedule.back());
    if (since <= major_version()) return true;
    const std::string refusal = "found directive " + print(c.schedule.back()) + " with Halide " +
                                std::to_string(major_version()) + ", expected Halide " + std::to_string(since) +
                                " or newer";
    std::string error;
    CHECK(compile(c.group, c.schedule, error) == nullptr);
    CHECK_THAT(error, Catch::Contains(refusal));
    CHECK_THROWS_WITH(text_of_kernel(c), Catch::Contains(refusal));
    return false;
}

}  // namespace

TEST_CASE("each kind of directive has a printed form, texts and an object") {
    std::vector<KernelCase> cases;
    for (const expr::DirectiveKind& row : expr::directive_kinds()) {
        const KernelCase c = scheduled(sample(row.kind));
        INFO(row.name);
        REQUIRE(!c.schedule.empty());
        REQUIRE(c.schedule.back().kind == row.kind);
        CHECK(&expr::info(row.kind) == &row);
        CHECK_THAT(print(c.schedule.back()), Catch::Contains("." + std::string(row.name) + "("));
        if (!is_here(c)) continue;
        KernelCase without = c;
        without.schedule.pop_back();
        const std::string text = text_of_kernel(c), call = "." + std::string(row.name) + "(";
        CHECK(text != text_of_kernel(without));
        CHECK((text.find(call) != std::string::npos) == (row.scope != Scope::expression));
        CHECK((plain_text_of(c).find(call) != std::string::npos) == (row.scope != Scope::expression));
        CHECK((text.find("#error") != std::string::npos) == (row.since > 0));
        cases.push_back(c);
    }
    check_pipelines(cases);
    check_texts(cases);
}

TEST_CASE("each tail strategy has texts and an object") {
    std::vector<KernelCase> cases;
    for (const expr::TailKind& tail : expr::tail_kinds()) {
        const KernelCase c = scheduled(sample(tail));
        INFO(tail.name);
        if (!is_here(c)) continue;
        const std::string written = "TailStrategy::" + std::string(tail.name) + ")";
        CHECK_THAT(text_of_kernel(c), Catch::Contains("Halide::" + written));
        CHECK((plain_text_of(c).find(written) != std::string::npos) == (tail.name != expr::kAutoTail));
        cases.push_back(c);
    }
    check_pipelines(cases);
    check_texts(cases);
}

TEST_CASE("a tail strategy that no Halide has is refused with those that there are") {
    KernelCase c = scheduled(sample(Directive::Kind::vectorize));
    c.schedule.back().tail = "RoundDown";
    std::string error;
    CHECK(compile(c.group, c.schedule, error) == nullptr);
    CHECK_THAT(error,
               Catch::Contains("found tail strategy RoundDown in directive f.vectorize(j, 8, RoundDown), expected "
                               "Auto, GuardWithIf, ") &&
                   Catch::EndsWith(" or RoundUpAndBlend"));
}

TEST_CASE("a place that is not there is refused by all that read schedules") {
    for (const auto& [at, loop] : {std::pair("nowhere", "i"), std::pair("g", "nowhere")}) {
        const Directive placed{.kind = Directive::Kind::compute_at, .stage = "f", .args = {loop}, .at = at};
        const KernelCase c = scheduled({placed});
        std::string error;
        CHECK(compile(c.group, c.schedule, error) == nullptr);
        CHECK_THAT(error, Catch::Contains("nowhere"));
        CHECK_THROWS_WITH(text_of_kernel(c), Catch::Contains("nowhere"));
        CHECK_THROWS_WITH(plain_text_of(c), Catch::Contains("nowhere"));
    }
}

TEST_CASE("a text with newer directives does not compile with a Halide that lacks them") {
    CHECK(version_guard(sample(Directive::Kind::vectorize)) == "");
    CHECK(version_guard(sample(Directive::Kind::hoist_storage)) ==
          "#if HALIDE_VERSION_MAJOR < 17\n#error \"f.hoist_storage(g, i) needs Halide 17 or newer\"\n#endif\n");
}
