// Functions in which capture fails: after a graph and a break, and in the very first operation. With an argument the
// program ends by it.
#include <whittle/whittle.h>

#include <cstdio>
#include <exception>

using whittle::Tensor;

namespace {

Tensor project(Tensor x, Tensor w) {
    Tensor h = whittle::relu(x) + 1;
    if (h.sum().item<float>() > 0) h = h * 2;
    return whittle::mm(h, w);  // sizes do not fit
}

Tensor first(Tensor x, Tensor w) { return whittle::mm(x, w); }

template <class F>
void attempt(const char* name, F function) {
    try {
        function(whittle::ones({2, 3}), whittle::ones({2, 3}));
    } catch (const std::exception&) {
        std::printf("%s failed\n", name);
    }
}

}  // namespace

int main(int argc, char**) {
    if (argc > 1)  // nobody catches it
        whittle::compile(first, {.name = "first", .arg_names = {"x", "w"}})(whittle::ones({2, 3}), whittle::ones({2}));
    attempt("project", whittle::compile(project, {.name = "project", .arg_names = {"x", "w"}}));
    attempt("first", whittle::compile(first, {.name = "first", .arg_names = {"x", "w"}}));
}
