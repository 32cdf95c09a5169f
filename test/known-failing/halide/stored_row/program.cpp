// Sums of a row with itself, for each of many rows: the row is computed once, and kept for all of them.
#include "Halide.h"
#include <cstdio>
using namespace Halide;

int main() {
    Var x("x"), y("y");
    ImageParam row(Int(32), 1, "row");
    Func once("once"), twice("twice"), out("out");
    once(x) = row(x);
    twice(x) = once(x);
    out(x, y) = once(x) + twice(x) + y;

    out.vectorize(x, 8);
    once.store_root().compute_at(out, y)
        .vectorize(x, 32);
    twice.store_root().compute_at(out, y)
        .vectorize(x, 32);

    Buffer<int> in(128);
    in.for_each_element([&](int i) { in(i) = i; });
    row.set(in);
    try {
        Buffer<int> got = out.realize({128, 16});
        int wrong = 0;
        got.for_each_element([&](int i, int j) { wrong += got(i, j) != 2 * i + j; });
        printf("%d wrong\n", wrong);
        return wrong > 0;
    } catch (const Halide::Error &error) {
        printf("%s\n", error.what());
        return 3;
    }
}
