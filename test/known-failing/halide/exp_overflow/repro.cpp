// Halide 14.0.0: f() = exp(in(0)) with in(0) = 2147483648: f() is 0, expected inf.
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/halide14 -lHalide14 && ./repro
#include "Halide.h"

#include <cmath>
#include <cstdio>

using namespace Halide;

int main() {
    Buffer<float> in(1);
    in(0) = 2.1474836e+09f;
    Func f("f");
    f() = exp(in(Expr(0)));
    Buffer<float> out = f.realize();

    if (out() != INFINITY) {
        printf("f() = %g, expected inf\n", out());
        return 1;
    }
    printf("Success!\n");
    return 0;
}
