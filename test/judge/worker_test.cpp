// Workers (share/doc/backends.md) as suspects: what becomes of queries, and that nothing else becomes of it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/sanitizer.h"
#include "base/subprocess.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/outcome.h"

using namespace whittle;

namespace {

const Graph kRelu = parse(R"(graph g opset("": 13) {
  %x = placeholder["x"] : f32[2]
  %y = onnx.Relu(%x) : f32[2]
  return (%y)
})");
const Graph kAbs = parse(R"(graph g opset("": 13) {
  %x = placeholder["x"] : f32[2]
  %y = onnx.Abs(%x) : f32[2]
  return (%y)
})");
const std::vector<Tensor> kSigned = {Tensor::of({1.f, -2.f})};

std::unique_ptr<Backend> worker(const std::string& mode) {
    return find_backend("worker:" + shell_quote({WHITTLE_TEST_WORKER, mode}));
}

constexpr std::size_t kMemory = std::size_t(1) << 28;

Outcome ask(Backend& backend, const Graph& graph, const BackendOptions& options = {}, std::size_t memory = kMemory,
            std::chrono::milliseconds timeout = std::chrono::milliseconds(1000)) {
    return run_isolated(graph, kSigned, backend, options, {.timeout = timeout, .memory = memory});
}

void check_abs(Backend& backend) {
    const Outcome outcome = ask(backend, kAbs);
    CAPTURE(outcome.message);
    REQUIRE(outcome.kind == Outcome::Kind::ok);
    CHECK(outcome.outputs.at(0).values<float>() == std::vector<float>{1, 2});
}

}  // namespace

TEST_CASE("a worker answers one query after another") {
    for (const char* mode : {"right", "talk"}) {
        const auto backend = worker(mode);
        for (int i = 0; i < 3; i++) check_abs(*backend);
        CHECK(version_of(*backend) == "7.1");
    }
}

