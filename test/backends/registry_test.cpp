#include "backends/registry.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/module.h"
#include "environment_variable.h"
#include "graph/abilities.h"

using namespace whittle;

namespace {

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
        if (info.name == "libtorch" && !has_module("libtorch")) {
            CHECK_THROWS_WITH(find_backend(info.name), Catch::Contains("built without LibTorch"));
            continue;
        }
        if (!info.missing.empty()) {
            CHECK_THROWS_WITH(find_backend(info.name), Catch::Contains("is not installed"));
            continue;
        }
        CHECK(find_backend(info.name)->name() == info.name);
        CHECK(find_backend(info.name)->description() == info.description);
    }
    for (const char* kind : {"compile", "runtime", "accuracy"})
        CHECK(listed("relu_" + std::string(kind) + "_error_TESTING_ONLY"));
}

TEST_CASE("what --backend names is parsed once, and printed as it parses") {
    for (const std::string text :
         {"halide", "./mine.so", "mine.so", "a/lib.so:relu", "cmd:./x.sh -O 2 {}", "worker:./x.sh 2", ""})
        CHECK(BackendSpec(text).text() == text);
    CHECK(BackendSpec("").empty());
    CHECK(std::get<LibraryBackend>(BackendSpec("a/lib.so:relu").value()) == LibraryBackend{"a/lib.so", "relu"});
    CHECK(std::get<CommandBackendSpec>(BackendSpec("cmd:a.so:b").value()).line == "a.so:b");
    const auto moved = [](const std::string& file) { return "/there/" + file; };
    CHECK(BackendSpec("lib.so:relu").with_files(moved).text() == "/there/lib.so:relu");
    CHECK(BackendSpec("cmd:./x.sh -O").with_files(moved).text() == "cmd:/there/./x.sh -O");
    CHECK(BackendSpec("worker:./x.sh -O").with_files(moved).text() == "worker:/there/./x.sh -O");
    CHECK(BackendSpec("halide").with_files(moved).text() == "halide");
}

TEST_CASE("an unknown name suggests a close one") {
    CHECK_THROWS_WITH(find_backend("eagre"),
                      Catch::Contains("backend 'eagre'") && Catch::Contains("did you mean 'eager'?"));
    CHECK_THROWS_WITH(find_backend("relu_accuracy_error"),
                      Catch::Contains("did you mean 'relu_accuracy_error_TESTING_ONLY'?"));
    CHECK_THROWS_WITH(find_backend("xyzzy"), Catch::Contains("cmd:PROGRAM ARGS"));
    CHECK_THROWS_AS(find_backend(""), Error);
}

TEST_CASE("libraries are named by path, with a backend where they hold several") {
    const std::string folder = WHITTLE_TEST_PLUGINS;
    CHECK(find_backend(folder + "/plugin_one.so")->name() == "identity");
    CHECK(find_backend(folder + "/plugin_many.so:fails")->name() == "fails");
    CHECK_THROWS_WITH(find_backend(folder + "/plugin_many.so"), Catch::Contains("write LIBRARY.so:NAME"));
    CHECK_THROWS_WITH(find_backend("./none.so"), Catch::Contains("no such file"));
    CHECK_THROWS_WITH(find_backend("none.so"), Catch::Contains("no such file"));
}

TEST_CASE("WHITTLE_BACKEND_PATH adds folders; what cannot be loaded there does no harm") {
    CHECK_FALSE(listed("identity"));
    const test::EnvironmentVariable path("WHITTLE_BACKEND_PATH",
                                         "/no/such/folder::" + std::string(WHITTLE_TEST_PLUGINS));
    CHECK(listed("identity"));
    CHECK(listed("relu_compile_error_TESTING_ONLY"));
    CHECK(find_backend("fails")->name() == "fails");
    CHECK(backend_folders().front() == "/no/such/folder");
}

TEST_CASE("libraries are looked at in a copy of this process: one that crashes when it is loaded is left out") {
    const test::EnvironmentVariable path("WHITTLE_BACKEND_PATH", WHITTLE_TEST_PLUGINS);
    const std::vector<BackendInfo> backends = list_backends();
    CHECK(std::none_of(backends.begin(), backends.end(),
                       [](const BackendInfo& info) { return info.from.ends_with("plugin_crash.so"); }));
    CHECK(listed("identity"));
    CHECK(find_backend("fails")->name() == "fails");
}

