// Wrong, and the program does not notice: it ends with status 0. At fault: vectorize(r.x, 8) on a sum, with
// allow_race_conditions. The buffer is the caller's.
#include "common.h"
using namespace Halide;
int main() {
    Var x("x"), y("y");
    Func source("source"), rows("rows"), out("out");
    source(x, y) = x + 2 * y;
    RDom r(0, 16, "r");
    rows(y) = 0.5f;
    rows(y) += cast<float>(source(r.x, y));
    out(y) = rows(y) * 3;

    source.compute_root().vectorize(x, 8).parallel(y);
    rows.compute_root().vectorize(y, 4);
    rows.update().allow_race_conditions().vectorize(r.x, 8);
    out.parallel(y);

    Buffer<float> got(8);
    out.realize(got);
    printf("%f\n", got(3));
}
