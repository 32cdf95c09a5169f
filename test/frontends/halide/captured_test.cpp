#include "frontends/halide/captured.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "frontends/halide/program.h"

namespace {

using namespace whittle::halide_program;

/// A line as the recorder writes it.
std::string directive(int number, const std::string& owner, const std::string& name, int specialization = 0) {
    nlohmann::json line{{"directive", number}, {"key", owner + "." + name},
                        {"owner", owner},      {"name", name},
                        {"text", name + "()"}, {"arguments", nlohmann::json::array()},
                        {"file", "app.py"},    {"line", number}};
    if (specialization) line["specialization"] = specialization;
    return line.dump() + "\n";
}
std::string pipeline(const std::string& output, const std::vector<std::string>& funcs,
                     const std::string& entry = "realize") {
    nlohmann::json all = nlohmann::json::array();
    for (const std::string& func : funcs) all.push_back({{"name", func}});
    const nlohmann::json line{{"captured",
                               {{"entry", entry},
                                {"target", ""},
                                {"outputs", {output}},
                                {"shapes", {{{0, 8}}}},
                                {"funcs", all},
                                {"images", nlohmann::json::array()},
                                {"parameters", nlohmann::json::array()},
                                {"nodes", nlohmann::json::array()}}}};
    return line.dump() + "\n";
}

std::vector<std::string> calls(const CapturedPipeline& captured) {
    std::vector<std::string> texts;
    for (const CapturedCall& call : captured.schedule)
        texts.push_back(call.owner + "." + call.name + (call.culprit ? "!" : ""));
    return texts;
}
using Calls = std::vector<std::string>;

TEST_CASE("the pipeline that has the culprit's Func is chosen, with the directives in force") {
    const Program program =
        read_lines({directive(1, "f", "parallel") + directive(2, "g", "vectorize") + directive(3, "g", "unroll") +
                    directive(4, "g", "set_estimate") + directive(5, "g", "reorder") + pipeline("f", {"f"}) +
                    pipeline("g", {"g"}) + R"({"event": "dependent", "of": 5, "needs": 0, "text": ""})"});
    const auto captured = captured_with(program, {"g.unroll"}, {"g.vectorize"});
    REQUIRE(captured);
    CHECK(captured->outputs == std::vector<std::string>{"g"});
    CHECK(calls(*captured) == Calls{"g.vectorize!"});
    CHECK_FALSE(captured_with(program, {}, {"h.vectorize"}));
}

TEST_CASE("a directive of an ImageParam is one of the pipeline that reads it") {
    std::string captured = pipeline("f", {"f"});
    const std::string none = "\"images\":[]";
    captured.replace(captured.find(none), none.size(),
                     R"("images":[{"name": "in", "type": "int32", "parameter": true, "dimensions": []}])");
    const Program program = read_lines(
        {directive(1, "in.dim(0)", "set_stride") + directive(2, "f", "vectorize") + pipeline("g", {"g"}) + captured});
    const auto found = captured_with(program, {}, {"in.dim(0).set_stride"});
    REQUIRE(found);
    CHECK(calls(*found) == Calls{"in.dim(0).set_stride!", "f.vectorize"});
}

TEST_CASE("directives of what was left out are left out, too") {
    const Program program = read_lines({directive(1, "f", "specialize") + directive(2, "f", "vectorize", 1) +
                                        directive(3, "f", "rfactor") + R"({"returned": 3, "func": "f_intm"})" + "\n" +
                                        directive(4, "f_intm", "parallel") + pipeline("f", {"f"})});
    CHECK(calls(captured_with(program, {"f.specialize"}, {"f.rfactor"}).value()) ==
          Calls{"f.rfactor!", "f_intm.parallel"});
    CHECK(calls(captured_with(program, {"f.rfactor"}, {"f.specialize"}).value()) ==
          Calls{"f.specialize!", "f.vectorize"});
}

TEST_CASE("a pipeline that is captured again, after a repair, replaces the one before") {
    const Program program = read_lines({pipeline("f", {"f"}) + pipeline("f", {"f"}, "again")});
    REQUIRE(program.captured.size() == 1);
    CHECK(program.captured[0].entry == "again");
}

TEST_CASE("a captured pipeline reads back as it was") {
    const Program program = read_lines({directive(1, "f", "parallel") + pipeline("f", {"f"})});
    const auto captured = captured_with(program, {}, {"f.parallel"});
    const nlohmann::json json = captured.value();
    CHECK(nlohmann::json(json.get<CapturedPipeline>()) == json);
    CHECK(calls(json.get<CapturedPipeline>()) == Calls{"f.parallel!"});
}

}  // namespace
