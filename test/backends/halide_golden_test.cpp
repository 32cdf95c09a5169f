// What the rules make of two small graphs, as text: schedules and the Halide C++ of a repro. Rewritten by running this
// with WHITTLE_UPDATE_GOLDENS=1 (scripts/update goldens does); review with `git diff`.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <set>
#include <sstream>

#include "backends/halide/definitions.h"
#include "backends/halide/halide_text.h"
#include "backends/halide/planned.h"
#include "base/files.h"
#include "golden.h"
#include "graph/text.h"

using namespace whittle;

namespace {

/// Every kernel of the graph: its group, its schedule and the text of both. The target is named, so that every machine
/// writes the same.
std::string kernels_of(const std::string& graph) {
    program::CompiledProgram program(parse(graph));
    const auto planned = halide::planned(program);
    REQUIRE(std::holds_alternative<const program::Plan*>(planned));
    std::string text;
    for (const program::Kernel& kernel : std::get<const program::Plan*>(planned)->kernels) {
        text += "/*\n" + print(kernel.group);
        for (const expr::Directive& directive : kernel.schedule) text += print(directive) + "\n";
        text += "*/\n" + halide::to_halide_cpp(kernel.group, kernel.schedule, kernel.group.name, "x86-64-linux");
    }
    return text;
}

}  // namespace

TEST_CASE("this machine's target is written as the host's, others by name") {
    const std::string own = halide::target_code(halide::default_target());
    CHECK_THAT(own, Catch::StartsWith("Halide::Target(\"host-") && Catch::Contains("-strict_float"));
    CHECK_THAT(own, !Catch::Contains("linux"));
    CHECK(halide::target_code("arm-64-android") == "Halide::Target(\"arm-64-android\")");
    CHECK(halide::target_code("host") == "Halide::Target(\"host\")");
}

TEST_CASE("share/doc/how-to/halide.md names the features that Whittle adds to the target and removes from it") {
    const auto features = [](const std::string& target) {
        std::set<std::string> names;
        std::istringstream in(target);
        for (std::string name; std::getline(in, name, '-');) names.insert(name);
        return names;
    };
    const std::set<std::string> ours = features(halide::default_target()), host = features(halide::host_target());
    std::set<std::string> changed;
    std::ranges::set_symmetric_difference(ours, host, std::inserter(changed, changed.end()));
    CHECK(changed.contains("strict_float"));
    const std::string page = read_file(WHITTLE_SOURCE_DIR "/share/doc/how-to/halide.md");
    for (const std::string& feature : changed) CHECK_THAT(page, Catch::Contains("| `" + feature + "` | "));
}

TEST_CASE("a directive has a condition only where one may be false") {
    program::CompiledProgram program(parse(R"(graph g {
  %x = placeholder["x"] : f32[4, 32]
  %s = aten._softmax.default(%x, -1, false) : f32[4, 32]
  return (%s)
}
)"));
    const program::Plan& plan = *std::get<const program::Plan*>(halide::planned(program));
    program::Kernel kernel = plan.kernels.at(0);
    const std::string on = halide::to_halide_cpp(kernel.group, kernel.schedule, "f");
    CHECK_THAT(on, !Catch::Contains("if (true)") && !Catch::Contains("&& true") && Catch::Contains("if (on"));
    for (expr::Directive& directive : kernel.schedule) directive.enabled = false;
    const std::string off = halide::to_halide_cpp(kernel.group, kernel.schedule, "f");
    CHECK_THAT(off,
               Catch::Contains("if (false) ") && Catch::Contains(" = false;  // the lines below need this directive"));
}

TEST_CASE("golden: a convolution with its bias and relu is one kernel") {
    test::check_golden("backends/golden/conv_relu.cpp.txt", kernels_of(R"(graph conv_relu {
  %x = placeholder["x"] : f32[1, 3, 8, 8]
  %w = placeholder["w"] : f32[8, 3, 3, 3]
  %b = placeholder["b"] : f32[8]
  %conv = aten.convolution.default(%x, %w, %b, [1, 1], [1, 1], [1, 1], false, [0, 0], 1) : f32[1, 8, 8, 8]
  %relu = aten.relu.default(%conv) : f32[1, 8, 8, 8]
  return (%relu)
}
)"));
}

// Its rows are shorter than the widest vectors, which are not every machine's.
TEST_CASE("golden: a softmax") {
    test::check_golden("backends/golden/softmax.cpp.txt", kernels_of(R"(graph softmax {
  %x = placeholder["x"] : f32[6, 15]
  %softmax = aten._softmax.default(%x, -1, false) : f32[6, 15]
  return (%softmax)
}
)"));
}
