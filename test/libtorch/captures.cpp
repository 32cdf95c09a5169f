// A LibTorch program for the tests of capture: ways of computing that are easily captured wrongly. What it does is its
// first argument.
#include <ATen/autocast_mode.h>
#include <torch/csrc/api/include/torch/torch.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/library.h>
#include <torch/script.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// TorchScript's interpreter keeps loop counters and conditions on the stack by which it calls ops.
void script() {
    const auto unit = torch::jit::compile(R"(
def loop(x, n: int):
    for i in range(n):
        x = torch.tanh(x)
        if bool(x.sum() > 0):
            x = x + i
    return x
)");
    std::printf("%.4f\n", unit->run_method("loop", torch::ones({3}), 3).toTensor().sum().item<double>());
}

torch::Tensor layer(const torch::Tensor& x, const torch::Tensor& w) { return x.matmul(w.t()).relu(); }

/// Every thread makes views of one weight at one place in memory.
void threads() {
    const torch::NoGradGuard guard;
    const torch::Tensor weight = torch::randn({4, 4});
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i)
        workers.emplace_back([&weight] {
            const torch::NoGradGuard no_grad;
            const torch::Tensor x = torch::randn({2, 4});
            for (int k = 0; k < 200; ++k) layer(x, weight);
        });
    for (std::thread& worker : workers) worker.join();
}

struct Square : torch::autograd::Function<Square> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x) {
        context->save_for_backward({x});
        return x * x;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const torch::Tensor x = context->get_saved_variables()[0];
        const torch::Tensor twice = x + x;
        return {(twice * gradients[0]).neg().neg()};
    }
};

torch::Tensor product(const torch::Tensor& x, const torch::Tensor& w) { return torch::linear(x.mm(w), w).matmul(w); }

void set_autocast(bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(at::kCPU, on);
#else
    at::autocast::set_cpu_enabled(on);
#endif
}

void autocast() {
    const torch::Tensor x = torch::randn({3, 3}), w = torch::randn({3, 3});
    set_autocast(true);
    const torch::Tensor y = product(x, w);
    at::autocast::clear_cache();
    set_autocast(false);
    std::printf("%s\n", std::string(torch::toString(y.scalar_type())).c_str());
}

torch::Tensor scaled(const torch::Tensor& w) { return (w * 3).sum(); }

void leaves() {
    for (int i = 0; i < 3; ++i) {
        const torch::Tensor w = torch::ones({3}, torch::requires_grad());
        scaled(w).backward();
    }
}

torch::Tensor shifted(const torch::Tensor& x, const std::vector<double>& by) {
    return x + torch::tensor(by, torch::kFloat32);
}

/// LibTorch fills memory through pointers itself.
void pointers() {
    torch::data::transforms::Normalize<> normalize({0.5, 0.25}, {2.0, 4.0});
    const torch::Tensor x = torch::ones({2, 2, 2});
    std::printf("%.4f\n", (shifted(torch::ones({2}), {1, 2}).sum() + normalize(x).sum()).item<double>());
}

torch::Tensor grown(const torch::Tensor& x) { return x.exp() + 1; }

/// Tensors that have no sizes to ask for.
void nested() {
    const torch::Tensor list = at::_nested_tensor_from_tensor_list({torch::ones({2}), torch::ones({3})});
    at::relu(list);
    std::printf("%.4f\n", grown(torch::zeros({2})).sum().item<double>());
}

torch::Tensor kinds(const torch::Tensor& x) {
    const torch::Tensor sparse = x.to_sparse().mul(2), rows = x.to_sparse_csr();
    const torch::Tensor product = rows.matmul(x) + sparse.to_dense();
    torch::empty({2, 2}, torch::device(torch::kMeta)).add(1);
    return product + x.to_mkldnn().relu().to_dense() +
           torch::quantize_per_tensor(x, 0.5, 0, torch::kQUInt8).dequantize();
}

