// The procedure, and what is written about it.
#include "diagnose/components.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "environment_variable.h"
#include "graph/text.h"
#include "planted/bugs.h"

using namespace whittle;

TEST_CASE("the manual lists the backends in the order in which a diagnosis asks them") {
    const std::string manual = read_file(WHITTLE_SOURCE_DIR "/share/doc/reference/backends.md");
    std::size_t last = 0;
    for (const BuiltInBackend& component : diagnose::components()) {
        if (component.name.empty()) continue;  // the suspect
        CAPTURE(component.name);
        const std::size_t row = manual.find("\n| `" + std::string(component.name) + "` |");
        REQUIRE(row != std::string::npos);
        CHECK(row > last);
        last = row;
    }
}

TEST_CASE("a suspect whose options make another of it is not taken for the component of its name") {
    LoadedFrame frame;
    frame.graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[4]\n  %a = aten.abs.default(%x) : f32[4]\n"
        "  %b = aten.neg.default(%a) : f32[4]\n  return (%b)\n}\n");
    frame.inputs = {Tensor::of(std::vector<float>{1, -2, 3, -4}, {4})};
    const Planted bug("lower=aten.abs.default");  // which those that interpret have not
    const auto diagnosed = [&](const BackendOptions& options) {
        return diagnose::first_failing_component(frame,
                                                 {.spec = "aot_eager", .options = options, .tier = Tier::computes}, 1);
    };
    const diagnose::ComponentVerdict elsewhere = diagnosed({{"fw", "halide"}});
    REQUIRE(elsewhere.fails());
    CHECK(elsewhere.last().culprit() == "the backend");
    CHECK(elsewhere.last().backend == "aot_eager fw=halide");
    CHECK(elsewhere.last().suspect);
    CHECK(elsewhere.tried.at(elsewhere.tried.size() - 2).backend == "aot_eager");
    const diagnose::ComponentVerdict own = diagnosed({{"partition", "min_cut"}});  // as it is anyway
    CHECK_FALSE(own.fails());
    CHECK(own.tried.back().backend == "aot_eager");
    CHECK(own.tried.back().suspect);
}

TEST_CASE("the first parts of a compiler are asked before all of it, where its description lists them") {
    const TempDir folders;
    const auto describe = [&](const std::string& name, const std::string& mode, const std::string& earlier) {
        std::filesystem::create_directories(folders.path() / name);
        write_file(folders.path() / name / "backend.json",
                   R"({"description": "", "worker": [")" + std::string(WHITTLE_TEST_WORKER) + R"(", ")" + mode +
                       R"("], "needs": [], "install": "", "earlier": [)" + earlier + "]}");
    };
    describe("first", "right", "");
    describe("second", "wrong", "");
    const test::EnvironmentVariable path("WHITTLE_BACKEND_PATH", folders.path().string());
    LoadedFrame frame;
    frame.graph = parse(
        "graph g opset(\"\": 13) {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = onnx.Relu(%x) : f32[2]\n"
        "  return (%y)\n}\n");
    frame.inputs = {Tensor::of({1.f, -2.f})};
    const auto diagnosed = [&] {
        const BackendOptions options{{"threads", "2"}, {"disable", "share"}};
        return diagnose::first_failing_component(frame, {.spec = "whole", .options = options, .tier = Tier::computes},
                                                 1);
    };
    describe("whole", "wrong", R"("first", "second")");
    const diagnose::ComponentVerdict part = diagnosed();
    REQUIRE(part.fails());
    CHECK(part.last().backend == "second");
    CHECK_FALSE(part.last().suspect);
    CHECK(part.last().options == BackendOptions{{"threads", "2"}});
    CHECK(part.tried.at(part.tried.size() - 2).backend == "first");
    describe("whole", "wrong", R"("first")");
    const diagnose::ComponentVerdict whole = diagnosed();
    REQUIRE(whole.fails());
    CHECK(whole.last().suspect);
    CHECK(whole.tried.at(whole.tried.size() - 2).backend == "first");
}
