// Right: the culprit is the directive denoise.fold_storage(y, 2): its consumer reads three rows at a time. Halide stops the
// program with an error about denoise. With a factor of 4, the program exits with status 0.
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
    denoise.fold_storage(y, 2);
    denoise.vectorize(x, 8);
    sharp.store_root().compute_at(out, y);
    sharp.fold_storage(y, 4);
    sharp.vectorize(x, 8);
    out.vectorize(x, 8);

    const Buffer<int32_t> got = out.realize({width, height});
    printf("%d\n", got(3, 5));
    return 0;
}
