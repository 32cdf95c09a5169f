// A race, planted: that ThreadSanitizer finds it shows that it watches.
#include <cstdio>
#include <thread>

int main() {
    int shared = 0;
    std::thread other([&] { shared = 1; });
    shared = 2;
    other.join();
    std::printf("%d\n", shared);
}
