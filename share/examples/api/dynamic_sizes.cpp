// Calls a function with different batch sizes. The second size causes a recompile, and then the batch size is a symbol.
// With the argument "marked", the program marks the batch size as dynamic, and there is no recompile:
//   explain --recompiles --guards ./dynamic_sizes
//   explain --recompiles --guards ./dynamic_sizes -- marked
#include <whittle/whittle.h>

#include <cstdio>
#include <cstring>

using whittle::Tensor;

/// Returns how close each pair of rows is, and the mean; `note` is only for the log: no graph depends on it.
Tensor compare(const Tensor& batch, const Tensor& others, int note) {
    if (note < 0) std::printf("note %d\n", note);
    const Tensor both = whittle::cat({batch, others});
    const Tensor distance = (batch - others).reshape({batch.size(0), 2, 2}).abs().amax({1, 2});
    return distance + both.mean();
}

int main(int argc, char** argv) {
    const bool marked = argc > 1 && std::strcmp(argv[1], "marked") == 0;
    const auto compiled = whittle::compile(compare, {.arg_names = {"batch", "others", "note"}});
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        const Tensor batch = whittle::ones({3 + i, 4}), others = whittle::full({3 + i, 4}, 2.5);
        if (marked) {
            whittle::mark_dynamic(batch, 0);
            whittle::mark_dynamic(others, 0);
        }
        sum += compiled(batch, others, i).sum().item<float>();
    }
    std::printf("%.3f\n", sum);
}
