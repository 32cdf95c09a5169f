// print_later() and check(): what is printed, when, and that it breaks no graph.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <functional>
#include <iostream>
#include <sstream>

#include "base/sanitizer.h"

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

TEST_CASE("with .defer_output what is printed breaks no graph, and comes in order") {
    const auto compiled = compile(
        [](Tensor x) {
            std::cout << "begin" << std::endl;
            Tensor y = relu(x);
            std::cout << "y = " << y << ", " << 3 << ' ' << 0.5 << std::endl;
            y.add_(1);
            std::cout << "then " << y << "\n";
            return y * 2;
        },
        {.fullgraph = true, .defer_output = true});
    const char* const expected = "begin\ny = [1, 0] : f32[2], 3 0.5\nthen [2, 1] : f32[2]\n";
    for (int i = 0; i < 2; ++i)
        CHECK(printed([&] { CHECK(compiled(kX).to_vector<float>() == std::vector<float>{4, 2}); }) == expected);
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().breaks == 0);
}

TEST_CASE("deferred output does not wait longer than a break that there is anyway, and streams to memory are as ever") {
    const auto compiled = compile(
        [](Tensor x) {
            const Tensor sum = x.sum();
            std::cout << "sum " << sum << "\n";
            if (sum < 0) std::cout << "negative\n";
            std::ostringstream text;
            text << x * 2;
            return text.str() == "[2, -4] : f32[2]" ? x : x * 0;
        },
        {.defer_output = true});
    CHECK(printed([&] { CHECK(compiled(kX).equal(kX)); }) == "sum -1 : f32[]\nnegative\n");
    CHECK(compiled.stats().breaks == 2);
    const auto throws = compile(
        [](Tensor x) -> Tensor {
            std::cout << x + 1 << " before\n";
            throw std::runtime_error("gone");
        },
        {.defer_output = true});
    CHECK(printed([&] { CHECK_THROWS_WITH(throws(kX), "gone"); }) == "[2, -1] : f32[2] before\n");
}

TEST_CASE("check() breaks no graph, and fails once its value is there") {
    const auto compiled = compile(
        [](Tensor x) {
            const Tensor y = x + 1;
            print_later("y {}\n", y);
            check(y.sum() > 0, "the sum is positive");
            constrain_range(y.numel(), 1, 4);
            constrain_range(y.argmax(), 0, 1);
            check_is_size(y.argmin());
            print_later("good\n");
            return y * 2;
        },
        {.fullgraph = true});
    CHECK(printed([&] {
              CHECK(compiled(kX).to_vector<float>() == std::vector<float>{4, -2});
          }) == "y [2, -1] : f32[2]\ngood\n");
    CHECK(printed([&] {
              CHECK_THROWS_WITH(compiled(kX - 5), Catch::StartsWith("check failed: the sum is positive"));
          }) == "y [-3, -6] : f32[2]\n");
    CHECK(compiled(kX).to_vector<float>() == std::vector<float>{4, -2});
    CHECK(compiled.stats().graphs == 1);
}

TEST_CASE("what check() says names the bound, and holds elsewhere, too") {
    CHECK_NOTHROW(check(kX.sum() < 0, "never"));
    CHECK_THROWS_AS(check(kX.sum() > 0, "positive"), CheckError);
    CHECK_THROWS_WITH(constrain_range(7, 1, 4), Catch::Contains("the number is at most 4"));
    CHECK_THROWS_WITH(check_is_size(-1), Catch::Contains("a size is at least 0"));
    CHECK_THROWS_WITH(check(kX, "no condition"), Catch::Contains("found f32[2], expected a boolean of one element"));
    const auto compiled = compile([](Tensor x) {
        constrain_range(x.argmax(), 1, {});
        return x;
    });
    CHECK_THROWS_WITH(compiled(kX), Catch::Contains("the number is at least 1"));
}

TEST_CASE("a check is a node of the graph, which names what has to hold", "[later]") {
    std::string captured;
    const OnCompile hook([&](const CompiledGraphInfo& graph) { captured = graph.captured; });
    const auto compiled = compile(
        [](Tensor x) {
            constrain_range(x.argmax(), 0, 1);
            check(x.sum() < 0, "the sum is negative");
            return x * 2;
        },
        {.fullgraph = true});
    CHECK(compiled(kX).to_vector<float>() == std::vector<float>{2, -4});
    CHECK_THAT(captured,
               Catch::Contains("aten._functional_assert_async.msg(%ge, \"the number is at least 0\", %argmax)") &&
                   Catch::Contains("aten._functional_assert_async.msg(%le, \"the number is at most 1\", %argmax)") &&
                   Catch::Contains("aten._functional_assert_async.msg(%lt, \"the sum is negative\", %lt)"));
    CHECK(compiled.stats().graphs == 1);
}

TEST_CASE("a check that fails names its function, the bound, the value and the line", "[later]") {
    const auto compiled = compile(
        [](Tensor x) {
            constrain_range(x.argmax(), 1, {});
            return x * 2;
        },
        {.fullgraph = true});
    CHECK_THROWS_WITH(compiled(kX), Catch::StartsWith("constrain_range failed: the number is at least 1: found 0") &&
                                        Catch::Contains("later_test.cpp") &&
                                        Catch::Contains("constrain_range(x.argmax(), 1, {});"));
    CHECK_THROWS_WITH(constrain_range(7, 1, 4),
                      Catch::StartsWith("constrain_range failed: the number is at most 4: found 7"));
    CHECK_THROWS_WITH(check(kX.sum() > 0, "positive"), Catch::StartsWith("check failed: positive: found "));
}

TEST_CASE("a pure function's checks are made in every call", "[later]") {
    const auto compiled = compile(
        [](Tensor x) {
            check(x.sum() < 0, "the sum is negative");
            return x * 2;
        },
        {.fullgraph = true, .pure = true});
    for (int i = 0; i < 3; ++i) CHECK_NOTHROW(compiled(kX));
    CHECK_THROWS_AS(compiled(ones({2})), CheckError);
}

TEST_CASE("a check in a body is made where the body runs", "[later]") {
    const std::string backend = GENERATE("eager", "aot_eager", "halide", "libtorch");
    if (backend == "libtorch" && (kAddressSanitizer || kThreadSanitizer)) return;  // LibTorch is not sanitized
    const auto compiled = compile(
        [](const Tensor& x) {
            return cond(
                x.sum() > 0,
                [](const Tensor& a) {
                    check(a.amin() > -10, "nothing is far below 0");
                    constrain_range(a.amax(), {}, 9);
                    return a * 2;
                },
                [](const Tensor& a) { return a - 1; }, x);
        },
        {.backend = backend, .fullgraph = true});
    INFO(backend);
    CHECK(compiled(kX + 4).to_vector<float>() == std::vector<float>{10, 4});
    CHECK(compiled(kX - 20).to_vector<float>() == std::vector<float>{-20, -23});
    CHECK_THROWS_AS(compiled(kX + 20), CheckError);
    CHECK_THROWS_WITH(compiled(kX + 20), Catch::StartsWith("check failed: the number is at most 9: found 21") &&
                                             Catch::Contains("constrain_range(a.amax(), {}, 9);"));
}
