// The text of short programs for Halide, for each kind of failure and of value; that they are right is shown where they
// are built and run (repro/planted-halide.txt).
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "backends/halide/abilities.h"

using namespace whittle;
using expr::Directive;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// f(x) = in(x), vectorized.
struct Copied {
    Copied(const Tensor& in, const Tensor& other) : inputs{in}, got(other) {
        group = {.inputs = {{"in", in.dtype(), in.sizes(), contiguous_strides(in.sizes())}},
                 .stages = {{.name = "f", .dtype = in.dtype(), .vars = {{"x", in.sizes().at(0)}}}},
                 .outputs = {"f"}};
        group.stages[0].value = expr::load("in", in.dtype(), {expr::variable("x")});
    }
    std::vector<Tensor> inputs;
    Tensor got;
    expr::Group group;
    expr::Schedule schedule = {{.kind = Directive::Kind::vectorize, .stage = "f", .args = {"x"}, .factor = 4}};
    int culprit = -1;
    bool exact = false;
};

std::optional<ReproProgram> program_of(const Copied& found, const Signature& signature) {
    Failure failure;
    failure.signature = signature;
    return halide::short_program_of(
        {.kernel = {.group = found.group, .schedule = found.schedule, .inputs = found.inputs, .culprit = found.culprit},
         .failure = failure,
         .expected = found.inputs[0],
         .got = &found.got,
         .message = {},
         .exact = found.exact,
         .file = "repro.cpp",
         .alarm = 60});
}

std::string written(const Copied& found, const Signature& signature) {
    const std::optional<ReproProgram> program = program_of(found, signature);
    REQUIRE(program);
    return program->text;
}

const Signature kWrong{"mismatch", "run", "value"};

}  // namespace

TEST_CASE("halide program: without a guilty directive there is no control, and no argument") {
    const std::string text = written(Copied(Tensor::of<float>({1, 2}), Tensor::of<float>({1, 3})), kWrong);
    CHECK(has(text, "int main() {"));
    CHECK_FALSE(has(text, "with_directive"));
    CHECK(has(text, ": f(1) is 3, expected 2."));
    CHECK(has(text, "f.vectorize(x, 4"));
    CHECK(has(text, "float in_data[] = {1, 2};"));
    CHECK(has(text, "!(std::fabs(out.data()[i] - expected[i]) <= "));
    CHECK(has(text, "#include <cmath>"));
}

TEST_CASE("halide program: integers are written with all their digits") {
    const std::int64_t big = 9007199254740993, most = std::numeric_limits<std::int64_t>::max();
    const std::string text = written(
        Copied(Tensor::of<std::int64_t>({big, most, -1}), Tensor::of<std::int64_t>({big - 1, most, -1})), kWrong);
    CHECK(has(text, "f(0) is 9007199254740992, expected 9007199254740993."));
    CHECK(has(text, "int64_t in_data[] = {9007199254740993, 9223372036854775807, -1};"));
    CHECK(has(text, "const int64_t expected[] = {9007199254740993, 9223372036854775807, -1};"));
    const std::uint64_t high = (std::uint64_t{1} << 63) + 1;
    const std::string single =
        written(Copied(Tensor::of<std::uint64_t>({high}), Tensor::of<std::uint64_t>({high - 1})), kWrong);
    INFO(single);
    CHECK(has(single, "9223372036854775808, expected"));
    CHECK(has(single, "in(0) = 9223372036854775809u;"));
}

TEST_CASE("halide program: the guilty directive is alone on its line") {
    Copied found(Tensor::of<float>({1, 2}), Tensor::of<float>({1, 3}));
    found.culprit = 0;
    found.exact = true;
    const std::string text = written(found, kWrong);
    CHECK(has(text, "int main(int argc, char **) {"));
    CHECK(has(text, "    if (with_directive) f.vectorize(x, 4"));
    CHECK(has(text, "if (out.data()[i] != expected[i])"));
    CHECK_FALSE(has(text, "#include <cmath>"));
}

TEST_CASE("halide program: values that no number is") {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    const std::string infinite = written(Copied(Tensor::of<float>({inf}), Tensor::of<float>({0})), kWrong);
    CHECK(has(infinite, "in(0) = INFINITY;"));
    CHECK(has(infinite, "if (out(0) != INFINITY)"));
    CHECK(has(infinite, ": f(0) is 0, expected inf."));
    const std::string none = written(Copied(Tensor::of<float>({nan}), Tensor::of<float>({0})), kWrong);
    CHECK(has(none, "if (!std::isnan(out(0)))"));
    const std::string mixed = written(Copied(Tensor::of<float>({nan, inf, 1}), Tensor::of<float>({0, 0, 0})), kWrong);
    CHECK(has(mixed, "out.data()[i] != expected[i] && !(std::fabs(out.data()[i] - expected[i]) <= "));
    CHECK(has(mixed, " && !(std::isnan(out.data()[i]) && std::isnan(expected[i]))"));
}

TEST_CASE("halide program: integers of every width are printed as they are") {
    const std::string wide = written(Copied(Tensor::of<std::int64_t>({7}), Tensor::of<std::int64_t>({8})), kWrong);
    CHECK(has(wide, R"(printf("f(0) = %lld, expected 7\n", (long long)out(0));)"));
    CHECK(has(wide, "if (out(0) != 7)"));
    const std::string bytes =
        written(Copied(Tensor::of<std::uint8_t>({7, 7}), Tensor::of<std::uint8_t>({8, 7})), kWrong);
    CHECK(has(bytes, "in.fill(7);"));
    CHECK(has(bytes, "if (out.data()[i] != 7)"));
}

TEST_CASE("halide program: how it ends") {
    const Copied found(Tensor::of<float>({1}), Tensor::of<float>({1}));
    const std::string crash = written(found, {"crash", "run", "SIGSEGV"});
    CHECK(has(crash, "signal(SIGSEGV, [](int) { _exit(1); });"));
    CHECK(has(crash, "#include <csignal>"));
    CHECK(has(crash, "#include <unistd.h>"));
    CHECK(has(crash, ": SIGSEGV while running."));
    CHECK(has(written(found, {"crash", "run", "signal 63"}), "signal(63, "));
    const std::string hang = written(found, {"timeout", "compile", ""});
    CHECK(has(hang, "alarm(60);"));
    CHECK(has(hang, "handle SIGALRM stop"));
    const std::string thrown = written(found, {"exception", "compile", "Error: no"});
    CHECK(has(thrown, "int main() try {"));
    CHECK(has(thrown, "} catch (const Error &e) {"));
    CHECK(has(thrown, "catch throw"));
    CHECK_FALSE(has(thrown, "expected["));
}

TEST_CASE("halide program: what a reader does not take in is no short program") {
    std::vector<float> many(17);
    for (std::size_t i = 0; i < many.size(); i++) many[i] = static_cast<float>(i % 3);
    const Tensor data = Tensor::of(many, {17});
    CHECK_FALSE(program_of(Copied(data, data), kWrong));
    // All alike, or counted, they need no list.
    const Signature thrown{"exception", "run", "no"};
    const Tensor ones = Tensor::of(std::vector<float>(40, 1), {40});
    CHECK(program_of(Copied(ones, ones), thrown));
    CHECK_FALSE(program_of(Copied(data, data), thrown));
}
