// Global state: the default dtype.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

using namespace whittle;

namespace {

struct DefaultDtype {
    explicit DefaultDtype(ScalarType type) { set_default_dtype(type); }
    ~DefaultDtype() { set_default_dtype(kFloat); }
};

Tensor thirds(const Tensor& counts) { return counts / 3 + ones({2}) * rand({2}) * 0 + scalar_tensor(0.1); }

}  // namespace

TEST_CASE("the default dtype is that of what is made without one, and of quotients", "[global_state]") {
    const Tensor counts = tensor<std::int64_t>({1, 2});
    CHECK(thirds(counts).dtype() == kFloat);
    const DefaultDtype state(kDouble);
    CHECK(get_default_dtype() == kDouble);
    CHECK(thirds(counts).dtype() == kDouble);
    CHECK(thirds(counts).to_vector<double>()[0] == 1.0 / 3 + 0.1);
    CHECK(sin(counts).dtype() == kDouble);
    CHECK((counts * 0.5).dtype() == kDouble);
    CHECK(arange(3.0).dtype() == kDouble);
    CHECK(arange(3).dtype() == kLong);
    CHECK((counts < 1.5).dtype() == kBool);
    CHECK((ones({2}, kFloat) * 2).dtype() == kFloat);
    CHECK(zeros({2}, kHalf).dtype() == kHalf);
    CHECK_THROWS_WITH(set_default_dtype(kLong), Catch::Contains("i64"));
}

TEST_CASE("compiled functions are guarded by the default dtype, and restore it", "[global_state]") {
    const auto compiled = compile(thirds);
    const Tensor counts = tensor<std::int64_t>({1, 2});
    CHECK(compiled(counts).equal(thirds(counts)));
    {
        const DefaultDtype state(kDouble);
        CHECK(compiled(counts).dtype() == kDouble);
        CHECK(compiled(counts).equal(thirds(counts)));
    }
    CHECK(compiled(counts).dtype() == kFloat);
    CHECK(compiled.stats().recompile_reasons == std::vector<std::string>{"___default_dtype == 'f32', now 'f64'"});
    const auto sets = compile([](const Tensor& x) {
        set_default_dtype(kDouble);
        return x.sum().item<float>() > 0 ? ones({1}) : zeros({1});
    });
    CHECK(sets(ones({2})).dtype() == kDouble);
    CHECK(get_default_dtype() == kFloat);
}
