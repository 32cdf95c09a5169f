// Two pipelines that are right: one is run three times with other inputs, the other has two values.
#include "common.h"
using namespace Halide;
int main() {
    Var x("x"), y("y");
    ImageParam in(UInt(8), 2, "in");
    Param<int> gain("gain");
    Func scaled("scaled"), both("both");
    scaled(x, y) = cast<int>(in(x, y)) * gain;
    both(x) = Tuple(scaled(x, 0), cast<float>(scaled(x, 1)) / 2);
    scaled.compute_root().vectorize(x, 8).parallel(y);
    for (int run = 1; run <= 3; ++run) {
        Buffer<uint8_t> data(16 * run, 2);
        data.for_each_element([&](int i, int j) { data(i, j) = i * run + j; });
        in.set(data);
        gain.set(run);
        Buffer<int> out = scaled.realize({16 * run, 2});
        if (check(out, [&](int i, int j) { return (i * run + j) * run; })) return 1;
    }
    Realization values = both.realize({16});
    Buffer<int> first = values[0];
    return check(first, [&](int i, int) { return i * 3 * 3; });
}
