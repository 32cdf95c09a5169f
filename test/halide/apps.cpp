// Twelve pipelines of the kinds that Halide's apps and tutorials have, each with one directive at fault; apps NAME runs
// one. They end with status 1 where the result is wrong, with 3 where Halide reports an error.
#include <map>
#include <string>

#include "common.h"
using namespace Halide;

static Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

static Buffer<int> image(int width, int height) {
    Buffer<int> made(width, height);
    made.for_each_element([&](int i, int j) { made(i, j) = (i * 7 + j * 13) % 256; });
    return made;
}
static Func clamped(Buffer<int> in) { return BoundaryConditions::repeat_edge(in); }

// Bounds: out is said to have fewer columns than are realized.
static int blur() {
    Func in("in"), bx("bx"), out("out");
    in(x, y) = x * 3 + y;
    bx(x, y) = in(x - 1, y) + in(x, y) + in(x + 1, y);
    out(x, y) = bx(x, y - 1) + bx(x, y) + bx(x, y + 1);
    out.split(y, yo, yi, 8).parallel(yo).vectorize(x, 8);
    out.bound(x, 0, 24);
    bx.compute_at(out, yi).vectorize(x, 8);
    Buffer<int> got = out.realize({32, 16});
    return check(got, [](int i, int j) { return 9 * (i * 3 + j); });
}

// Bounds: gray is computed with a border, which its bound leaves out.
static int harris() {
    Buffer<int> in = image(34, 20);
    Func gray("gray"), ix("ix"), iy("iy"), corners("corners");
    gray(x, y) = clamped(in)(x, y);
    ix(x, y) = gray(x + 1, y) - gray(x - 1, y);
    iy(x, y) = gray(x, y + 1) - gray(x, y - 1);
    corners(x, y) = ix(x, y) * iy(x, y);
    gray.compute_root().parallel(y).vectorize(x, 4);
    gray.bound(y, 0, 16);
    ix.compute_at(corners, yi);
    iy.compute_at(corners, yi);
    corners.tile(x, y, xo, yo, xi, yi, 8, 8).vectorize(xi, 4).parallel(yo);
    Buffer<int> got = corners.realize({32, 16});
    return got(0, 0) != got(0, 0);
}

// Race: the lanes of a sum of products add to one element.
static int matmul() {
    const int size = 32;
    Func a("a"), b("b"), product("product"), out("out");
    a(x, y) = x + y;
    b(x, y) = x - y;
    RDom k(0, size, "k");
    product(x, y) = 0;
    product(x, y) += a(k, y) * b(x, k);
    out(x, y) = product(x, y);
    a.compute_root().vectorize(x, 8);
    b.compute_root().vectorize(x, 8).parallel(y, 8);
    out.tile(x, y, xo, yo, xi, yi, 16, 16).vectorize(xi, 8);
    product.compute_at(out, xo).vectorize(x, 8);
    product.update().allow_race_conditions().reorder(k, x, y).vectorize(k, 8).unroll(y, 2);
    Buffer<int> got = out.realize({size, size});
    return check(got, [&](int i, int j) {
        int sum = 0;
        for (int n = 0; n < size; ++n) sum += (n + j) * (i - n);
        return sum;
    });
}

// Race: the lanes of a recursive filter read what their neighbors have not written yet.
static int iir_blur() {
    Func in("in"), filtered("filtered"), out("out");
    in(x, y) = x % 5 + y;
    RDom r(1, 15, "r");
    filtered(x, y) = in(x, y);
    filtered(x, r) = filtered(x, r) + filtered(x, r - 1);
    out(x, y) = filtered(x, y) * 2;
    in.compute_root().parallel(y);
    filtered.compute_root().vectorize(x, 8);
    filtered.update().allow_race_conditions().split(x, xo, xi, 8).parallel(xo).vectorize(r, 4);
    out.vectorize(x, 8);
    out.bound(y, 0, 16);
    Buffer<int> got = out.realize({32, 16});
    return check(got, [](int i, int j) {
        int sum = 0;
        for (int n = 0; n <= j; ++n) sum += i % 5 + n;
        return 2 * sum;
    });
}

// Fold factor: five rows are needed at a time.
static int unsharp() {
    Buffer<int> in = image(32, 32);
    Func gray("gray"), wide("wide"), out("out");
    gray(x, y) = clamped(in)(x, y);
    wide(x, y) = gray(x, y - 2) + gray(x, y - 1) + gray(x, y) + gray(x, y + 1) + gray(x, y + 2);
    out(x, y) = 2 * gray(x, y) - wide(x, y) / 5;
    out.split(y, yo, yi, 16).parallel(yo).vectorize(x, 8);
    wide.compute_at(out, yi).vectorize(x, 8);
    gray.store_at(out, yo).compute_at(out, yi).fold_storage(y, 3).vectorize(x, 8);
    Buffer<int> got = out.realize({32, 32});
    return got(0, 0) != got(0, 0);
}

// Fold factor, of the second stage of a chain.
static int stencil_chain() {
    Func first("first"), second("second"), third("third");
    first(x, y) = x + y * y;
    second(x, y) = first(x, y - 1) + first(x, y + 1);
    third(x, y) = second(x, y - 1) + second(x, y + 1);
    third.compute_root().vectorize(x, 8);
    first.compute_root().vectorize(x, 8).parallel(y);
    second.store_root().compute_at(third, y).vectorize(x, 4).fold_storage(y, 2);
    Buffer<int> got = third.realize({32, 16});
    return check(got, [](int i, int j) {
        const auto at = [&](int row) { return i + row * row; };
        return at(j - 2) + 2 * at(j) + at(j + 2);
    });
}

