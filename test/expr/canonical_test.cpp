#include "expr/canonical.h"

#include <catch2/catch.hpp>

#include "expr/builder.h"
#include "expr/interpret.h"

using namespace whittle;
using namespace whittle::expr;

namespace {

/// row sums of |x|, under names of the caller's choice; `scale` tells two computations apart.
Group row_sums(const std::string& input, const std::string& hint, double scale = 1) {
    GroupBuilder builder(hint);
    const Value x = builder.input(input, DType::f32, {3, 4}, {4, 1});
    builder.set_origin(hint, "%" + hint + " = somewhere");
    const Value sums = builder.reduce(
        DType::f32, {3}, {4}, [](const Index&) { return constant(DType::f32, 0.0); },
        [&](const Index& i, const Index& r, Expr self) {
            return self + unary(Op::abs, x({i[0], r[0]})) * constant(DType::f32, scale);
        });
    builder.output(sums);
    return builder.finish();
}

Schedule vectorized(const Group& group) {
    return {
        {.kind = Directive::Kind::vectorize, .stage = group.stages[0].name, .update = 0, .args = {"i"}, .factor = 4}};
}

}  // namespace

TEST_CASE("groups that differ in names only have one key", "[expr][canonical]") {
    const Group a = row_sums("x", "first"), b = row_sums("weights", "second"), c = row_sums("x", "first", 2);
    CHECK(key(a, {}) == key(b, {}));
    CHECK(key(a, {}) != key(c, {}));
    CHECK(key(a, vectorized(a)) == key(b, vectorized(b)));
    CHECK(key(a, vectorized(a)) != key(a, {}));
    Schedule off = vectorized(a);
    off[0].enabled = false;
    CHECK(key(a, off) == key(a, {}));
}

TEST_CASE("a canonical group computes the same", "[expr][canonical]") {
    const Group group = row_sums("x", "first", 3);
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, -2, 3, 4, 5, 6, -7, 8, 9, 10, 11, -12}, {3, 4})};
    const Tensor expected = interpret(group, inputs).at(0), got = interpret(canonical(group), inputs).at(0);
    CHECK(same_bits(got, expected));
    CHECK(expected.values<float>() == std::vector<float>{30, 78, 126});
}
