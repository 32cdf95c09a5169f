// A LibTorch program for the tests of capture: what it does, one after the other, is its first argument:
// "host,fd,both".
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
#include <stdexcept>
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

[[gnu::noinline]] at::Tensor host(const at::Tensor& x) {  // found by its symbol, too
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

/// Elements written through a pointer that nobody sees, into a computed tensor and into borrowed memory.
at::Tensor unseen(const at::Tensor& x) {
    at::Tensor y = x + 1;
    static_cast<float*>(y.data_ptr())[0] = 42;
    at::Tensor z = y * 2;
    float own[3] = {1, 2, 3};
    at::Tensor borrowed = at::from_blob(own, {3});
    z = z + borrowed;
    own[1] = 50;
    return z * borrowed;
}

/// Kinds of tensors that Whittle does not have.
at::Tensor strange(const at::Tensor& x) {
    try {
        std::ostringstream text;
        text << at::empty({3}, at::device(at::kMeta));
    } catch (const std::exception&) {  // it cannot be printed
    }
    at::Tensor c = at::view_as_complex(x.repeat({2, 1}).t().contiguous());
    return at::view_as_real(c * c).sum() + x.to_sparse().to_dense() + at::empty({3}, at::device(at::kMeta)).dim();
}

at::Tensor step(const at::Tensor& x) { return at::tanh(x) + x; }

/// How the program ends, if not by returning.
void end_by(const std::string& what) {
    if (what == "segv") raise(SIGSEGV);
    if (what == "term") raise(SIGTERM);
    if (what == "abort") std::abort();
    if (what == "_exit") _exit(4);
    if (what == "quick_exit") std::quick_exit(6);
    if (what == "throw") throw std::runtime_error("thrown");
}

/// Three operations; the program may end between them.
at::Tensor ending(const at::Tensor& x, const std::string& how) {
    at::Tensor y = at::exp(x * 2);
    end_by(how);
    return y + 1;
}

/// Three calls with something in between, then the end: in main, or inside the fourth.
void calls(at::Tensor x, const std::string& how, const std::string& inside) {
    for (int i = 0; i < 3; ++i) x = ending(x, "").detach();
    if (!inside.empty()) ending(x, inside);
    end_by(how);
}

int with_children(bool executes, const at::Tensor& x, char** more) {
    std::cout << "parent\n" << std::flush;
    const pid_t child = fork();
    if (child == 0) {
        if (executes) execv(more[0], more);
        f(f(x));
        std::cout << "child\n" << std::flush;
        std::exit(5);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::cout << "child ended with " << WEXITSTATUS(status) << "\n" << std::flush;
    if (!executes && std::system("exit 3") != 3 << 8) return 1;
    return f(x).dim() - 1;
}

void prints(at::Tensor y) {
    for (int i = 0; i < 3; ++i) {
        std::cout << "out " << i << "\n" << std::flush;
        y = f(y);
        std::cerr << "err " << i << "\n";
    }
}

void reads() {
    std::string line;
    while (std::getline(std::cin, line)) std::cout << "read " << line << "\n";
}

void detaches() {
    std::promise<void> done;
    std::thread([&done] {
        f(at::ones({4}));
        done.set_value();
        for (;;) pause();
    }).detach();
    done.get_future().wait();
}

/// The exit status, if that is to be.
int run(const std::string& what, at::Tensor x, int argc, char** argv) {
    if (what == "both") prints(f(x));
    if (what == "both") return 3;
    if (what == "env")
        for (char** entry = environ; *entry; ++entry) std::puts(*entry);
    if (what == "fd") std::printf("%d\n", open("/dev/null", O_RDONLY));
    if (what == "arguments")
        for (int i = 1; i < argc; ++i) std::printf("[%s]\n", argv[i]);
    if (what == "input") reads();
    if (what == "fork" || what == "exec") return with_children(what == "exec", x, argv + 2);
    if (what == "replace") execl("/bin/echo", "echo", "another program", nullptr);
    if (what == "loop")
        for (long i = 0; i != std::atol(argv[2]); ++i) step(x);
    if (what == "huge")
        for (int i = 0; i < 64; ++i) step(at::full({1 << 20}, i));
    if (what == "in_place") in_place(x);
    if (what == "aliases") {
        at::Tensor y = x.clone();
        aliases(y);
    }
    if (what == "inference") inference(x);
    if (what == "escape") std::printf("%g\n", static_cast<double>(escape(x)));
    if (what == "unseen") std::printf("%g\n", unseen(x).sum().item<double>());
    if (what == "strange") strange(x);
    if (what == "host") host(x);
    if (what == "late") std::atexit([] { f(at::ones({2})); });
    if (what == "detached") detaches();
    if (what == "calls") calls(x, argv[2], argc > 3 ? argv[3] : "");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const at::Tensor x = at::arange(3, at::kFloat);
    f(x);
    std::istringstream list(argc > 1 ? argv[1] : "");
    int status = 0;
    for (std::string what; status == 0 && std::getline(list, what, ',');) status = run(what, x, argc, argv);
    return status;
}