// Unsafe promise: all calls are said to have more than 64 columns.
static int conv_layer() {
    ImageParam in(Int(32), 2, "in");
    Func padded("padded"), out("out");
    padded(x, y) = BoundaryConditions::constant_exterior(in, 0)(x, y);
    RDom r(-1, 3, -1, 3, "r");
    out(x, y) = 0;
    out(x, y) += padded(x + r.x, y + r.y) * (r.x + 2);
    padded.compute_root().vectorize(x, 8);
    out.vectorize(x, 8).parallel(y);
    out.specialize(in.dim(0).extent() > 64);
    out.specialize_fail("too few columns");
    out.update().reorder(r.x, r.y, x, y).unroll(r.x);
    Buffer<int> data(32, 8);
    data.fill(1);
    in.set(data);
    Buffer<int> got = out.realize({32, 8});
    return got(0, 0) != got(0, 0);
}

// Unsafe promise: the input is said to be interleaved.
static int camera() {
    ImageParam raw(Int(32), 3, "raw");
    Var c("c");
    Func linear("linear"), out("out");
    linear(x, y, c) = raw(x, y, c) * 3;
    out(x, y, c) = linear(x, y, c) / 2;
    raw.dim(0).set_stride(3);
    linear.compute_at(out, y).vectorize(x, 8);
    out.reorder(x, y, c).parallel(y, 4).vectorize(x, 8);
    Buffer<int> data(32, 16, 3);
    data.fill(7);
    raw.set(data);
    Buffer<int> got = out.realize({32, 16, 3});
    return got(0, 0, 0) != 10;
}

// Alignment: the output lies four bytes behind an aligned address.
static int local_laplacian() {
    Func fine("fine"), coarse("coarse"), out("out");
    fine(x, y) = x * y;
    coarse(x, y) = (fine(2 * x, 2 * y) + fine(2 * x + 1, 2 * y + 1)) / 2;
    out(x, y) = fine(x, y) - coarse(x / 2, y / 2);
    fine.compute_root().parallel(y, 4);
    coarse.compute_root().vectorize(x, 4);
    out.vectorize(x, 8).parallel(y, 4);
    out.output_buffer().set_host_alignment(64);
    alignas(64) static int memory[1 + 32 * 16];
    Buffer<int> got(memory + 1, 32, 16);
    out.realize(got);
    return got(0, 0) != 0;
}

// Alignment: the columns are rounded up to a multiple of 16, more than the output has.
static int max_filter() {
    Func in("in"), rows("rows"), out("out");
    in(x, y) = (x * 5 + y * 3) % 17;
    rows(x, y) = max(in(x - 1, y), max(in(x, y), in(x + 1, y)));
    out(x, y) = max(rows(x, y - 1), max(rows(x, y), rows(x, y + 1)));
    rows.compute_at(out, y).vectorize(x, 4);
    in.compute_root().vectorize(x, 8);
    out.parallel(y, 4).align_bounds(x, 16);
    Buffer<int> got(24, 16);
    out.realize(got);
    return got(0, 0) != 15;
}

// Tail strategy: the output is no multiple of the factor wide.
static int resize() {
    Func in("in"), out("out");
    in(x, y) = x + 2 * y;
    out(x, y) = in(x / 2, y / 2) + in(x / 2 + 1, y / 2);
    in.compute_root().parallel(y).vectorize(x, 8);
    out.split(x, xo, xi, 8, TailStrategy::RoundUp).unroll(xi, 2).parallel(y);
    Buffer<int> got(30, 16);
    out.realize(got);
    return check(got, [](int i, int j) { return 2 * (i / 2 + j / 2 * 2) + 1; });
}

// Tail strategy: Halide 14 computes fewer values of sums than out needs, where out's loop is guarded.
static int bilateral() {
    Func in("in"), sums("sums"), out("out"), last("last");
    RDom r(-1, 3, -1, 3, "r");
    in(x, y) = x + 3 * y;
    sums(x, y) = 0;
    sums(x, y) += in(x + r.x, y + r.y);
    out(x, y) = sums(x, y) / 9;
    last(x, y) = out(x, y) + 1;
    in.compute_root().vectorize(x, 8);
    last.split(y, yo, yi, 4).vectorize(x, 8);
    last.bound(x, 0, 64);
    out.compute_root().split(x, xo, xi, 2, TailStrategy::GuardWithIf);
    sums.compute_at(out, xi).store_root();
    sums.update().unroll(r.x);
    Buffer<int> got = last.realize({64, 16});
    return check(got, [](int i, int j) { return i + 3 * j + 1; });
}

int main(int, char **argv) {
    const std::map<std::string, int (*)()> apps{{"blur", blur},
                                                {"harris", harris},
                                                {"matmul", matmul},
                                                {"iir_blur", iir_blur},
                                                {"unsharp", unsharp},
                                                {"stencil_chain", stencil_chain},
                                                {"conv_layer", conv_layer},
                                                {"camera", camera},
                                                {"local_laplacian", local_laplacian},
                                                {"max_filter", max_filter},
                                                {"resize", resize},
                                                {"bilateral", bilateral}};
    try {
        return apps.at(argv[1])();
    } catch (const Halide::Error &error) {
        printf("%s\n", error.what());
        return 3;
    }
}
