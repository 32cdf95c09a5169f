// The example of TorchDynamo's guide to graph breaks, in Whittle's Tensor API.
//   explain ./toy_example
// reports 3 graphs, 6 operations, and 2 graph breaks: at the print, and at the branch on a tensor's value.
#include <whittle/whittle.h>

#include <iostream>

whittle::Tensor toy_example(whittle::Tensor a, whittle::Tensor b) {
    whittle::Tensor x = a / (abs(a) + 1);
    std::cout << "woo" << std::endl;
    if (b.sum() < 0) b = b * -1;
    return x * b;
}

int main() {
    const auto compiled = whittle::compile(toy_example, {.arg_names = {"a", "b"}});
    std::cout << compiled(whittle::ones({10}), whittle::ones({10})) << "\n";
}
