// A LibTorch program for the tests of capture: what it does is its first argument.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

extern char** environ;

namespace {

at::Tensor f(const at::Tensor& x) { return (x * 2).exp(); }

/// In-place ops on a tensor, on a view of it, and on memory that a view shares.
at::Tensor in_place(const at::Tensor& x) {
    at::Tensor y = x.clone();
    y.add_(1).mul_(2);
    y.select(0, 0).zero_();
    return y.relu_() + 1;
}

/// Writes that other tensors show: through slices of an input and of a computed tensor, to what a view shows.
at::Tensor aliases(at::Tensor& x) {
    x.slice(0, 0, 2).add_(1);
    at::Tensor y = x * 2;
    at::Tensor column = y.view({3, 1});
    y.narrow(0, 1, 2).copy_(x.slice(0, 0, 2));
    x.mul_(2);
    at::Tensor z = column + x;
    std::puts("aliases");
    column.t().sub_(1);
    y.select(0, 0).fill_(7);
    x.slice(0, 1, 3).zero_();
    return z;
}

at::Tensor inference(const at::Tensor& x) {
    c10::InferenceMode guard;
    at::Tensor y = x + 1;
    y.mul_(3);
    return y - 1;
}

/// Pointers to elements, typed and not.
float escape(const at::Tensor& x) {
    at::Tensor y = x + 1;
    float sum = y.data_ptr<float>()[0];
    float own[3] = {1, 2, 3};
    at::Tensor z = at::from_blob(own, {3}) * y;
    return sum + z.sum().item<float>();
}

at::Tensor host(const at::Tensor& x) {
    at::Tensor y = x * 2;
    if (at::equal(x, y)) return x;
    at::Tensor kept = y.masked_select(y > 0);
    std::cout << kept << "\n";
    std::ostringstream text;
    text << "no output";
    at::Tensor z = kept.sum() + static_cast<int64_t>(text.str().size());
    std::printf("%s\n", "printf");
    return z.sqrt();
}

at::Tensor step(const at::Tensor& x) { return at::tanh(x) + x; }

int from_outside(const std::string& what, const at::Tensor& x) {
    if (what == "segv") raise(SIGSEGV);
    if (what == "term") raise(SIGTERM);
    if (what == "abort") std::abort();
    if (what == "_exit") _exit(4);
    if (what == "throw") at::mm(x, x);
    return 0;
}

int with_children(const std::string& what, const at::Tensor& x, char** more) {
    std::cout << "parent\n" << std::flush;
    const pid_t child = fork();
    if (child == 0) {
        if (what == "exec") execv(more[0], more);
        f(f(x));
        std::cout << "child\n" << std::flush;
        _exit(5);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::cout << "child ended with " << WEXITSTATUS(status) << "\n";
    return f(x).dim() - 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    const at::Tensor x = at::arange(3, at::kFloat);
    at::Tensor y = f(x);
    if (what == "both") {
        for (int i = 0; i < 3; ++i) {
            std::cout << "out " << i << "\n" << std::flush;
            y = f(y);
            std::cerr << "err " << i << "\n";
        }
        return 3;
    }
    if (what == "env")
        for (char** entry = environ; *entry; ++entry) std::puts(*entry);
    if (what == "fd") std::printf("%d\n", open("/dev/null", O_RDONLY));
    if (what == "arguments")
        for (int i = 0; i < argc; ++i) std::printf("[%s]\n", argv[i]);
    if (what == "input") {
        std::string line;
        while (std::getline(std::cin, line)) std::cout << "read " << line << "\n";
    }
    if (what == "fork" || what == "exec") return with_children(what, x, argv + 2);
    if (what == "loop")
        for (int i = 0; i < std::atoi(argv[2]); ++i) y = step(x);
    if (what == "in_place") y = in_place(x);
    if (what == "aliases") {
        y = x.clone();
        aliases(y);
    }
    if (what == "inference") y = inference(x);
    if (what == "escape") std::printf("%g\n", static_cast<double>(escape(x)));
    if (what == "host") y = host(x);
    if (what == "detached") {
        std::promise<void> done;
        std::thread([&done] {
            f(at::ones({4}));
            done.set_value();
            for (;;) pause();
        }).detach();
        done.get_future().wait();
    }
    return from_outside(what, x);
}
