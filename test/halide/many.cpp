// A pipeline of ten to twelve Funcs with about fifty directives, drawn from a seed, of which one is at fault, or two
// together: many SEED. It prints what is at fault, "NAME DIRECTIVE" each, and ends with status 1 where the result is
// wrong, with 3 where Halide reports an error.
#include "common.h"
#include <functional>
#include <string>
#include <vector>
using namespace Halide;

static Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi"), u("u");
static const int width = 32, height = 16;

struct Drawn {
    unsigned state;
    const bool scheduled;
    int directives = 0;
    Func last{"f_a"};
    std::vector<std::string> faults;

    unsigned draw(unsigned below) { return (state = state * 1664525 + 1013904223) / 65536 % below; }
    void add(int count, const std::function<void()> &schedule) {
        directives += count;
        if (scheduled) schedule();
    }
    Func next() { return Func(std::string("f_") + ++letter); }
    char letter = 'a';

    // Without a fault: values of the stage before, or sums of them.
    void pointwise() {
        Func f = next();
        f(x, y) = last(x, y) + last(x + 1, y) * 3;
        f.compute_root();
        switch (draw(3)) {
        case 0: add(3, [&] {
            f.split(y, yo, yi, 4);
            f.parallel(yo);
            f.vectorize(x, 8); });
            break;
        case 1: add(5, [&] {
            f.split(x, xo, xi, 8);
            f.split(y, yo, yi, 4);
            f.reorder(xi, yi, xo, yo);
            f.vectorize(xi);
            f.unroll(yi); });
            break;
        default: add(2, [&] {
            f.vectorize(x, 4);
            f.unroll(y, 2); });
        }
        last = f;
    }
    void sums() {
        Func f = next();
        RDom r(0, 8, "r");
        f(x, y) = 0;
        f(x, y) += last(x + r.x, y) * (r.x + 1) % 7;
        f.compute_root();
        add(4, [&] {
            f.vectorize(x, 8);
            f.update().split(x, xo, xi, 8);
            f.update().reorder(xi, r.x, xo);
            f.update().vectorize(xi); });
        if (draw(2)) add(1, [&] { f.update().parallel(y); });
        last = f;
    }
    void harmless() { draw(3) ? pointwise() : sums(); }

    void colliding_lanes() {
        Func f = next();
        RDom r(0, 8, "r");
        f(x, y) = 0;
        f(x, y) += last(x + r.x, y) * (r.x + 1) % 7;
        f.compute_root();
        add(3, [&] {
            f.update().allow_race_conditions();
            f.update().vectorize(r.x, 8);
            f.update().parallel(y); });
        faults = {f.name() + " vectorize"};
        last = f;
    }
    void small_fold() {
        Func f = next(), g = next();
        f(x, y) = last(x, y) * 2;
        g(x, y) = f(x, y) + f(x, y + 1) * 3 + f(x, y + 2);
        g.compute_root();
        add(5, [&] {
            g.vectorize(x, 8);
            f.store_root();
            f.compute_at(g, y);
            f.fold_storage(y, 2);
            f.vectorize(x, 4); });
        faults = {f.name() + " fold_storage"};
        last = g;
    }
    void split_before_rfactor() {
        Func f = next();
        RDom r(-2, 5, -2, 5, "r");
        f(x, y) = 0;
        f(x, y) += last(x + r.x, y + r.y);
        f.compute_root();
        add(5, [&] {
            f.vectorize(x, 4);
            f.update().split(x, xo, xi, 4);
            Func part = f.update().rfactor(r.x, u);
            part.compute_root();
            part.vectorize(x, 8);
            part.update().parallel(y); });
        faults = {f.name() + " split", f.name() + " rfactor"};
        last = f;
    }
    void stored_outside_of_a_guard() {
        Func f = next(), g = next();
        RDom r(-2, 5, -2, 5, "r");
        f(x, y) = 0;
        f(x, y) += last(x + r.x, y + r.y);
        g(x, y) = f(x, y) / 25;
        g.compute_root();
        add(5, [&] {
            g.split(x, xo, xi, 2, TailStrategy::GuardWithIf);
            f.compute_at(g, xi);
            f.store_root();
            f.update().reorder(r.y, r.x, x, y);
            f.update().unroll(r.y); });
        faults = {f.name() + " compute_at", f.name() + " store_root"};
        last = g;
    }

    Buffer<int> run() {
        last(x, y) = 2 * x + 5 * y + (x * y) % 3;
        last.compute_root();
        add(2, [&] {
            last.vectorize(x, 8);
            last.parallel(y, 8); });
        const unsigned kind = draw(4);
        for (unsigned before = draw(6); before > 0; --before) harmless();
        kind == 0 ? colliding_lanes() : kind == 1 ? small_fold() : kind == 2 ? split_before_rfactor() : stored_outside_of_a_guard();
        while (directives < 48) harmless();
        Func out("out");
        out(x, y) = last(x, y) + 1;
        add(2, [&] {
            out.split(y, yo, yi, 8);
            out.parallel(yo);
            out.bound(x, 0, width);
            out.bound(y, 0, height); });
        return out.realize({width, height});
    }
};

int main(int, char **argv) {
    const unsigned seed = atoi(argv[1]);
    Drawn faulty{seed, true}, plain{seed, false};
    try {
        const Buffer<int> got = faulty.run();
        for (const std::string &fault : faulty.faults) printf("%s\n", fault.c_str());
        const Buffer<int> want = plain.run();
        return check(got, [&](int i, int j) { return want(i, j); });
    } catch (const Halide::Error &error) {
        for (const std::string &fault : faulty.faults) printf("%s\n", fault.c_str());
        printf("%s\n", error.what());
        return 3;
    }
}