/// Never does the same twice, and does not end.
void wanders() {
    const torch::NoGradGuard guard;
    torch::Tensor x = torch::ones({4});
    std::uint32_t random = 1;
    for (int i = 0;; i += i < 80000) {
        random = random * 1664525u + 1013904223u;
        x = random >> 31 ? torch::tanh(x) : x.sin();
        if (random >> 29 == 5) x = x + 1;
        if (i == 79999) std::puts("ready"), std::fflush(stdout);
    }
}

// ---- Modules that several threads use

std::mutex users_mutex;

struct Part : torch::nn::Module {
    Part() { weight = register_parameter("weight", torch::zeros({1})); }
    ~Part() override { const std::lock_guard lock(users_mutex); }
    torch::Tensor weight;
};

/// Modules come and go on one thread, another one runs ops while it holds a lock that their destructor takes.
void destructors() {
    torch::nn::Sequential network;
    for (int i = 0; i < 100; ++i) network->push_back(torch::nn::Linear(1, 1));
    const torch::Tensor weight = network->parameters()[0];
    ::alarm(60);
    std::atomic<bool> done = false;
    std::thread user([&] {
        while (!done) {
            const std::lock_guard lock(users_mutex);
            weight.detach();
        }
    });
    for (int i = 0; i < 150; ++i) {
        auto part = std::make_shared<Part>();
        std::this_thread::sleep_for(std::chrono::microseconds(i * 10));
        part.reset();
    }
    done = true;
    user.join();
    std::puts("done");
}

/// Modules are gone, and their memory is others', before the next op.
void short_lived() {
    const torch::Tensor held = torch::nn::Linear(1, 1)->parameters()[0];
    for (int i = 0; i < 200; ++i) {
        { std::vector<std::shared_ptr<torch::nn::Module>> gone(8, std::make_shared<torch::nn::Identity::Impl>()); }
        held.detach().exp();
        delete[] new char[static_cast<std::size_t>(i) * 8];
    }
    std::puts("done");
}

/// LibTorch makes 1 - x of memory without contents, which is filled and then written to.
torch::Tensor one_minus(const torch::Tensor& x) { return 1 - x.relu(); }

/// Other memory, and what lies there, without a new identity or version of the tensor.
torch::Tensor twice(const torch::Tensor& x) { return x * 2; }

/// Computes once, and then waits to be killed.
void waits() {
    std::printf("%.4f\n", twice(torch::ones({3})).sum().item<double>());
    std::fflush(stdout);
    for (;;) ::pause();
}

void other_memory() {
    torch::Tensor x = torch::ones({3}) * 2;
    const torch::Tensor before = twice(x), other = torch::ones({3}) * 5;
    x.set_data(other);
    std::printf("%.4f\n", (twice(x) - before).sum().item<double>());
}

/// Memory that is another tensor's from now on, and is written to through it; and a part of data(), which counts its
/// own writes.
torch::Tensor adopted(const torch::Tensor& x) {
    const torch::Tensor before = x * 2;
    torch::Tensor other = torch::zeros({3, 4});
    other.set_(x);
    other[0] = 5;
    const torch::Tensor between = x + before;
    x.data().select(0, 1).fill_(7);
    return between + x;
}

/// What one thread writes last, another one writes over.
void written_over() {
    torch::Tensor x = torch::zeros({4});
    std::thread([&x] {
        x.add_(1);
        x.slice(0, 0, 1).mul_(0.5);
    }).join();
    x.add_(100);
    std::printf("%.4f\n", x.sum().item<double>());
}

/// A thread computes with what main computed, and main with what the thread did: three graphs, none within another.
void round_trip() {
    const torch::Tensor a = torch::ones({4}) + 1;
    torch::Tensor b;
    std::thread([&] { b = a * 2; }).join();
    std::printf("%.4f\n", (b + a).sum().item<double>());
}

// ---- First uses

/// Of a constant, by a view: the view is this function's.
torch::Tensor row_of(const torch::Tensor& table, std::int64_t i, const torch::Tensor& x) { return table[i] * x; }

torch::Tensor filled_by_hand(const torch::Tensor& x) {
    torch::Tensor index = torch::empty({3}, torch::kLong);
    auto elements = index.accessor<std::int64_t, 1>();
    for (std::int64_t i = 0; i < 3; ++i) elements[i] = 2 - i;
    return x.index_select(0, index) * 2;
}

