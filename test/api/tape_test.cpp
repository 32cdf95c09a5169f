// A compiled function that issues what it issued before runs what was built then; one that does anything else does not.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <random>

#include "values.h"

using namespace whittle;
using test::Floats;
using test::values;

namespace {

/// A program that differs from call to call: which operations, on what, what is kept, where it breaks.
struct Program {
    std::vector<int> code;
    std::vector<Tensor> parameters;

    std::vector<Tensor> operator()(const Tensor& a, const Tensor& b) const {
        std::vector<Tensor> held = {a, b};
        std::vector<Tensor> results;
        for (std::size_t i = 0; i + 1 < code.size(); i += 2) {
            const Tensor& x = held[static_cast<std::size_t>(code[i + 1]) % held.size()];
            switch (code[i]) {
                case 0:
                    held.push_back(x + held.back());
                    break;
                case 1:
                    held.push_back(relu(x) * static_cast<double>(code[i + 1]));
                    break;
                case 2:
                    held.push_back(x * parameters[static_cast<std::size_t>(code[i + 1]) % parameters.size()]);
                    break;
                case 3: {
                    Tensor copy = x * 1;
                    Tensor row = copy[0];
                    row.add_(code[i + 1]);
                    held.push_back(copy);
                    if (code[i + 1] % 2) results.push_back(row);
                    break;
                }
                case 4:
                    results.push_back(x.t());
                    break;
                case 5:
                    if (x.sum().item<float>() > 3) held.push_back(x - 1);
                    break;
                case 6:
                    graph_break();
                    break;
                default:
                    if (held.size() > 2) held.pop_back();
            }
        }
        results.push_back(held.back() + 0);
        return results;
    }
};

}  // namespace

TEST_CASE("programs that change between calls compute what they compute uncompiled") {
    std::mt19937 random(7);  // its numbers are the same everywhere; distributions' are not
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Program program;
    for (int i = 0; i < 2; ++i) program.parameters.push_back(full({2, 2}, i + 0.5));
    const auto compiled = compile([&](const Tensor& a, const Tensor& b) { return program(a, b); });
    std::vector<std::vector<int>> variants(1);
    for (int i = 0; i < 24; ++i) variants[0].push_back(below(8));
    for (int round = 0; round < 300; ++round) {
        if (round % 3 == 0) {  // a variant of one that was there, often with the same beginning
            std::vector<int> code = variants[static_cast<std::size_t>(below(static_cast<int>(variants.size())))];
            for (int change = below(3); change >= 0; --change)
                code[static_cast<std::size_t>(below(static_cast<int>(code.size())))] = below(8);
            code.resize(code.size() - static_cast<std::size_t>(below(2)) * 2);
            if (code.size() > 8) variants.push_back(std::move(code));
        }
        program.code = variants[static_cast<std::size_t>(below(static_cast<int>(variants.size())))];
        if (below(10) == 0) program.parameters[0] = full({2, 2}, below(5));  // another tensor in its place
        const Tensor a = arange(4, kFloat).reshape({2, 2}) - below(4), b = below(8) ? full({2, 2}, below(3)) : a;
        const std::vector<Tensor> expected = program(a, b), found = compiled(a, b);
        REQUIRE(found.size() == expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            INFO("round " << round << ", result " << i);
            CHECK(values(found[i]) == values(expected[i]));
        }
    }
}

TEST_CASE("the grad mode, and what requires a gradient, are part of what was issued") {
    bool recording = true;
    const auto compiled = compile([&](const Tensor& x) {
        Tensor y = x * 2;
        set_grad_enabled(recording);
        y = y * 3;
        set_grad_enabled(true);
        return y;
    });
    Tensor x = ones({2});
    x.requires_grad_();
    for (const bool mode : {true, false, true, false}) {
        recording = mode;
        CHECK(compiled(x).requires_grad() == mode);
    }
}

TEST_CASE("parameters are read when the graph runs") {
    Tensor weight = ones({2});
    const auto compiled = compile([&](const Tensor& x) { return x * weight; });
    for (int i = 0; i < 3; ++i) {
        CHECK(values(compiled(full({2}, 3.0))) == Floats(2, 3.F + static_cast<float>(i) * 3.F));
        weight.add_(1);
    }
    weight = full({2}, 7.0);
    CHECK(values(compiled(ones({2}))) == Floats{7, 7});
    CHECK(compiled.stats().graphs == 1);
}

TEST_CASE("an operation that fails leaves nothing behind") {
    int width = 2;
    const auto compiled = compile([&](const Tensor& x) {
        Tensor y = x + 1;
        try {
            y = y + ones({width});
        } catch (const std::exception&) {
            y = y - 1;
        }
        return y * 2;
    });
    for (const int w : {2, 3, 2, 3, 2}) {
        width = w;
        CHECK(values(compiled(zeros({2}))) == Floats(2, w == 2 ? 4.F : 0.F));
    }
}

TEST_CASE("writes to inputs of a known graph are seen by those that share their memory") {
    const auto compiled = compile([](const Tensor& a, const Tensor& b) {
        a.add_(1);
        return b * 1;
    });
    for (const bool shared : {false, false, true, true, false}) {
        const Tensor a = zeros({2}), b = shared ? a.reshape({2}) : zeros({2});
        CHECK(values(compiled(a, b)) == Floats(2, shared ? 1.F : 0.F));
        CHECK(values(a) == Floats{1, 1});
    }
}
