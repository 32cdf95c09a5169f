// The example of PyTorch's troubleshooting guide: a sum, a relu and five linear layers. Some backends fail on the relu.
// With the argument `toy`, the backend is a function of this program.
#include <whittle/whittle.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

using whittle::Tensor;

namespace {

std::vector<Tensor> weights() {
    std::vector<Tensor> made;
    for (int i = 0; i < 5; ++i) made.push_back(whittle::ones({20, 20}) * (0.01 * (i + 1)));
    return made;
}

const std::vector<Tensor> layers = weights();

Tensor model(Tensor a) {
    for (const Tensor& weight : layers) a = whittle::mm(a, weight);
    return a;
}

Tensor test_backend_error(Tensor x, Tensor y) {
    const Tensor z = x + y;
    const Tensor a = whittle::relu(z);
    return model(a);
}

/// Fails where a graph has a relu.
whittle::BackendAnswer toy_compiler(const whittle::BackendGraph& graph) {
    for (const whittle::BackendNode& node : graph.nodes)
        if (node.target == "aten.relu.default") throw std::runtime_error("toy_compiler knows no relu");
    return graph;
}

}  // namespace

int main(int argc, char** argv) {
    whittle::CompileOptions options{.name = "test_backend_error", .arg_names = {"x", "y"}};
    if (argc > 1 && std::string(argv[1]) == "toy") options.backend = toy_compiler;
    try {
        const Tensor result =
            whittle::compile(test_backend_error, options)(whittle::ones({20, 20}), whittle::ones({20, 20}));
        std::printf("%.3f\n", result.sum().item<double>());
    } catch (const std::exception& error) {
        std::printf("error: %s\n", error.what());
        return 1;
    }
}
