// print_later(): what is printed, when, and that it breaks no graph.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <functional>
#include <iostream>
#include <sstream>

using namespace whittle;

namespace {

/// What a function prints through std::cout.
std::string printed(const std::function<void()>& function) {
    std::ostringstream out;
    std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
    try {
        function();
    } catch (...) {
        std::cout.rdbuf(before);
        throw;
    }
    std::cout.rdbuf(before);
    return out.str();
}

const Tensor kX = tensor({1.F, -2.F});

}  // namespace

TEST_CASE("print_later prints at once outside of a compiled function") {
    CHECK(printed([] { print_later("{} and {{{}}}\n", kX, kX); }) == "[1, -2] : f32[2] and {[1, -2] : f32[2]}\n");
    CHECK(printed([] { print_later("nothing"); }) == "nothing");
}

TEST_CASE("a compiled function with print_later is one graph, and prints the same on every backend") {
    for (const char* backend : {"eager", "aot_eager"}) {
        const auto compiled = compile(
            [](Tensor x) {
                Tensor y = relu(x);
                print_later("y = {}\n", y);
                const Tensor z = y * 2;
                print_later("z = {}, x = {}\n", z, x);
                return z.sum();
            },
            {.backend = backend, .fullgraph = true});
        for (int i = 0; i < 3; ++i)
            CHECK(printed([&] { CHECK(compiled(kX).item<float>() == 2); }) ==
                  "y = [1, 0] : f32[2]\nz = [2, 0] : f32[2], x = [1, -2] : f32[2]\n");
        CHECK(compiled.stats().graphs == 1);
    }
}

TEST_CASE("what is written afterwards is not what is printed") {
    const auto compiled = compile(
        [](Tensor x) {
            Tensor y = x + 1;
            Tensor view = y.view({2, 1});
            print_later("{}", y);
            view.mul_(10);
            print_later(" {}", y);
            y.add_(1);
            return y;
        },
        {.fullgraph = true});
    for (int i = 0; i < 2; ++i)
        CHECK(printed([&] {
                  CHECK(compiled(kX).to_vector<float>() == std::vector<float>{21, -9});
              }) == "[2, -1] : f32[2] [20, -10] : f32[2]");
}

TEST_CASE("the order with other output and with breaks is the program's") {
    const auto compiled = compile([](Tensor x) {
        print_later("first\n");
        print_later("sum {}\n", x.sum());
        std::cout << "between\n";
        const Tensor y = x * 3;
        print_later("y {}\n", y);
        if (y.sum() < 0) print_later("negative\n");
        return y;
    });
    CHECK(printed([&] { compiled(kX); }) == "first\nsum -1 : f32[]\nbetween\ny [3, -6] : f32[2]\nnegative\n");
}

TEST_CASE("an exception does not lose what was to be printed") {
    const auto compiled = compile([](Tensor x) -> Tensor {
        print_later("before {}\n", x + 1);
        throw std::runtime_error("gone");
    });
    CHECK(printed([&] { CHECK_THROWS_WITH(compiled(kX), "gone"); }) == "before [2, -1] : f32[2]\n");
}

TEST_CASE("print_later refuses formats that do not fit, and undefined tensors") {
    CHECK_THROWS_WITH(print_later("{} {}", kX), Catch::Contains("found 1 tensors for 2 {}"));
    CHECK_THROWS_WITH(print_later("{", kX), Catch::Contains("found a single '{', expected {} or {{"));
    CHECK_THROWS_WITH(print_later("{}", Tensor()), Catch::Contains("undefined"));
}

TEST_CASE("a body of a higher-order operation that prints is none") {
    const auto compiled = compile([](Tensor x) {
        const auto loud = [](Tensor operand) {
            print_later("in the body\n");
            return operand * 2;
        };
        const auto quiet = [](Tensor operand) { return operand * 3; };
        return cond(x.sum() < 0, loud, quiet, x);
    });
    CHECK(printed([&] { CHECK(compiled(kX).to_vector<float>() == std::vector<float>{2, -4}); }) == "in the body\n");
}
