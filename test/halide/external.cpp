// An external function computes source. At fault: vectorize(r.x, 8) on a sum, with allow_race_conditions.
#include "common.h"
using namespace Halide;
extern "C" int ramp(int factor, halide_buffer_t *out) {
    if (out->is_bounds_query()) return 0;
    Runtime::Buffer<int> values(*out);
    values.for_each_element([&](int i, int j) { values(i, j) = factor * (i + 2 * j); });
    return 0;
}
int main() {
    Var x("x"), y("y");
    Func source("source"), rows("rows"), out("out");
    source.define_extern("ramp", {Expr(3)}, Int(32), 2);
    RDom r(0, 16, "r");
    rows(y) = 0;
    rows(y) += source(r.x, y + 1);
    out(y) = rows(y) * 2;
    source.compute_root();
    rows.compute_root().vectorize(y, 4);
    rows.update().allow_race_conditions().vectorize(r.x, 8);
    out.parallel(y);
    Buffer<int> got = out.realize({8});
    return check(got, [](int i, int) { return 6 * (120 + 32 * (i + 1)); });
}