TEST_CASE("the files that decide what a backend does") {
    const std::string folder = WHITTLE_TEST_PLUGINS;
    CHECK(backend_files(folder + "/plugin_many.so:fails") ==
          std::vector<std::filesystem::path>{folder + "/plugin_many.so"});
    CHECK(backend_files("cmd:sh " + folder + "/plugin_one.so").back() == folder + "/plugin_one.so");
    CHECK_FALSE(backend_files("eager").empty());
    const test::EnvironmentVariable path("WHITTLE_BACKEND_PATH", folder);
    CHECK(backend_files("fails").at(0).filename() == "plugin_many.so");
    // What nobody finds by name is made by this program.
    CHECK(backend_files("made here") == backend_files("eager"));
}

TEST_CASE("a command is a backend; an empty one is not") {
    CHECK(find_backend("cmd:true")->name() == "cmd:true");
    CHECK_THROWS_WITH(find_backend("cmd: "), Catch::Contains("found no command after the prefix"));
    CHECK_THROWS_WITH(find_backend("cmd:a 'b"), Catch::Contains("no closing '"));
}

TEST_CASE("a folder with a description is a backend of its name") {
    const TempDir folders;
    const std::filesystem::path folder = folders.path() / "mine";
    std::filesystem::create_directory(folder);
    const auto describe = [&](const std::string& needs) {
        write_file(folder / "backend.json",
                   R"({"description": "my own", "worker": ["sh", "{here}/w.sh", "{data}"], "needs": )" + needs +
                       R"(, "install": "make -C {here}"})");
    };
    const test::EnvironmentVariable path("WHITTLE_BACKEND_PATH", folders.path().string());
    describe(R"(["sh", "{here}/backend.json"])");
    CHECK(find_backend("mine")->name() == "mine");
    CHECK(find_backend("mine")->description() == "my own");
    CHECK(backend_files("mine").front() == folder / "backend.json");
    CHECK(backend_files("mine").back() == folder / "backend.json");  // needed, so that a change of it counts
    CHECK_THROWS_WITH(find_backend("mine:x"), Catch::Contains("unknown backend 'mine:x'"));
    describe(R"(["no-such-program", "{here}/w.sh"])");
    CHECK_THROWS_WITH(find_backend("mine"),
                      Catch::Contains("found no no-such-program, no " + (folder / "w.sh").string()) &&
                          Catch::Contains("run make -C " + folder.string()));
    CHECK(listed("mine"));
    describe("7");
    CHECK_FALSE(listed("mine"));  // with a warning
    CHECK_THROWS_WITH(find_backend("mine"), Catch::Contains("unknown backend 'mine'"));
}

TEST_CASE("options of a described backend are arguments of its worker, and one may follow the name") {
    const TempDir folders;
    const std::filesystem::path folder = folders.path() / "mine";
    std::filesystem::create_directory(folder);
    const auto describe = [&](const std::string& variant) {
        write_file(folder / "backend.json",
                   R"({"description": "my own", "worker": ["sh", "{here}/w.sh"], "needs": [], "install": "",
                       "arguments": {"mode": "how", "level": "how much"}, "variant": ")" +
                       variant + "\"}");
    };
    // The version is the worker's command line.
    write_file(folder / "w.sh", "printf '{\"whittle\": 1, \"version\": \"%s\"}\\n' \"$*\"; cat > /dev/null\n");
    const test::EnvironmentVariable path("WHITTLE_BACKEND_PATH", folders.path().string());
    describe("mode");
    const auto version = [](const char* name, const BackendOptions& options) {
        return version_of(*find_backend(name, options), options);
    };
    CHECK(version("mine", {}) == "");
    CHECK(version("mine:fast", {}) == "--mode=fast");
    CHECK(version("mine:a:b", {}) == "--mode=a:b");
    CHECK(version("mine", {{"mode", "slow"}, {"level", "2"}}) == "--level=2 --mode=slow");
    CHECK(version("mine:fast", {{"mode", "slow"}}) == "--mode=fast --mode=slow");  // the last one counts
    CHECK(find_backend("mine:fast")->name() == "mine:fast");
    CHECK(backend_files("mine:fast").front() == folder / "backend.json");
    CHECK_THROWS_WITH(find_backend("mine:"), Catch::Contains("unknown backend 'mine:'"));
    describe("other");
    CHECK_FALSE(listed("mine"));  // with a warning
}
