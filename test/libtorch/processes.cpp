// A LibTorch program of several processes, for the tests of capture: it forks workers, and starts itself in each way
// that there is. `processes` does all of it, `processes WHAT` one thing; `processes child` is what it starts.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

at::Tensor scaled(const at::Tensor& x, double by) { return (x * by).relu(); }

/// What each worker does: on a tensor of the parent's, then on its own.
double work(const at::Tensor& x, int number) {
    const at::Tensor y = scaled(x, 2) + at::ones({4});
    return y.sum().item<double>() + number;
}

int forks(const at::Tensor& x) {
    const at::Tensor shared = scaled(x, 3);
    std::vector<pid_t> workers;
    for (int i = 0; i < 3; ++i) {
        const pid_t worker = fork();
        if (worker == 0) {
            double sum = 0;
            for (int k = 0; k < 2; ++k) sum += work(shared, i);
            _exit(sum == 2 * (4 + 6 * (0 + 1 + 2 + 3) + i) ? i : 100);
        }
        workers.push_back(worker);
    }
    int sum = 0;
    for (const pid_t worker : workers) {
        int status = 0;
        waitpid(worker, &status, 0);
        sum += WEXITSTATUS(status);
    }
    return sum;  // 0 + 1 + 2
}

/// The child that is forked first waits for the other to end before it runs anything.
int forks_out_of_turn(const at::Tensor& x) {
    int other_ended[2];
    if (pipe(other_ended) != 0) return -1;
    const pid_t first = fork();
    if (first == 0) {
        close(other_ended[1]);
        char nothing;
        const ssize_t size = read(other_ended[0], &nothing, 1);
        _exit(size == 0 ? scaled(x, 1).sum().item<int>() : 100);
    }
    const pid_t second = fork();
    if (second == 0) _exit(scaled(x, 2).sum().item<int>());
    close(other_ended[1]);
    int sum = 0;
    for (const pid_t child : {second, first}) {
        int status = 0;
        waitpid(child, &status, 0);
        sum += WEXITSTATUS(status);
    }
    return sum;  // 6 + 12
}

/// A child of a child, which leaves by exit().
int forks_twice(const at::Tensor& x) {
    const pid_t child = fork();
    if (child == 0) {
        work(x, 0);
        const pid_t grandchild = fork();
        if (grandchild == 0) {
            scaled(x, 4);
            std::exit(7);
        }
        int status = 0;
        waitpid(grandchild, &status, 0);
        std::exit(WEXITSTATUS(status) + 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);  // 8
}

int spawns(const char* program) {
    char* const arguments[] = {const_cast<char*>(program), const_cast<char*>("child"), nullptr};
    pid_t child = -1;
    if (posix_spawn(&child, program, nullptr, nullptr, arguments, environ) != 0) return -1;
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int opens(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    char line[64] = {};
    const bool read = std::fgets(line, sizeof line, pipe) != nullptr;
    const int status = pclose(pipe);
    return read && std::strcmp(line, "a child\n") == 0 ? WEXITSTATUS(status) : -1;
}

/// Children come while other threads compute: what those hold at that moment is nobody's in the child.
int forks_among_threads(const at::Tensor& x) {
    std::atomic<bool> ended{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            while (!ended) scaled(at::full({4}, 1), 2);
        });
    int good = 0;
    for (int i = 0; i < 20; ++i) {
        const pid_t child = fork();
        if (child == 0) _exit(scaled(x, i).sum().item<int>() == 6 * i ? 0 : 1);
        int status = 0;
        waitpid(child, &status, 0);
        good += status == 0;
    }
    ended = true;
    for (std::thread& thread : threads) thread.join();
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    at::set_num_threads(1);
    const std::string what = argc > 1 ? argv[1] : "all";
    const at::Tensor x = at::arange(4, at::kFloat);
    if (what == "child") {
        scaled(x, 5).add_(1);
        std::puts("a child");
        return 9;
    }
    if (what == "all" || what == "fork") std::printf("%d\n", forks(x));
    if (what == "all" || what == "twice") std::printf("%d\n", forks_twice(x));
    std::fflush(stdout);
    const std::string command = std::string(argv[0]) + " child";
    if (what == "all" || what == "spawn") std::printf("%d\n", spawns(argv[0]));
    if (what == "all" || what == "system") std::printf("%d\n", WEXITSTATUS(std::system(command.c_str())));
    if (what == "all" || what == "popen") std::printf("%d\n", opens(command));
    if (what == "turns") std::printf("%d\n", forks_out_of_turn(x));
    if (what == "threads") std::printf("%d\n", forks_among_threads(x));
    std::fflush(stdout);
    if (what == "all" || what == "replace") execl(argv[0], argv[0], "child", nullptr);
    return 0;
}
