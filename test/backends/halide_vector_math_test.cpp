// Functions that kernels compute in vectors.
#include <cmath>
#include <cstring>

#include "backends/rule_groups.h"

namespace whittle::halide::rule_groups {
namespace {

/// Units in the last place of the right value, a float, that the other is away from it.
double ulp_distance(float got, double right) {
    const float nearest = static_cast<float>(right), size = std::fabs(nearest);
    if (std::isnan(right)) return std::isnan(got) ? 0 : INFINITY;
    if (std::isinf(nearest)) return got == nearest ? 0 : INFINITY;
    const double step = static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) - size;
    return std::fabs(got - right) / step;
}

/// Floats of every sign, exponent and the leading bits of every significand, NaN and infinities among them.
std::vector<float> all_kinds_of_floats() {
    std::vector<float> values;
    Random random(5);
    for (std::uint32_t high = 0; high < 1U << 16; high++) {
        const std::uint32_t bits =
            high << 16 | (high % 3 == 0 ? 0U : static_cast<std::uint32_t>(random.below(1 << 16)));
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        values.push_back(value);
    }
    return values;
}

}  // namespace

TEST_CASE("functions computed in vectors keep their bounds on floats of all kinds") {
    struct Function {
        expr::Op op;
        double (*right)(double);
        double bound;  ///< what kernel_helpers.h says, in units in the last place
    };
    const std::vector<float> values = all_kinds_of_floats();
    const Sizes sizes = {static_cast<std::int64_t>(values.size())};
    const Tensor x = Tensor::of(values, sizes);
    for (const Function& function :
         {Function{expr::Op::exp, std::exp, 1}, {expr::Op::tanh, std::tanh, 7}, {expr::Op::erf, std::erf, 8}}) {
        GroupBuilder builder("group");
        const Value in = input(builder, "x", sizes);
        builder.output(Value(DType::f32, sizes, [&](const Index& i) { return expr::unary(function.op, in(i)); }), "y");
        Group group = builder.finish();
        const Schedule schedule = halide::schedule(group);
        CHECK(std::ranges::count(schedule, Directive::Kind::vector_math, &Directive::kind) == 1);
        std::string error;
        const auto kernel = compile(group, schedule, error);
        REQUIRE(error == "");
        const std::vector<Tensor> got = run(*kernel, group, {x}, error);
        REQUIRE(error == "");
        const std::vector<float> results = got[0].values<float>();
        double most = 0;
        std::size_t where = 0;
        for (std::size_t i = 0; i < values.size(); i++) {
            const double distance = ulp_distance(results[i], function.right(values[i]));
            if (distance > most) most = distance, where = i;
            if (values[i] == 0 && function.op != expr::Op::exp)
                CHECK(std::signbit(results[i]) == std::signbit(values[i]));
        }
        INFO(expr::name(function.op) << " of " << values[where] << " gave " << results[where]);
        CHECK(most <= function.bound);
    }
}

}  // namespace whittle::halide::rule_groups
