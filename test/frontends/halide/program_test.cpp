#include "frontends/halide/program.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace {

using namespace whittle::halide_program;
using Catch::Contains;
using Numbers = std::vector<int>;

/// A line as the recorder writes it, of a call in the file app.py.
std::string directive(int number, const std::string& owner, const std::string& name, const std::string& text,
                      const std::vector<std::string>& uses = {}, const std::vector<std::string>& makes = {}) {
    const nlohmann::json line{{"directive", number}, {"key", owner + std::to_string(number)},
                              {"owner", owner},      {"name", name},
                              {"text", text},        {"uses", uses},
                              {"makes", makes},      {"file", "app.py"},
                              {"line", 10 + number}};
    return line.dump() + "\n";
}

TEST_CASE("a directive needs those that make the loops that it uses") {
    const Program program = read_lines({directive(1, "f", "split", "split(x, xo, xi, 8)", {"x"}, {"xo", "xi"}) +
                                        directive(2, "f", "vectorize", "vectorize(xi)", {"xi"}) +
                                        directive(3, "f.update(0)", "vectorize", "vectorize(xi)", {"xi"}) +
                                        directive(4, "f", "reorder", "reorder({xi, y, xo})", {"xi", "y", "xo"})});
    REQUIRE(program.directives.size() == 4);
    CHECK(program.directives[0].needs.empty());
    CHECK(program.directives[1].needs == Numbers{1});
    CHECK(program.directives[2].needs.empty());  // of another stage
    CHECK(program.directives[3].needs == Numbers{1});
    CHECK(program.directives[3].text() == "f.reorder(xi, y, xo)");
    CHECK(program.directives[2].func() == "f");
    CHECK(Directive{.owner = "in.dim(1)", .name = "set_stride"}.func() == "in");
    CHECK(program.directives[1].place.text() == "app.py:12");
}

TEST_CASE("a Func that is computed at a loop needs the directive that makes the loop") {
    const std::string compute_at = R"~({"directive": 2, "key": "k", "owner": "g", "name": "compute_at",)~"
                                   R"~( "text": "compute_at(f, xi)", "uses": [], "makes": [],)~"
                                   R"~( "at": "f", "at_loop": "xi", "pc": []})~";
    const Program program =
        read_lines({directive(1, "f", "split", "split(x, xo, xi, 8)", {"x"}, {"xo", "xi"}) + compute_at});
    CHECK(program.directives.at(1).at == 1);
    CHECK(program.directives[1].needs.empty());
    CHECK(program.directives[1].place.text() == "?");
}

TEST_CASE("a directive of a Func that another directive made needs that one") {
    const Program program = read_lines({directive(1, "f", "in", "in(g)") + R"({"returned": 1, "func": "f_in_g"})" +
                                        "\n" + directive(2, "f_in_g", "vectorize", "vectorize(x, 8)", {"x"}) +
                                        directive(3, "f", "parallel", "parallel(y)")});
    REQUIRE(program.directives.size() == 3);
    CHECK(program.directives[1].needs == Numbers{1});
    CHECK(program.directives[2].needs.empty());
}

TEST_CASE("processes are read one behind the other") {
    const std::string process = directive(1, "f", "split", "split(x, xo, xi, 8)", {"x"}, {"xo", "xi"}) +
                                directive(2, "f", "vectorize", "vectorize(xi)", {"xi"});
    const Program program = read_lines({process, process + R"({"event": "moved", "of": 2, "text": "xi to x"})"});
    REQUIRE(program.directives.size() == 4);
    CHECK(program.directives[3].number == 4);
    CHECK(program.directives[3].needs == Numbers{3});
    CHECK(program.events.at(0).of == 4);
}

TEST_CASE("a line that was cut short is left out") {
    const Program program = read_lines({directive(1, "f", "parallel", "parallel(y)") + R"({"directive": 2, "ke)"});
    CHECK(program.directives.size() == 1);
}

TEST_CASE("a directive that says where a Func is computed or stored places it") {
    for (const char* name : {"compute_at", "store_root", "store_at", "hoist_storage"})
        CHECK(Directive{.owner = "f", .name = name}.places_func());
    for (const char* name : {"compute_root", "store_in", "compute_with", "vectorize"})
        CHECK_FALSE(Directive{.owner = "f", .name = name}.places_func());
}

TEST_CASE("an error has Halide's message without what stands around it") {
    const Program program = read_lines(
        {R"({"event": "runtime-error", "text": "Error: f is read out of order by loop g.s0.y.$n.$n.\nmore\n"})"});
    REQUIRE(program.first_error());
    CHECK(program.first_error()->message() == "f is read out of order by loop g.s0.y.");
    CHECK_FALSE(read_lines({}).first_error());
}

TEST_CASE("what only states sizes is no candidate") {
    const Program program =
        read_lines({directive(1, "f", "bound", "bound(x, 0, 8)") + directive(2, "f", "compute_root", "compute_root()") +
                    directive(3, "f", "parallel", "parallel(y)")});
    CHECK_FALSE(program.directives.at(0).is_candidate());
    CHECK_FALSE(program.directives[1].is_candidate());
    CHECK(program.directives[2].is_candidate());
    CHECK(program.directives[0].states_size());
    CHECK_FALSE(program.directives[1].states_size());
    CHECK_FALSE(program.directives[2].states_size());
}

TEST_CASE("variables of domains read as in the program") {
    const Program program = read_lines({directive(1, "f$1.update(0)", "vectorize", "vectorize(r$x, 8)", {"r$x"})});
    CHECK(program.directives.at(0).text() == "f$1.update(0).vectorize(r.x, 8)");
}

TEST_CASE("errors, times and notes are reported") {
    const Program program =
        read_lines({R"({"event": "runtime-error", "of": 0, "needs": 0, "text": "Error: out of bounds"})"
                    "\n"
                    R"({"ran": "Halide::Func::realize", "seconds": 0.5})"
                    "\n"
                    R"({"ran": "Halide::Func::realize", "seconds": 0.25})"
                    "\n"
                    R"({"event": "other-halide", "text": "/usr/lib/libHalide.so.19"})"});
    CHECK(program.found());
    CHECK(program.error() == "runtime-error: Error: out of bounds");
    CHECK_THAT(program.notes.at(0), Contains("another Halide") && Contains("libHalide.so.19"));
    CHECK_THAT(to_text(program), Contains("Func::realize") && Contains("2 times  0.750 s"));
    CHECK(to_json(program)["steps"][0]["count"] == 2);
    CHECK_FALSE(Program().found());
}

}  // namespace
