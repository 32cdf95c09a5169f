// Uses cond(), while_loop() and map(), which do not break the graph, in place of `if` and `while`.
// explain --fullgraph --ops ./control_flow reports 1 graph with 5 nested graphs, and no graph break.
#include <whittle/whittle.h>

#include <cstdio>

using whittle::Tensor;

/// The square root by Newton's method, element by element, until all elements converge.
Tensor square_root(const Tensor& x) {
    const auto moving = [&](const Tensor& root, const Tensor& last) { return ((root - last).abs() > 1e-6 * x).any(); };
    const auto step = [&](const Tensor& root, const Tensor&) { return std::tuple((root + x / root) / 2, root); };
    return std::get<0>(whittle::while_loop(moving, step, x, whittle::zeros_like(x)));
}

/// Each row divided by its norm; a row of zeros stays unchanged.
Tensor normalized(const Tensor& rows) {
    const auto normalize = [](const Tensor& row) {
        const Tensor squares = (row * row).sum();
        return whittle::cond(
            squares > 0, [](const Tensor& r, const Tensor& s) { return r / square_root(s); },
            [](const Tensor& r, const Tensor&) { return r; }, row, squares);
    };
    return whittle::map(normalize, rows);
}

int main() {
    const auto compiled = whittle::compile(normalized, {.fullgraph = true});
    const Tensor rows = whittle::tensor(std::vector<float>{3, 4, 0, 0, 5, 12}, {3, 2});
    for (const float value : compiled(rows).to_vector<float>()) std::printf("%.4f ", value);
    std::printf("\n");
}
