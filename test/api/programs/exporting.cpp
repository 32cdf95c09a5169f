// Functions for trace --fullgraph=export: one graph each; `looked_up` reads what it is not given, `fixed` has a marked
// size of one value. What they use is made before main(), when the library's own initializers may not have run yet.
#include <whittle/whittle.h>

#include <string>

using whittle::Tensor;

namespace {

const Tensor kTable = whittle::ones({4});

Tensor affine(Tensor x, Tensor w) { return x * w + 1; }

Tensor looked_up(Tensor x) {
    const Tensor noise = whittle::rand({4});
    return affine(x, kTable) + noise;
}

const auto kAffine = whittle::compile(affine, {.name = "affine", .arg_names = {"x", "w"}});

const auto kDoubled = whittle::allow_in_graph("exporting.doubled", [](Tensor x) { return x * 2; });

Tensor opaque(Tensor x) { return kDoubled(x + 1) - 1; }

}  // namespace

int main(int argc, char** argv) {
    const std::string wanted = argc > 1 ? argv[1] : "affine";
    const Tensor x = whittle::ones({4});
    if (wanted == "affine") kAffine(x, x);
    if (wanted == "opaque") whittle::compile(opaque, {.name = "opaque", .arg_names = {"x"}})(x);
    if (wanted == "fixed") {
        Tensor rows = whittle::ones({4});
        whittle::mark_dynamic(rows, 0);
        whittle::compile(affine, {.name = "fixed", .arg_names = {"x", "w"}})(rows, x);
    }
    if (wanted == "looked_up") whittle::compile(looked_up, {.name = "looked_up", .arg_names = {"x"}})(x);
}
