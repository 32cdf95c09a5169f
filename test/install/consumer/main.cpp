// A program that uses an installed Whittle: reads a graph, prints it, runs it on the reference backend.
#include <cstdio>

#include "graph/text.h"
#include "ops/core/interpreter.h"

int main() {
    const whittle::Graph graph = whittle::parse(
        "graph g {\n"
        "  %x = placeholder[\"x\"] : f32[2]\n"
        "  %y = aten.neg.default(%x) : f32[2]\n"
        "  return (%y)\n"
        "}\n");
    const auto results = whittle::evaluate(graph, std::vector{whittle::Tensor::of<float>({1.5F, -2.0F})});
    std::printf("%s%g %g\n", whittle::print(graph).c_str(), results[0].data<float>()[0], results[0].data<float>()[1]);
    return results[0].data<float>()[0] == -1.5F ? 0 : 1;
}