TEST_CASE("a worker that ends, hangs, floods or grows is that query's outcome, and a new one answers the next") {
    struct Case {
        const char* mode;
        Outcome::Kind kind;
        const char* says;
    };
    for (const Case& expected :
         {Case{"crash", Outcome::Kind::crash, "the relu is broken"},
          Case{"hang", Outcome::Kind::timeout, "no result after 1000 ms"},
          Case{"flood", Outcome::Kind::exception, "without an answer"}, Case{"grow", Outcome::Kind::out_of_memory, ""},
          Case{"fail", Outcome::Kind::exception, "no relu"},
          Case{"unsupported", Outcome::Kind::unsupported, "no relu"}}) {
        CAPTURE(expected.mode);
        const auto backend = worker(expected.mode);
        check_abs(*backend);
        const bool takes_long = std::string(expected.mode) == "grow";  // where pages are slow to come
        const Outcome outcome =
            ask(*backend, kRelu, {}, kMemory, std::chrono::milliseconds(takes_long ? 20'000 : 1000));
        CAPTURE(outcome.message);
        CHECK(outcome.kind == expected.kind);
        CHECK_THAT(outcome.message, Catch::Contains(expected.says));
        const bool says_stage = outcome.message == "no relu";
        CHECK(outcome.stage == (says_stage ? "compile" : "run"));
        check_abs(*backend);
    }
}

TEST_CASE("what a worker was asked before is no reason to fail") {
    for (const char* mode : {"crash-later", "hang-later"}) {
        CAPTURE(mode);
        const auto backend = worker(mode);
        for (int i = 0; i < 4; i++) check_abs(*backend);
    }
}

TEST_CASE("answers that are none are failures of the query") {
    const Outcome other = ask(*worker("other"), kAbs), cut = ask(*worker("short"), kAbs);
    CHECK(other.kind == Outcome::Kind::exception);
    CHECK_THAT(other.message, Catch::Contains("expected the query's id"));
    CHECK(cut.kind == Outcome::Kind::exception);
    CHECK_THAT(cut.message, Catch::Contains("wrote a bad outputs.safetensors"));
}

TEST_CASE("what is no worker is an error and no outcome") {
    // A sanitized process that looks for leaks at its end counts twice.
    CHECK_THROWS_WITH(ask(*worker("silent"), kAbs, {}, kAddressSanitizer ? 4 * kMemory : kMemory),
                      Catch::Contains("exited with 3 before the worker wrote its first line: no compiler"));
    CHECK_THROWS_WITH(ask(*worker("old"), kAbs), Catch::Contains("expected 1"));
    CHECK_THROWS_WITH(ask(*worker("below"), kAbs),
                      Catch::Contains("found \"most\": -1 for the level 'level', expected a number, 0 or more"));
    CHECK_THROWS_WITH(find_backend("worker:/no/such/program"),
                      Catch::Contains("no such program") || Catch::Contains("found no program"));
}

TEST_CASE("a worker's switches are options, and others are refused") {
    const auto backend = worker("wrong");
    const auto relu = [&](const BackendOptions& options) {
        return ask(*backend, kRelu, options).outputs.at(0).values<float>();
    };
    const std::vector<float> wrong = {2, 1}, right = {1, 0};
    CHECK(relu({}) == wrong);
    CHECK(relu({{"disable", "share"}}) == wrong);
    CHECK(relu({{"disable", "share;fuse-relu"}}) == right);
    CHECK(relu({{"pass-limit", "level=2"}}) == wrong);
    CHECK(relu({{"pass-limit", "level=1"}, {"threads", "2"}}) == right);
    CHECK_THROWS_WITH(ask(*backend, kRelu, {{"disable", "fuse-rely"}}), Catch::Contains("did you mean 'fuse-relu'?"));
    CHECK_THROWS_WITH(ask(*backend, kRelu, {{"pass-limit", "level=x"}}),
                      Catch::Contains("expected a number from 0 to 3"));
    const auto look = offered<Switchable>(*backend)->inspect(kRelu, {{"disable", "share"}});
    REQUIRE(look);
    CHECK(look->parts().directives.size() == 2);
    CHECK(look->parts().passes.at(0).applications == 3);
}

TEST_CASE("a worker says which values its options may have, and they are checked before it is asked") {
    const auto backend = worker("right");
    const auto refuses = [&](const std::string& key, const std::string& value, const std::string& words) {
        CHECK_THROWS_WITH(check_options(*backend, {{key, value}}), Catch::Contains("backend option " + key) &&
                                                                       Catch::Contains("found '" + value + "'") &&
                                                                       Catch::Contains("expected " + words));
    };
    refuses("threads", "abc", "a number, 1 or more");
    refuses("threads", "0", "a number, 1 or more");
    refuses("threads", "2 ", "a number, 1 or more");
    refuses("target", "opencl", "one of cpu, gpu");
    refuses("disable", "nope", "one of share, lower-relu, fuse-relu");
    CHECK_THROWS_WITH(check_options(*backend, {{"pass-limit", "leve=1"}}), Catch::Contains("did you mean 'level'?"));
    refuses("pass-limit", "level", "NAME=K");
    CHECK_THROWS_WITH(check_options(*backend, {{"pass-limit", "level=9"}}),
                      Catch::Contains("backend option pass-limit level: found '9', expected a number from 0 to 3"));
    CHECK_NOTHROW(
        check_options(*backend, {{"threads", "2"}, {"target", "gpu"}, {"pass-limit", "level=3"}, {"format", "json"}}));
}

TEST_CASE("options of a worker may have any name that begins as one that it knows") {
    const auto backend = worker("right");
    const auto knows = [&](const std::string& name) {
        const std::vector<std::string> names = offered<Optioned>(*backend)->option_names({{name, "1"}});
        return std::ranges::find(names, name) != names.end();
    };
    CHECK(knows("set.a"));
    CHECK_FALSE(knows("set."));
    CHECK_FALSE(knows("settle"));
}

TEST_CASE("a worker counts how often its compiler applied a pass") {
    const auto backend = worker("counted");
    Switchable& parts = *offered<Switchable>(*backend);
    Graph graph = parse(R"(graph g opset("": 13) {
  %x = placeholder["x"] : f32[2]
  %a = onnx.Relu(%x) : f32[2]
  %b = onnx.Relu(%a) : f32[2]
  return (%b)
})");
    const auto applications = [&](const BackendOptions& options) {
        return parts.inspect(graph, options)->parts().passes.at(0).applications;
    };
    CHECK(applications({}) == 9999);  // nobody knows the inputs
    graph.failure = Failure{.backend = "worker"};
    graph.failure->inputs = kSigned;
    CHECK(applications({}) == 2);
    CHECK(parts.inspect(graph, {})->parts().passes.at(0).each == std::vector<std::string>{"a", "b"});
    CHECK(applications({{"pass-limit", "relus=1"}}) == 1);
    CHECK(ask(*backend, graph, {{"pass-limit", "relus=1"}}).outputs.at(0).values<float>() == std::vector<float>{2, 1});
    CHECK(ask(*backend, graph, {{"pass-limit", "relus=0"}}).outputs.at(0).values<float>() == std::vector<float>{1, 0});
}

TEST_CASE("a worker that takes any option is given what was typed") {
    const auto backend = worker("any");
    const auto relu = [&](const BackendOptions& options) {
        return ask(*backend, kRelu, options).outputs.at(0).values<float>();
    };
    CHECK(relu({}) == std::vector<float>{2, 1});
    CHECK(relu({{"disable", "abs"}}) == std::vector<float>{2, 1});
    CHECK(relu({{"disable", "relu"}}) == std::vector<float>{1, 0});
    CHECK(relu({{"disable", "relu"}, {"format", "json"}}) == std::vector<float>{1, 0});
    CHECK(offered<Optioned>(*backend)->option_names({{"x", "1"}}) ==
          std::vector<std::string>{"format", "disable", "pass-limit", "x"});
}

TEST_CASE("two graphs may be compiled in one query before either runs") {
    const auto backend = worker("right");
    const auto query = offered<Apart>(*backend)->query({}, {});
    CompileResult abs = query->compile(kAbs, {}), relu = query->compile(kRelu, {});
    const auto values = [](CompileResult& compiled) {
        Executable& executable = *std::get<std::unique_ptr<Executable>>(compiled);
        return std::get<Values>(executable.run(kSigned)).at(0).values<float>();
    };
    CHECK(values(abs) == std::vector<float>{1, 2});
    CHECK(values(relu) == std::vector<float>{1, 0});
}

TEST_CASE("a worker serves who isolates nothing") {
    const auto backend = worker("right");
    CompileResult compiled = backend->compile(kAbs, {});
    Executable& executable = *std::get<std::unique_ptr<Executable>>(compiled);
    for (int i = 0; i < 2; i++)
        CHECK(std::get<Values>(executable.run(kSigned)).at(0).values<float>() == std::vector<float>{1, 2});
    // A copy of this process has a worker of its own.
    const ForkedAnswer asked = ask_forked([&] {
        const RunResult result = executable.run(kSigned);
        return std::string(std::holds_alternative<Values>(result) ? "values" : "failure");
    });
    CHECK(asked.answer == "values");
    CHECK(std::holds_alternative<Values>(executable.run(kSigned)));
}
