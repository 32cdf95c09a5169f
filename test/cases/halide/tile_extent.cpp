// Right: the culprit is the directive edges.bound_extent(x, 24): a tile of the output needs 16 columns. With 24, the last
// tile reads columns that the input does not have, and Halide stops the program with an error about the input. Without
// the directive, the program exits with status 0.
#include <Halide.h>

#include <cstdio>

using namespace Halide;

int main() {
    const int width = 48, height = 32;
    Buffer<int32_t> in(width, height, "in");
    in.for_each_element([&](int x, int y) { in(x, y) = (x * 31 + y * 17) % 251; });

    Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
    Func edges("edges"), tone("tone"), out("out");
    edges(x, y) = in(x, y) * 3 - in(x, min(y + 1, height - 1));
    tone(x) = x * x / 255;
    out(x, y) = tone(clamp(edges(x, y), 0, 255)) + edges(x, y);

    tone.compute_root().vectorize(x, 8);
    out.tile(x, y, xo, yo, xi, yi, 16, 8).parallel(yo).vectorize(xi, 8);
    edges.compute_at(out, xo).bound_extent(x, 24).vectorize(x, 8).unroll(y, 2);
    out.bound(x, 0, width);

    const Buffer<int32_t> got = out.realize({width, height});
    printf("%d\n", got(3, 5));
    return 0;
}
