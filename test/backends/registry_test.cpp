#include "backends/registry.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/error.h"

using namespace whittle;

namespace {

/// WHITTLE_BACKEND_PATH for one test.
class BackendPath {
  public:
    explicit BackendPath(const std::string& value) { ::setenv("WHITTLE_BACKEND_PATH", value.c_str(), 1); }
    ~BackendPath() { ::unsetenv("WHITTLE_BACKEND_PATH"); }
};

bool listed(const std::string& name) {
    const std::vector<BackendInfo> backends = list_backends();
    return std::any_of(backends.begin(), backends.end(), [&](const BackendInfo& info) { return info.name == name; });
}

}  // namespace

TEST_CASE("every listed backend is found by its name and says what it is") {
    const std::vector<BackendInfo> backends = list_backends();
    REQUIRE_FALSE(backends.empty());
    CHECK(backends[0].name == "eager");
    CHECK(backends[0].from == "built in");
    for (const BackendInfo& info : backends) {
        CAPTURE(info.name, info.from);
        CHECK_FALSE(info.description.empty());
        CHECK(find_backend(info.name)->name() == info.name);
        CHECK(find_backend(info.name)->description() == info.description);
    }
    for (const char* kind : {"compile", "runtime", "accuracy"})
        CHECK(listed("relu_" + std::string(kind) + "_error_TESTING_ONLY"));
}

TEST_CASE("an unknown name lists what exists and suggests a close one") {
    CHECK_THROWS_WITH(find_backend("eagre"), Catch::Contains("backend 'eagre'") &&
                                                 Catch::Contains("expected one of eager") &&
                                                 Catch::Contains("did you mean 'eager'?"));
    CHECK_THROWS_WITH(find_backend("relu_accuracy_error"),
                      Catch::Contains("did you mean 'relu_accuracy_error_TESTING_ONLY'?"));
    CHECK_THROWS_WITH(find_backend("inductor"), Catch::Contains("cmd:PROGRAM ARGS"));
    CHECK_THROWS_AS(find_backend(""), Error);
}

TEST_CASE("libraries are named by path, with a backend where they hold several") {
    const std::string folder = WHITTLE_TEST_PLUGINS;
    CHECK(find_backend(folder + "/plugin_one.so")->name() == "identity");
    CHECK(find_backend(folder + "/plugin_many.so:fails")->name() == "fails");
    CHECK_THROWS_WITH(find_backend(folder + "/plugin_many.so"), Catch::Contains("append ':'"));
    CHECK_THROWS_WITH(find_backend("./none.so"), Catch::Contains("no such file"));
    CHECK_THROWS_WITH(find_backend("none.so"), Catch::Contains("no such file"));
}

TEST_CASE("WHITTLE_BACKEND_PATH adds folders; what cannot be loaded there does no harm") {
    CHECK_FALSE(listed("identity"));
    const BackendPath path("/no/such/folder::" + std::string(WHITTLE_TEST_PLUGINS));
    CHECK(listed("identity"));
    CHECK(listed("relu_compile_error_TESTING_ONLY"));
    CHECK(find_backend("fails")->name() == "fails");
    CHECK(backend_folders().front() == "/no/such/folder");
}

TEST_CASE("a command is a backend; an empty one is not") {
    CHECK(find_backend("cmd:true")->name() == "cmd:true");
    CHECK_THROWS_WITH(find_backend("cmd: "), Catch::Contains("found no command"));
    CHECK_THROWS_WITH(find_backend("cmd:a 'b"), Catch::Contains("no closing '"));
}
