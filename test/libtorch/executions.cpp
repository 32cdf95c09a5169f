// Loops inside a function, which is one call of it, and loops around one, which are as many: alike on the stack.
#include <torch/torch.h>

#include <cstdio>
#include <memory>
#include <vector>

namespace {

using torch::Tensor;

/// Each step begins with a view of what it is given.
__attribute__((noinline)) void heat(const Tensor& u, int times) {
    for (int i = 0; i < times; ++i) {
        Tensor inner = u.slice(0, 1, -1);
        inner.add_(u.slice(0, 2) - inner, 0.25);
    }
}

__attribute__((noinline)) void halve(const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors) t.mul_(0.5);
}

/// Leaves its result in the memory of its caller.
__attribute__((noinline)) void iterate(Tensor& x, int times) {
    for (int i = 0; i < times; ++i) x = x * 0.5 + 1;
}

/// Its weights are those that the last call left.
__attribute__((noinline)) void descend(const Tensor& w, const Tensor& x) {
    const Tensor gradient = (w * x).tanh() * x;
    w.sub_(gradient, 0.1);
}

/// Keeps its state where no caller of it shows that it went on.
class Feed {
  public:
    explicit Feed(int times) : left_(std::make_unique<int>(times)) {}
    __attribute__((noinline)) bool more() { return (*left_)-- > 0; }

  private:
    std::unique_ptr<int> left_;
};

__attribute__((noinline)) void pour(const Tensor& x) { x.mul_(0.5); }

}  // namespace

int main() {
    Tensor u = torch::arange(5.0) * 2, x = torch::ones({2}) + 1, w = torch::ones({2}) * 3;
    heat(u, 3);
    halve({u, x, w});
    iterate(x, 3);
    for (int i = 0; i < 4; ++i) descend(w, x);
    Feed feed(3);
    Tensor v = torch::ones({2}) * 4;
    while (feed.more()) pour(v);
    Tensor k = torch::ones({2, 2, 2, 2, 2});
    k.index_put_({0, 0, 1, 1}, 0);  // a loop over the indices, of LibTorch's own
    std::printf("%.3f\n", (k.sum() + u.sum() + x.sum() + w.sum()).item<float>());
    return 0;
}
