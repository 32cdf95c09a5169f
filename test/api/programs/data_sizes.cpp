// Sizes that are data, and a check of a value.
#include <whittle/whittle.h>

#include <cstdio>

using whittle::Tensor;

Tensor kept(const Tensor& x) {
    const Tensor some = whittle::masked_select(x * 2, x > 0);
    whittle::check(some.sum() < 100, "what is kept is below 100");
    return some + 1;
}

int main() {
    const auto compiled = whittle::compile(kept, {.arg_names = {"x"}});
    for (const float last : {3.F, -3.F, 5.F}) {
        const Tensor x = whittle::tensor({1.F, -2.F, last});
        std::printf("%lld kept\n", static_cast<long long>(compiled(x).numel()));
    }
    try {
        compiled(whittle::tensor({70.F, -2.F, 3.F}));
    } catch (const whittle::CheckError& error) {
        std::printf("%s\n", error.what());
    }
}
