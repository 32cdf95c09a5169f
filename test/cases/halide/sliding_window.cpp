// Right: the culprits are the directives sharp.align_bounds(y, 4) and denoise.fold_storage(y, 4): the one makes sharp take
// more rows of denoise at a time than the other one keeps. Halide stops the program with an error about denoise. Without
// one of them, the program exits with status 0. If sharp loses its sliding window, the storage of denoise is too small,
// too: that is another failure, which needs no align_bounds.
#include <Halide.h>

#include <cstdio>

using namespace Halide;

int main() {
    const int width = 32, height = 29;
    Buffer<int32_t> in(width, height);
    in.for_each_element([&](int x, int y) { in(x, y) = (x * 31 + y * 17) % 251; });

    Var x("x"), y("y");
    Func clamped = BoundaryConditions::mirror_image(in);
    Func denoise("denoise"), sharp("sharp"), out("out");
    denoise(x, y) = (clamped(x, y - 1) + 2 * clamped(x, y) + clamped(x, y + 1)) / 4;
    sharp(x, y) = 3 * denoise(x, y) - denoise(x - 1, y) - denoise(x, y + 1) - denoise(x, y - 1);
    out(x, y) = sharp(x, y - 1) + sharp(x, y) + sharp(x - 1, y + 1);

    denoise.store_root().compute_at(out, y);
    denoise.fold_storage(y, 4);
    denoise.vectorize(x, 8);
    sharp.store_root().compute_at(out, y);
    sharp.fold_storage(y, 8);
    sharp.vectorize(x, 8);
    sharp.align_bounds(y, 4);
    out.vectorize(x, 8);

    const Buffer<int32_t> got = out.realize({width, height});
    printf("%d\n", got(3, 5));
    return 0;
}
