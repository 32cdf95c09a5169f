// Printed expressions do not depend on the locale of the process.
#include "comma_locale.h"
#include "expr/group.h"
#include "tensor/scalars.h"

using namespace whittle;

TEST_CASE("printed numbers have no decimal comma", "[expr][process]") {
    test::check_in_comma_locale([] {
        const expr::Expr half = expr::constant(DType::f32, 0.5);
        return expr::print(half) == "0.5" && short_number(0.25) == "0.25";
    });
}

TEST_CASE("a number as a person reads it", "[scalars]") {
    CHECK(short_number(std::int64_t{9007199254740993}) == "9007199254740993");
    CHECK(short_number(~std::uint64_t{0}) == "18446744073709551615");
    CHECK(short_number(true) == "true");
    CHECK(short_number(1.0 / 3) == "0.3333333");
    CHECK(short_number(1e9) == "1000000000");
    CHECK(short_number(1e10) == "1e+10");
    CHECK(short_number_at(Tensor::of<Complex128>({{1, -2.5}}), 0) == "1-2.5j");
    const Tensor big = Tensor::of<std::uint64_t>({std::uint64_t{1} << 63, 1});
    CHECK(scalars_of(big) == std::vector<Scalar>{Scalar(std::uint64_t{1} << 63), Scalar(1)});
    CHECK_THROWS(scalars_of(Tensor::of<Complex128>({{1, 2}})));
}
