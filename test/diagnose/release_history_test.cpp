#include "diagnose/release_history.h"

#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "graph/abilities.h"
#include "graph/text.h"

using namespace whittle;
using namespace whittle::diagnose;

TEST_CASE("a history in one line", "[releases]") {
    ReleaseHistory history{.installed = 6, .last_good = "1.16.3", .first_bad = "1.17.0"};
    CHECK(history.text() == "1.16.3 is right; wrong since 1.17.0 (of 6 installed releases)");
    history.cannot_tell = {"1.16.4", "1.16.5"};
    CHECK(history.text() ==
          "1.16.3 is right; wrong since 1.17.0 (of 6 installed releases; 1.16.4, 1.16.5 gave no verdict)");
    history.last_good.clear();
    CHECK(history.text() ==
          "wrong in all tested releases since 1.17.0 (of 6 installed releases; 1.16.4, 1.16.5 gave no verdict)");
    history.cannot_tell.clear();
    CHECK(history.text() == "wrong in all tested releases since 1.17.0, the oldest of 6 installed releases");
    history.newest = "1.30.0", history.newest_is = "right";
    CHECK(history.text() ==
          "wrong in all tested releases since 1.17.0, the oldest of 6 installed releases; right in 1.30.0");
    history.newest_is = "cannot tell";
    CHECK(history.text() ==
          "wrong in all tested releases since 1.17.0, the oldest of 6 installed releases; 1.30.0 gave no verdict");
}

// ---- releases of a worker -------------------------------------------------------------------------------------------

namespace {

std::string spec(const std::string& releases) { return "worker:" + shell_quote({WHITTLE_TEST_WORKER, releases}); }

/// A relu that fails as the worker's releases have it.
Graph failing(const std::string& releases, const BackendOptions& options = {}, const std::string& kind = "mismatch") {
    Graph graph = parse(R"(graph g opset("": 13) {
  %x = placeholder["x"] : f32[2]
  %y = onnx.Relu(%x) : f32[2]
  return (%y)
})");
    Failure& failure = graph.failure.emplace();
    failure.backend = spec(releases);
    failure.options = options;
    failure.signature = {kind, "run", kind == "mismatch" ? "value" : "SIGABRT"};
    failure.inputs = {Tensor::of({1.f, -2.f})};
    return graph;
}

std::string history_of(const Graph& graph) {
    const auto backend = find_backend(graph.failure->backend, graph.failure->options);
    const auto history = release_history(graph, *backend, {.timeout = std::chrono::seconds(20)});
    return history ? history->text() : "none";
}

}  // namespace

TEST_CASE("releases of a worker are asked as processes of their own", "[releases]") {
    CHECK(history_of(failing("1=right,2=right,3=wrong,4=wrong,5=wrong")) ==
          "2 is right; wrong since 3 (of 5 installed releases)");
    CHECK(history_of(failing("1=unsupported,2=right,3=wrong,4=wrong")) ==
          "2 is right; wrong since 3 (of 4 installed releases)");
    CHECK(history_of(failing("1=wrong,2=wrong,3=wrong")) ==
          "wrong in all tested releases since 1, the oldest of 3 installed releases");
    CHECK(history_of(failing("1=silent,2=crash,3=deaf,4=wrong")) ==
          "wrong in all tested releases since 4 (of 4 installed releases; 1, 2, 3 gave no verdict)");
    CHECK(history_of(failing("1=right,2=crash,3=crash", {}, "crash")) ==
          "1 is right; wrong since 2 (of 3 installed releases)");
    CHECK(history_of(failing("1=right,2=wrong,3=right", {{"release", "2"}})) ==
          "1 is right; wrong since 2 (of 3 installed releases); right in 3");
    CHECK(history_of(failing("1=wrong,2=wrong", {{"release", "1"}})) ==
          "wrong in all tested releases since 1, the oldest of 2 installed releases; still wrong in 2");
    CHECK(history_of(failing("1=wrong")) == "none");
    CHECK(history_of(failing("wrong")) == "none");
}

TEST_CASE("a release is an option, and others are refused by name", "[releases]") {
    const auto backend = find_backend(spec("1.0=right,2.0=deaf,3.0=right"));
    CHECK(version_of(*backend, {}) == "3.0");
    CHECK(version_of(*backend, {{"release", "1.0"}}) == "1.0");
    CHECK(version_of(*backend, {{"release", "3.0"}}) == "3.0");
    CHECK_THROWS_WITH(find_backend(spec("1.0=right,3.0=right"), {{"release", "1.1"}}),
                      Catch::Contains("backend option release: found '1.1', expected one of 1.0, 3.0"));
    CHECK_THROWS_WITH(version_of(*backend, {{"release", "2.0"}}),
                      Catch::Contains("found release '3.0', expected '2.0'"));
    CHECK_THROWS_WITH(find_backend(spec("right"), {{"release", "1.0"}}),
                      Catch::Contains("found '1.0', expected no release: this backend has no releases to choose from"));
}
