// The page of explain --html: what its data say, and that nothing in them can leave its place.
#include "html/page.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "graph/text.h"
#include "html/data.h"
#include "test_model.h"

namespace whittle {
namespace {

using nlohmann::json;

/// What the page's scripts read.
json embedded_in(const std::string& page) {
    const std::string begin = R"(<script type="application/json" id="data">)";
    const std::size_t from = page.find(begin) + begin.size();
    return json::parse(page.substr(from, page.find("</script>", from) - from));
}

json data_of(const debug::Subject& subject, bool source = true) {
    const explain::Report report =
        explain::explain(subject.model, subject.frames, nullptr, subject.index ? &*subject.index : nullptr);
    return html::page_data({.subject = subject, .report = report, .command = "explain it", .source = source});
}

TEST_CASE("nodes read what computes them, and name their parameters", "[html]") {
    const json data = data_of(test::broken_program("/nowhere/program.cpp"));
    const json& nodes = data["graphs"][0]["nodes"];
    REQUIRE(nodes.size() == 4);  // the parameter is none
    CHECK(nodes[0]["kind"] == "input");
    CHECK(nodes[0]["label"] == "L['x']");
    CHECK(nodes[1]["in"] == json({"l_x"}));
    CHECK(nodes[1]["params"] == json({"first.weight"}));
    CHECK(nodes[1]["mod"] == "first");
    CHECK(nodes[1]["out"][0] == json({{"dtype", "f32"}, {"sizes", {2, 2}}}));
    CHECK(nodes[3]["in"] == json({"relu"}));
}

TEST_CASE("places lead into the text of sources, unless that is left out", "[html]") {
    const TempDir folder;
    const auto file = folder.path() / "program.cpp";
    write_file(file, "one\ntwo </script>\nthree\n");
    const debug::Subject subject = test::broken_program(file.string());
    const json data = data_of(subject);
    CHECK(data["graphs"][0]["nodes"][1]["at"] == json::parse(R"([[0, 2, "net"], [0, 3, "main"]])"));
    CHECK(data["files"][0]["path"] == file.string());
    CHECK(data["files"][0]["lines"] == json({"one", "two </script>", "three"}));
    const json without = data_of(subject, false);
    REQUIRE(without["files"][0]["lines"].size() == 3);
    for (const json& line : without["files"][0]["lines"]) CHECK(line == "");
}

TEST_CASE("a file that is gone has the lines that stacks know", "[html]") {
    const json data = data_of(test::broken_program("/nowhere/program.cpp"));
    CHECK(data["files"][0]["lines"] == json({"", "y = first(x)", "net(x)"}));
}

TEST_CASE("findings come worst first, and functions have their status", "[html]") {
    debug::Subject subject = test::broken_program("/nowhere/program.cpp");
    subject.failing = {{"net", "net_0.json", "mismatch at run", true}};
    const json data = data_of(subject);
    REQUIRE(data["findings"].size() == 3);
    CHECK(data["findings"][0]["level"] == "failed");
    CHECK(data["findings"][0]["go"] == "graph=net_0");
    CHECK(data["findings"][1]["level"] == "break");
    CHECK(data["findings"][1]["command"] == "explain --break WB0001");
    CHECK(data["findings"][2]["level"] == "recompiled");
    REQUIRE(data["frames"].size() == 1);
    CHECK(data["frames"][0]["status"] == json({"failed", "break", "recompiled"}));
    CHECK(data["breaks"][0]["before"] == json({"net_0"}));
    CHECK(data["recompiles"][0]["count"] == 2);
}

TEST_CASE("the paths of an exporter's modules are told once", "[html]") {
    debug::Subject subject{.model = "m.onnx"};
    explain::Frame frame;
    frame.graph = parse(R"(graph m opset("": 17) {
        %x = placeholder["x"] : f32[2]
        %y = onnx.Relu(%x) : f32[2]
        return (%y)
    })");
    frame.graph.nodes[1].module_path = "/features/features.3/squeeze/Relu";
    subject.frames = {frame};
    CHECK(data_of(subject)["graphs"][0]["nodes"][1]["mod"] == "features.3.squeeze");
}

TEST_CASE("no text leaves its place in the page", "[html]") {
    debug::Subject subject = test::broken_program("/nowhere/program.cpp");
    subject.model = "</title></noscript><script>alert(1)</script><!--";
    subject.index->notes = {"</script><script>alert(2)</script>", "<!-- \xff"};
    const json data = data_of(subject);
    const std::string page = html::page(data);
    CHECK(page.find("<script>alert") == std::string::npos);
    const json embedded = embedded_in(page);
    CHECK(embedded["model"] == subject.model);
    CHECK(embedded["notes"][0] == subject.index->notes[0]);
    CHECK(page.find("{{") == std::string::npos);
    for (const char* outside : {"src=\"http", "href=\"http", "@import", "url(http"})
        CHECK(page.find(outside) == std::string::npos);
}

TEST_CASE("the main facts stand in the page without scripts", "[html]") {
    const std::string page = html::page(data_of(test::broken_program("/nowhere/program.cpp")));
    const std::string facts = page.substr(page.find("<noscript>"), page.find("</noscript>") - page.find("<noscript>"));
    for (const char* fact : {"1 graph breaks", "print: hello", "/nowhere/program.cpp:2", "explain --break WB0001"})
        CHECK(facts.find(fact) != std::string::npos);
}

}  // namespace
}  // namespace whittle
