// The procedure, and what is written about it.
#include "diagnose/components.h"

#include <catch2/catch.hpp>

#include "base/files.h"
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
        return diagnose::first_guilty(frame, {.spec = "aot_eager", .options = options, .tier = Tier::computes}, 1);
    };
    const diagnose::Guilt elsewhere = diagnosed({{"fw", "halide"}});
    REQUIRE(elsewhere.fails());
    CHECK(elsewhere.who().who() == "the backend");
    CHECK(elsewhere.who().backend == "aot_eager fw=halide");
    CHECK(elsewhere.who().suspect);
    CHECK(elsewhere.tried.at(elsewhere.tried.size() - 2).backend == "aot_eager");
    const diagnose::Guilt own = diagnosed({{"partition", "min_cut"}});  // as it is anyway
    CHECK_FALSE(own.fails());
    CHECK(own.tried.back().backend == "aot_eager");
    CHECK(own.tried.back().suspect);
}