void first_uses() {
    const torch::Tensor table = torch::tensor({{1.0F, 2.0F, 3.0F}, {4.0F, 5.0F, 6.0F}}), x = torch::ones({3}) * 3;
    const torch::Tensor rows = row_of(table, 1, x) + row_of(table, 0, x);
    std::printf("%.4f\n", (rows + filled_by_hand(x)).sum().item<double>());
}

/// LibTorch's own call stack of a frozen module reads functions that are gone.
void frozen() {
    torch::jit::Module inner("Inner"), outer("Outer");
    inner.register_buffer("count", torch::zeros({}));
    inner.define("def forward(self, x):\n    self.count.add_(1)\n    return torch.relu(x) * self.count\n");
    outer.register_module("inner", inner);
    outer.define("def forward(self, x):\n    return self.inner.forward(x)\n");
    outer.eval();
    torch::jit::Module module = torch::jit::freeze(outer);
    for (int i = 0; i < 2; ++i)
        std::printf("%.4f\n", module.forward({torch::ones({2, 3})}).toTensor().sum().item<double>());
}

// ---- A thread that works for others

torch::Tensor served(torch::nn::Linear& net, const torch::Tensor& x) { return torch::relu(net(x)); }

class Worker {
  public:
    Worker() : thread_([this] { work(); }) {}
    ~Worker() {
        give(nullptr);
        thread_.join();
    }
    void give(std::function<void()> job) {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
        some_.notify_one();
    }

  private:
    void work() {
        for (;;) {
            std::unique_lock lock(mutex_);
            some_.wait(lock, [this] { return !jobs_.empty(); });
            const std::function<void()> job = std::move(jobs_.front());
            jobs_.pop_front();
            lock.unlock();
            if (!job) return;
            job();
        }
    }
    std::mutex mutex_;
    std::condition_variable some_;
    std::deque<std::function<void()>> jobs_;
    std::thread thread_;
};

/// One network and the other in turn: each call is a call of served().
void jobs() {
    const torch::NoGradGuard guard;
    torch::nn::Linear one(3, 2), other(3, 2);
    double sum = 0;
    {
        Worker worker;
        for (int i = 0; i < 6; ++i)
            worker.give([&, i, x = torch::ones({1, 3}) * i] {
                const torch::NoGradGuard none;
                const torch::Tensor result = served(i % 2 ? one : other, x);
                sum += result.size(0);
            });
    }
    std::printf("%.4f\n", sum);
}

/// A kernel of the program's own for an op of LibTorch: what it computes is not what Whittle knows the op to compute.
torch::Tensor own_hardswish(const torch::Tensor& x) { return torch::full_like(x, 42); }

torch::Tensor replaced(const torch::Tensor& x) { return at::hardswish(x * 2); }

void own_kernel() {
    const torch::NoGradGuard guard;
    torch::Library library(torch::Library::IMPL, "aten", c10::make_optional(c10::DispatchKey::CPU), __FILE__, __LINE__);
    library.impl("hardswish", own_hardswish);
    const torch::Tensor x = torch::ones({3});
    std::printf("%.4f\n", (replaced(x) + grown(x)).sum().item<double>());
}

/// As Python's Adam does with foreach=True: ops of lists, in place and not.
torch::Tensor optimized(const std::vector<torch::Tensor>& gradients) {
    std::vector<torch::Tensor> parameters, means, squares;
    for (const torch::Tensor& gradient : gradients) {
        parameters.push_back(torch::ones_like(gradient));
        means.push_back(torch::zeros_like(gradient));
        squares.push_back(torch::zeros_like(gradient));
    }
    at::_foreach_mul_(means, 0.9);
    at::_foreach_add_(means, gradients, 0.1);
    at::_foreach_mul_(squares, 0.99);
    at::_foreach_addcmul_(squares, gradients, gradients, 0.01);
    std::vector<torch::Tensor> roots = at::_foreach_sqrt(squares);
    at::_foreach_div_(roots, std::vector<at::Scalar>{0.5, 0.25});
    at::_foreach_add_(roots, 1e-8);
    at::_foreach_addcdiv_(parameters, means, roots, -0.5);
    const std::vector<torch::Tensor> lengths = at::_foreach_norm(at::_foreach_maximum(parameters, roots));
    at::_foreach_zero_(means);
    return torch::stack(lengths) + means[0].sum();
}

