// Releases of Halide: here Whittle's own library under another name, which other processes run.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/kept.h"
#include "base/module.h"
#include "compile/compile.h"
#include "environment_variable.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/outcome.h"
#include "ops/core/interpreter.h"
#include "planted/bugs.h"
#include "tensor/random.h"

using namespace whittle;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder of releases, as a user's; with what is installed there.
class InstalledReleases {
  public:
    explicit InstalledReleases(const std::vector<std::string>& releases) {
        for (const std::string& release : releases) {
            const fs::path to = kept_folder("releases") / "halide" / "releases" / release;
            fs::create_directories(to);
            fs::copy_file(library_folder() / "libwhittle-halide.so", to / "libwhittle-halide.so");
        }
    }

  private:
    const TempDir folder_{"whittle-releases"};
    const test::EnvironmentVariable data_{"XDG_DATA_HOME", folder_.path().string()};
};

/// Writes to its input; needs gradients.
Graph gated() {
    Graph graph = parse(R"(graph gated {
  %x = placeholder["x"] : f32[4, 3]
  %b = placeholder["b"] : f32[2] grad
  %w = get_attr["w"] : f32[3, 2] grad
  %scaled = aten.mul_.Scalar(%x, 2) : f32[4, 3]
  %h = aten.addmm.default(%b, %scaled, %w) : f32[4, 2] grad
  %y = aten.tanh.default(%h) : f32[4, 2] grad
  return (%y)
}
)");
    Random random(2);
    graph.attributes["w"] = random_tensor(DType::f32, {3, 2}, random).with_requires_grad(true);
    return graph;
}

std::vector<Tensor> gated_inputs() {
    Random random(1);
    return {random_tensor(DType::f32, {4, 3}, random), random_tensor(DType::f32, {2}, random)};
}

Outcome run_gated(Backend& halide, const BackendOptions& options) {
    const Graph graph = gated();
    const std::vector<Tensor> inputs = gated_inputs();
    return judge(run_isolated(graph, inputs, halide, options, {}), graph, inputs, evaluate(graph, inputs), {});
}

}  // namespace

TEST_CASE("a release of Halide computes what Whittle's own does", "[releases]") {
    const InstalledReleases installed({"9.1"});
    const auto halide = find_backend("halide");
    const Outcome own = run_gated(*halide, {}), other = run_gated(*halide, {{"release", "9.1"}});
    CAPTURE(own.message, other.message, other.no_gradients);
    REQUIRE(own.kind == Outcome::Kind::ok);
    REQUIRE(other.kind == Outcome::Kind::ok);
    CHECK(other.outputs.at(0).values<float>() == own.outputs.at(0).values<float>());
    REQUIRE(other.gradients.size() == own.gradients.size());
    CHECK(other.gradients.at(0).values<float>() == own.gradients.at(0).values<float>());
}

TEST_CASE("a bug in a process is in no release that another process runs", "[releases]") {
    const InstalledReleases installed({"9.1"});
    const auto halide = find_backend("halide");
    const Planted bug("lower=aten.tanh.default");
    CHECK(run_gated(*halide, {}).kind == Outcome::Kind::mismatch);
    CHECK(run_gated(*halide, {{"release", "9.1"}}).kind == Outcome::Kind::ok);
    // Also where nothing is isolated.
    const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n"
        "  %y = aten.tanh.default(%x) : f32[2]\n  return (%y)\n}\n");
    const std::vector<Tensor> inputs = {Tensor::of({1.f, 2.f})};
    const auto computed = [&](const BackendOptions& options) {
        CompileResult compiled = program::compile(*halide, graph, options);
        return std::get<Values>(std::get<std::unique_ptr<Executable>>(compiled)->run(inputs)).at(0).values<float>();
    };
    CHECK(computed({}) != computed({{"release", "9.1"}}));
}

TEST_CASE("a release of Halide takes the backend's options", "[releases]") {
    const InstalledReleases installed({"9.1"});
    const auto halide = find_backend("halide");
    CHECK(run_gated(*halide, {{"release", "9.1"}, {"asserts", "off"}, {"disable", "fuse"}}).kind == Outcome::Kind::ok);
    CHECK_THROWS_WITH(check_options(*halide, {{"release", "9.1"}, {"rules", "some"}}), Contains("rules"));
}

TEST_CASE("releases of Halide are listed by age, and others are refused", "[releases]") {
    const auto releases_of = [] { return offered<Releases>(*find_backend("halide"))->releases(); };
    {
        const InstalledReleases none({});
        CHECK(releases_of().size() == 1);  // its own
        CHECK_THROWS_WITH(check_options(*find_backend("halide"), {{"release", "9.1"}}),
                          Contains("found '9.1', expected one of ") && Contains("halide/install VERSION"));
    }
    const InstalledReleases installed({"99.10", "99.9", "9.1"});
    const std::vector<std::string> found = releases_of();
    REQUIRE(found.size() == 4);
    CHECK(found[0] == "9.1");
    CHECK(found[2] == "99.9");
    CHECK(found[3] == "99.10");
    const auto halide = find_backend("halide");
    Releases& releases = *offered<Releases>(*halide);
    CHECK(releases.release_of({}) == found[1]);
    CHECK(releases.release_of({{"release", "99.9"}}) == "99.9");
    CHECK(releases.library_for({}).empty());
    CHECK(releases.library_for(releases.in_release({}, "99.9")).parent_path().filename() == "99.9");
    CHECK(releases.version_in({}).empty());
    CHECK_THAT(releases.version_in({{"release", "99.9"}}), Catch::StartsWith("Halide " + found[1] + "."));
}
