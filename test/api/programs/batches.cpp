// A training step on batches whose size varies, so that the second is compiled for all that follow.
#include <whittle/whittle.h>

#include <cstdio>

using whittle::Tensor;

Tensor step(const Tensor& x, const Tensor& w) {
    const Tensor y = whittle::tanh(x.mm(w)).reshape({x.size(0) * 2, 2});
    return (y * y).sum() / static_cast<double>(x.size(0));
}

int main() {
    whittle::manual_seed(1);
    const Tensor w = whittle::rand({3, 4}).requires_grad_();
    const auto compiled = whittle::compile(step, {.arg_names = {"x", "w"}});
    for (const std::int64_t batch : {4, 6, 3, 8, 5, 7}) {
        compiled(whittle::ones({batch, 3}), w).backward();
    }
    std::printf("compiled %lld times\n", static_cast<long long>(compiled.stats().graphs));
}