// ---- Sequences of unlike lengths

torch::Tensor bags(const torch::Tensor& table) {
    const torch::Tensor words = torch::tensor({1, 4, 2, 4}), starts = torch::tensor({0, 3});
    return std::get<0>(at::embedding_bag(table, words, starts, false, 1)).tanh();
}

torch::Tensor alignment(const torch::Tensor& scores) {
    const torch::Tensor labels = torch::tensor({{1, 2}, {2, 0}});
    return at::ctc_loss(scores.log_softmax(2), labels, at::IntArrayRef{4, 3}, at::IntArrayRef{2, 1});
}

torch::Tensor packed(torch::nn::LSTM& net, const torch::Tensor& x) {
    const auto sequence = torch::nn::utils::rnn::pack_padded_sequence(x, torch::tensor({4, 2}), true);
    const auto result = net->forward_with_packed_input(sequence);
    return std::get<0>(torch::nn::utils::rnn::pad_packed_sequence(std::get<0>(result), true));
}

void sequences() {
    torch::nn::LSTM net(torch::nn::LSTMOptions(3, 2).bidirectional(true).batch_first(true));
    const torch::Tensor table = torch::ones({5, 3}, torch::requires_grad());
    const torch::Tensor y = packed(net, torch::ones({2, 4, 3})),
                        loss = alignment(y.transpose(0, 1)) + bags(table).sum();
    loss.backward();
    std::printf("%.4f %.4f\n", loss.item<double>(), table.grad().sum().item<double>());
}

}  // namespace

/// A view sees a write through its base, and is read behind the break.
torch::Tensor seen_through_a_view(const torch::Tensor& x) {
    torch::Tensor y = x.relu();
    const torch::Tensor v = y[0].slice(0, 0, 2);
    y.add_(1);
    std::printf("%.4f\n", y.sum().item<double>());
    return v * 2;
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    torch::manual_seed(1);
    if (what == "script") script();
    if (what == "threads") threads();
    if (what == "backward") {
        torch::Tensor x = torch::ones({3}, torch::requires_grad());
        for (int i = 0; i < 3; ++i) Square::apply(x * 2).sum().backward();
        std::printf("%.4f\n", x.grad().sum().item<double>());
    }
    if (what == "autocast") autocast();
    if (what == "leaves") leaves();
    if (what == "pointers") pointers();
    if (what == "nested") nested();
    if (what == "kinds") {
        const torch::NoGradGuard guard;
        std::printf("%.4f\n", kinds(torch::eye(2)).sum().item<double>());
    }
    if (what == "one_minus") std::printf("%.4f\n", one_minus(torch::ones({4})).sum().item<double>());
    if (what == "other_memory") other_memory();
    if (what == "adopted") std::printf("%.4f\n", adopted(torch::zeros({3, 4})).sum().item<double>());
    if (what == "written_over") written_over();
    if (what == "round_trip") round_trip();
    if (what == "mask") {
        const torch::Tensor x = torch::arange(4.0);
        std::printf("%.4f\n", x.index({x > 1}).mul(2).sum().item<double>());
    }
    if (what == "wanders") wanders();
    if (what == "waits") waits();
    if (what == "jobs") jobs();
    if (what == "destructors") destructors();
    if (what == "short_lived") short_lived();
    if (what == "own_kernel") own_kernel();
    if (what == "optimized") {
        const torch::NoGradGuard guard;
        std::printf("%.4f\n", optimized({torch::ones({3}), torch::ones({2, 2})}).sum().item<double>());
    }
    if (what == "sequences") sequences();
    if (what == "first_uses") first_uses();
    if (what == "frozen") frozen();
    if (what == "seen") std::printf("%.4f\n", seen_through_a_view(torch::ones({2, 3})).sum().item<double>());
}
