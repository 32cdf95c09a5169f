#include "frontends/libtorch/statement.h"

#include <catch2/catch.hpp>

using namespace whittle::libtorch;

TEST_CASE("a statement that compares the value it reads, and branches on that") {
    for (const char* statement :
         {"if h.sum().item() > 9:", "while x.item() != y.item():", "assert 0 <= loss.item()",
          "elif float(h[0]) == 1:", "y = a if loss.item() < 3 else b", "if (x.sum().item<float>() > 0) x = x * 2;",
          "return 3 < torch::max(x).item<int>() ? x : y;", "if verbose and loss.item() >= limit[0]:"}) {
        INFO(statement);
        CHECK(compares_a_read_value(statement));
    }
    for (const char* statement :
         {"print(loss.item())", "big = h.sum().item() > 9", "if verbose == 2: print(loss.item())",
          "if (verbose) std::cout << loss.item<float>() << '\\n';", "if (what == \"one\") print(x.item<double>());",
          "total += loss.item() if train else 0", "for (int i = 0; i < n; ++i) sum += x[i].item<float>();",
          "print(f\"{x.item():>8}\") if verbose else None"}) {
        INFO(statement);
        CHECK_FALSE(compares_a_read_value(statement));
    }
}

TEST_CASE("a statement that is an assertion") {
    for (const char* statement :
         {"assert y.sum() > 3", "assert(x.item<float>() > 0);", "TORCH_CHECK(done.item<bool>());"})
        CHECK(asserts(statement));
    for (const char* statement : {"if y.sum() > 3:", "asserted = y.item()"}) CHECK_FALSE(asserts(statement));
}

TEST_CASE("a statement that decides something") {
    for (const char* statement : {"if done:", "for (;;)", "return a and b", "x ? y : z", "a || b", "!a", "bool(x)"})
        CHECK(branches(statement));
    for (const char* statement : {"elifs = 3", "print(x)", "notify(format)"}) CHECK_FALSE(branches(statement));
}
