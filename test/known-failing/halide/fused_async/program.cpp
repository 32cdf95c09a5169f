// Sums of two ramps, of which one is computed with the other, in a thread of its own.
#include "Halide.h"
#include <cstdio>
using namespace Halide;

int main() {
    Var x("x"), y("y");
    Func first("first"), second("second"), out("out");
    first(x, y) = x + y;
    second(x, y) = 3 * x + 2 * y;
    out(x, y) = first(x, y - 1) + first(x, y + 1) + second(x, y - 1) + second(x, y + 1);

    out.bound(x, 0, 16).bound(y, 0, 16);
    out.vectorize(x, 4);
    first.compute_root().async();
    second.compute_root()
        .compute_with(first, y);

    Buffer<int> got = out.realize({16, 16});
    int wrong = 0;
    got.for_each_element([&](int i, int j) { wrong += got(i, j) != 2 * (i + j) + 2 * (3 * i + 2 * j); });
    printf("%d wrong\n", wrong);
    return wrong > 0;
}
