// Halide 14.0.0: Error: Input buffer row is accessed at -31, which is before the min (0) in dimension 0, with
// once.vectorize(x, 32) and once.compute_at(out, y) and once.store_root() and twice.compute_at(out, y) and
// twice.store_root().
//
// Without these directives (./repro control), the result is right.
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/halide14 -lHalide14 && ./repro
#include "Halide.h"

#include <cstdio>

using namespace Halide;

static Buffer<int> run(bool scheduled, bool with_culprit) {
    Buffer<int> row_data(128);
    row_data.for_each_element([&](const int *at) { row_data(at) = int((at[0] * 7) % 16); });
    ImageParam row(Int(32), 1, "row");
    row.set(row_data);
    Var v0("v0"), x("x"), y("y");
    Func row_im("row_im"), once("once"), twice("twice"), out("out");
    row_im(v0) = row(v0);
    once(x) = row_im(x);
    twice(x) = once(x);
    out(x, y) = twice(x);

    once.compute_root();
    twice.compute_root();
    if (scheduled) {
        if (with_culprit) once.vectorize(x, 32);
        if (with_culprit) once.compute_at(out, y);
        if (with_culprit) once.store_root();
        if (with_culprit) twice.compute_at(out, y);
        if (with_culprit) twice.store_root();
    }
    return out.realize({1, 1});
}

int main(int argc, char **) try {
    run(true, argc == 1);
    printf("Success!\n");
    return 0;
} catch (const Error &e) {
    printf("%s\n", e.what());
    return 1;
}
