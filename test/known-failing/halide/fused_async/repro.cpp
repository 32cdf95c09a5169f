// Halide 14.0.0: out(0, 0) = 121, expected 0, with first.async() and second.compute_with(first, y,
// LoopAlignStrategy::Auto).
//
// Without these directives (./repro control), the result is right.
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/halide14 -lHalide14 && ./repro
#include "Halide.h"

#include <cstdio>

using namespace Halide;

static Buffer<int> run(bool scheduled, bool with_culprit) {
    Var x("x"), y("y");
    Func first("first"), second("second"), out("out");
    first(x, y) = x + y;
    second(x, y) = 3 * x + 2 * y;
    out(x, y) = first(x, y - 1) + first(x, y + 1) + second(x, y - 1) + second(x, y + 1);

    out.bound(x, 0, 16);
    out.bound(y, 0, 16);
    first.compute_root();
    second.compute_root();
    if (scheduled) {
        if (with_culprit) first.async();
        if (with_culprit) second.compute_with(first, y, LoopAlignStrategy::Auto);
    }
    return out.realize({16, 16});
}

int main(int argc, char **) {
    Buffer<int> expected = run(false, false), got = run(true, argc == 1);
    int wrong = 0;
    got.for_each_element([&](const int *at) {
        if (got(at) != expected(at) && wrong++ == 0)
            printf("out(%d, %d) = %d, expected %d\n", at[0], at[1], got(at), expected(at));
    });
    if (wrong) return 1;
    printf("Success!\n");
    return 0;
}
