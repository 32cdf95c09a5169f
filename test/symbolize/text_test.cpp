#include "symbolize/text.h"

#include <catch2/catch.hpp>

using namespace whittle;

TEST_CASE("function names lose their parameters only") {
    CHECK(without_parameters("f(at::Tensor const&)") == "f");
    CHECK(without_parameters("ns::C<int (*)(int)>::g(int) const") == "ns::C<int (*)(int)>::g");
    CHECK(without_parameters("main") == "main");
    CHECK(without_parameters("C::operator()(int) const") == "C::operator()");
    CHECK(without_parameters("(anonymous namespace)::f(int)") == "(anonymous namespace)::f");
    CHECK(without_parameters("main::{lambda(api::Tensor)#2}::operator()(api::Tensor) const") ==
          "main::{lambda(api::Tensor)#2}::operator()");
    CHECK(without_parameters("void run<f>(int, char) [clone .isra.0]") == "void run<f>");
    CHECK(without_parameters("operator()") == "operator()");
}

TEST_CASE("a function of a template has the template's name without arguments") {
    CHECK(without_template_arguments("ns::Net<std::vector<int>>::forward<2>") == "ns::Net::forward");
    CHECK(without_template_arguments("std::ostream::operator<<") == "std::ostream::operator<<");
    CHECK(without_template_arguments("float const* f<float, 0>() const") == "float const* f() const");
    CHECK(without_template_arguments("step") == "step");
}

TEST_CASE("lambdas have short names, however they were demangled") {
    CHECK(readable_function("main::{lambda(api::Tensor)#2}::operator()(api::Tensor) const") == "main::lambda2");
    CHECK(readable_function("main::{lambda(api::Tensor)#1}") == "main::lambda");
    CHECK(readable_function("main::'lambda0'(api::Tensor)::operator()(api::Tensor) const") == "main::lambda2");
    CHECK(readable_function("f(int)::'lambda'(std::function<void ()>)::operator()(std::function<void ()>) const") ==
          "f::lambda");
    CHECK(readable_function("(anonymous namespace)::f(int)") == "f");
    CHECK(readable_function("g<main::'lambda'()>(int)") == "g<main::lambda>");
    CHECK(readable_function("Net::run(api::Tensor) const") == "Net::run");
}

TEST_CASE("lines of a source file are told without the blanks around them") {
    SourceTexts texts;
    const std::string file = std::string(WHITTLE_SOURCE_DIR) + "/test/symbolize/text_test.cpp";
    CHECK(texts.line(file, 3) == "#include <catch2/catch.hpp>");
    CHECK(texts.line(file, 0).empty());
    CHECK(texts.line(file, 1000000).empty());
    CHECK(texts.line("missing.cpp", 1).empty());
}
