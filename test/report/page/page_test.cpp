// The page of explain --html: what its data say, and that nothing in them can leave its place.
#include "report/page/page.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "formats/json.h"
#include "graph/text.h"
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

html::PageFacts facts_of(const report::Subject& subject, bool source = true) {
    return {
        .subject = subject,
        .report = report::explain(subject.model, subject.frames, nullptr, subject.index ? &*subject.index : nullptr),
        .command = {"explain", "./program", "--html", "page.html", "--no-source", "--", "3"},
        .source = source};
}

json data_of(const report::Subject& subject, bool source = true) { return html::page_data(facts_of(subject, source)); }

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
    const report::Subject subject = test::broken_program(file.string());
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

/// A frame that a backend computes wrong.
JudgedFrame wrong(std::string name, std::string file, std::string reason) {
    return {.name = std::move(name),
            .file = std::move(file),
            .verdict = Verdict::fails,
            .reason = std::move(reason),
            .wrong = true};
}

TEST_CASE("findings come worst first, and functions have their status", "[html]") {
    report::Subject subject = test::broken_program("/nowhere/program.cpp");
    subject.judged = {wrong("net", "net_0.json", "mismatch at run"), wrong("net", "net_0.json", "mismatch at run")};
    const json data = data_of(subject);
    REQUIRE(data["findings"].size() == 3);  // two runs of one graph are one
    CHECK(data["findings"][0]["level"] == "failed");
    CHECK(data["findings"][0]["detail"] == "mismatch at run (the first of 2 runs)");
    // The record is gone when the page is read: the program is what can be run again.
    CHECK(data["findings"][0]["command"] == "explain ./program --minify -- 3");
    CHECK(data["findings"][0]["go"] == "graph=net_0");
    CHECK(data["findings"][1]["level"] == "break");
    CHECK(data["findings"][1]["command"] == "explain break WB0001");
    CHECK(data["findings"][2]["level"] == "recompiled");
    // What --recompiles says is on the page.
    CHECK(data["findings"][2]["command"] == "explain ./program --recompiles=all -- 3");
    REQUIRE(data["frames"].size() == 1);
    CHECK(data["frames"][0]["status"] == json({"failed", "break", "recompiled"}));
    CHECK(data["breaks"][0]["before"] == json({"net_0"}));
    CHECK(data["recompiles"][0]["count"] == 2);
}

/// Two graphs of one function that a backend computes wrong, both from the same line on.
report::Subject twice_wrong() {
    report::Subject subject = test::broken_program("/nowhere/program.cpp");
    report::Frame second = subject.frames[0];
    second.graph.name = "net_1";
    second.file = "net_1.json";
    subject.frames.push_back(second);
    subject.index->graphs.push_back(subject.index->graphs[0]);
    subject.index->graphs[1].name = "net_1", subject.index->graphs[1].file = "net_1.json";
    subject.judged = {wrong("net", "net_0.json", "mismatch at run: far off"),
                      wrong("net", "net_1.json", "mismatch at run: off, too")};
    return subject;
}

report::FrameDivergence wrong_at(const report::Subject& subject, const std::string& module) {
    ValueDivergence value;
    value.node = "linear", value.op = "aten.matmul.default", value.module_path = module;
    value.stack = subject.frames[0].graph.nodes[2].stack;
    value.error = {.max_abs = 0.5, .max_ulp = 3};
    report::FrameDivergence compared{.backend = "halide"};
    compared.divergence.values = {value};
    compared.divergence.first = 0;
    return compared;
}

TEST_CASE("graphs that go wrong at one operation of one line are one finding", "[html]") {
    const report::Subject subject = twice_wrong();
    const report::Report report = report::explain(subject.model, subject.frames, nullptr, &*subject.index);
    std::map<std::string, report::FrameDivergence> accuracy = {{"net_0", wrong_at(subject, "first")},
                                                               {"net_1", wrong_at(subject, "second")}};
    accuracy["net_1"].divergence.values[0].error.max_abs = 0.75;
    const json data = html::page_data({.subject = subject, .report = report, .accuracy = accuracy});
    REQUIRE(data["findings"].size() == 3);  // and the break and the recompile
    const json& finding = data["findings"][0];
    CHECK(finding["graphs"] == json({"net_0", "net_1"}));
    CHECK(finding["op"] == "matmul");
    CHECK(finding["place"] == json::parse(R"([0, 2, "net"])"));
    CHECK(finding["detail"].get<std::string>().starts_with(
        "first wrong value: %linear = aten.matmul.default in first and second, in each of 2 graphs: off by up to 0.75 "
        "(3 ulp) compared with eager, the reference; in net_0 no value is computed earlier. The graph as a "
        "whole: "
        "net_0: "));
    CHECK(data["headline"]["text"] == finding["title"]);
    CHECK(data["headline"]["place"] == finding["place"]);
    CHECK(data["headline"]["more"] == 0);
    const std::string page = html::page({.subject = subject, .report = report, .accuracy = accuracy});
    CHECK(page.find("at program.cpp:2 in net · ./program · Whittle</title>") != std::string::npos);
    CHECK(page.find("at program.cpp:2 in net</h1>") != std::string::npos);

    // At another line it is another failure.
    accuracy["net_1"].divergence.values[0].stack[0].line = 7;
    const json apart = html::page_data({.subject = subject, .report = report, .accuracy = accuracy});
    CHECK(apart["findings"].size() == 4);
    CHECK(apart["headline"]["more"] == 1);
}

TEST_CASE("a wrong graph whose values were not compared says why", "[html]") {
    const report::Subject subject = twice_wrong();
    const report::Report report = report::explain(subject.model, subject.frames, nullptr, &*subject.index);
    const html::PageFacts facts{.subject = subject,
                                .report = report,
                                .accuracy = {{"net_0", wrong_at(subject, "first")}},
                                .not_compared = {{"net_1", "it takes too long"}}};
    const json data = html::page_data(facts);
    CHECK(data["findings"][1]["detail"] == "no first wrong value: it takes too long; mismatch at run: off, too");
    CHECK(!data["graphs"][0]["failure"].contains("not_compared"));
    CHECK(data["graphs"][1]["failure"]["not_compared"] == "it takes too long");
    CHECK(data["graphs"][1]["failure"]["message"] == "mismatch at run: off, too");
    const std::string page = html::page(facts);
    CHECK(page.find("no first wrong value: it takes too long; ") != std::string::npos);
    CHECK(page.find("first wrong: %linear = aten.matmul.default   # /nowhere/program.cpp:2\n") != std::string::npos);
}

TEST_CASE("a graph is replayed from a trace of the program, or from the folder that the page is about", "[html]") {
    report::Subject subject = test::broken_program("/nowhere/program.cpp");
    subject.index->records.resize(1);
    subject.index->records[0].graph = "net_0", subject.index->records[0].file = "records/net_0.json";
    CHECK(data_of(subject)["graphs"][0]["replay"] == "trace -o traces ./program && replay traces/records/net_0.json");
    report::Subject interpreted = subject;
    interpreted.model = "train.py";
    interpreted.program = {"/usr/bin/python3", "train.py", "--epochs", "2"};
    CHECK(data_of(interpreted)["graphs"][0]["replay"] ==
          "trace -o traces /usr/bin/python3 -- train.py --epochs 2 && replay traces/records/net_0.json");
    const TempDir folder;
    subject.model = folder.path().string();
    const json data = data_of(subject);
    CHECK(data["graphs"][0]["replay"] == "replay " + subject.model + "/records/net_0.json");
    CHECK(data["findings"][1]["command"].is_null());  // the program of a recompile is not there
}

TEST_CASE("compile times are those of the page's backend, where it was measured", "[html]") {
    report::Subject subject = test::broken_program("/nowhere/program.cpp");
    subject.index->graphs[0].compile_seconds = 0.25;
    const json own = data_of(subject);
    CHECK(own["totals"]["compile_seconds"] == 0.25);
    CHECK(own["totals"]["compile_backend"] == "");
    subject.profile.backend = "halide";
    subject.profile.graphs.resize(1);
    subject.profile.graphs[0].graph = "net_0", subject.profile.graphs[0].compile_seconds = 2.0;
    const json data = data_of(subject);
    CHECK(data["graphs"][0]["compile_seconds"] == 2.0);
    CHECK(data["frames"][0]["compile_seconds"] == 2.0);
    CHECK(data["totals"]["compile_seconds"] == 2.0);
    CHECK(data["totals"]["compile_backend"] == "halide");
}

TEST_CASE("the repro comes first, and nothing asks for what the page has", "[html]") {
    const TempDir folder;
    const auto repro = folder.path() / "small.cpp", result = folder.path() / "small.json";
    write_file(repro, "int main() { return 1; }\n");
    Graph left = parse(
        "graph net_0 {\n  %x = placeholder[\"x\"] : f32[2]\n"
        "  %y = aten.relu.default(%x) : f32[2]\n  return (%y)\n}\n");
    left.nodes[1].stack = {{.file = "/nowhere/program.cpp", .line = 2, .function = "net", .text = ""}};
    save_graph(left, result);
    const json minified = {{"result", "minimized"}, {"calls_before", 9},         {"calls_after", 1},
                           {"queries", 4},          {"message", "far off"},      {"minimized_message", "off"},
                           {"graph", "net_0"},      {"output", result.string()}, {"history", json::array()}};
    const json repros = {{{"output", repro.string()},
                          {"verified", true},
                          {"compile_command", "c++ small.cpp -o small"},
                          {"run_command", "./small"}}};
    const report::Subject subject = twice_wrong();
    const report::Report report = report::explain(subject.model, subject.frames, nullptr, &*subject.index);
    const html::PageFacts facts{.subject = subject,
                                .report = report,
                                .accuracy = {{"net_0", wrong_at(subject, "first")}},
                                .minified = &minified,
                                .repros = &repros};
    const json data = html::page_data(facts);
    CHECK(data["findings"][0]["title"] == "9 operations of net_0 minimized to relu, with a verified repro");
    CHECK(data["findings"][0]["command"] == "c++ small.cpp -o small && ./small");
    CHECK(data["findings"][0]["place"] == json::parse(R"([0, 2, "net"])"));
    CHECK(data["findings"][1]["command"].is_null());
    CHECK(data["findings"][2]["command"].is_null());
    CHECK(data["headline"]["text"] == data["findings"][1]["title"]);  // what fails, not what was made of it
    CHECK(data["minify"][0]["nodes"][0]["at"][0] == json::parse(R"([0, 2, "net"])"));
    CHECK(html::page(facts).find("with a verified repro: off; ") != std::string::npos);
}

TEST_CASE("what was minimized ends in the command that shows it, with the text of the repro", "[html]") {
    const TempDir folder;
    const auto repro = folder.path() / "small.cpp", result = folder.path() / "small.json";
    write_file(repro, "int main() { return 1; }\n");
    save_graph(parse("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  return (%x)\n}\n"), result);
    const json minified = {
        {"result", "minimized"}, {"calls_before", 9},         {"calls_after", 1},        {"queries", 4},
        {"message", "wrong"},    {"output", result.string()}, {"history", json::array()}};
    const json repros = {
        {{"output", repro.string()}, {"verified", true}, {"compile_command", "c++ small.cpp -o small"}}};
    const report::Subject subject = test::broken_program("/nowhere/program.cpp");
    const report::Report report =
        report::explain(subject.model, subject.frames, nullptr, subject.index ? &*subject.index : nullptr);
    const html::PageFacts facts{.subject = subject, .report = report, .minified = &minified, .repros = &repros};
    const json data = html::page_data(facts);
    CHECK(data["findings"][0]["title"] == "9 operations minimized to 1, with a verified repro");
    CHECK(data["findings"][0]["command"] == "c++ small.cpp -o small && ./small");
    CHECK(data["minify"][0]["repro"]["text"] == "int main() { return 1; }\n");
    CHECK(data["minify"][0]["graph_text"].get<std::string>().starts_with("graph g {"));
    CHECK(html::page(facts).find("<pre>int main()") != std::string::npos);
}

TEST_CASE("calls, callers and times are data of the page", "[html]") {
    report::Subject subject = test::broken_program("/nowhere/program.cpp");
    subject.index->call_log = {{{}, "net", 1, 0, true}, {capture::GuardFailure{"L['n'] == 3", "4"}, "net", 2}};
    subject.index->callers = {{.frame = "net", .stack = subject.index->breaks[0].stack, .calls = 2}};
    subject.index->eager_calls = {{"net", 1}};
    subject.index->guessed_calls = {"net"};
    subject.profile.memory.push_back({.graph = "net_0", .how = "liveness", .at = {"relu"}, .bytes = {16}, .peak = 16});
    const json data = data_of(subject);
    CHECK(data["calls"][0]["specialization"] == 0);
    CHECK_FALSE(data["calls"][1].contains("specialization"));  // it ran eagerly
    CHECK(data["calls"][1]["found"] == "4");
    CHECK(data["callers"][0]["at"][0] == json::parse(R"([0, 2, "net"])"));
    CHECK(data["frames"][0]["eager_calls"] == 1);
    CHECK(data["frames"][0]["calls_guessed"] == true);
    CHECK(data["frames"][0]["calls"] == 1);  // a guess is shown, even of one call
    CHECK(data["profile"]["memory"][0]["how"] == "liveness");
    CHECK(data["timeline"] == "explain ./program --times=timeline.json -- 3");
}

TEST_CASE("the paths of an exporter's modules are told once", "[html]") {
    report::Subject subject{.model = "m.onnx"};
    report::Frame frame;
    frame.graph = parse(R"(graph m opset("": 17) {
        %x = placeholder["x"] : f32[2]
        %y = onnx.Relu(%x) : f32[2]
        return (%y)
    })");
    frame.graph.nodes[1].module_path = "/features/features.3/squeeze/Relu";
    subject.frames = {frame};
    CHECK(data_of(subject)["graphs"][0]["nodes"][1]["mod"] == "features.3.squeeze");
}

TEST_CASE("a finding of a model file names the file, and the node where one is known", "[html]") {
    report::Subject subject{.model = "dir/m.onnx"};
    report::Frame frame{.name = "main", .file = "dir/m.onnx"};
    frame.graph = parse(
        "graph m {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.relu.default(%x) : f32[2]\n"
        "  return (%y)\n}\n");
    frame.breaks = {{"nobody takes it", "y", "aten.relu.default"}};
    subject.frames = {frame};
    subject.judged = {{.name = "main", .file = "dir/m.onnx", .verdict = Verdict::fails, .reason = "exception: x"}};
    const json data = data_of(subject);
    CHECK(data["findings"][0]["where"] == "m.onnx");
    CHECK(data["findings"][1]["where"] == "%y in m.onnx");
    CHECK(data["headline"]["where"] == "m.onnx");
    CHECK(html::page(facts_of(subject)).find(" at m.onnx</h1>") != std::string::npos);
}

TEST_CASE("no text leaves its place in the page", "[html]") {
    report::Subject subject = test::broken_program("/nowhere/program.cpp");
    subject.model = "</title></noscript><script>alert(1)</script><!--";
    subject.index->notes = {"</script><script>alert(2)</script>", "<!-- \xff"};
    const std::string page = html::page(facts_of(subject));
    CHECK(page.find("<script>alert") == std::string::npos);
    const json embedded = embedded_in(page);
    CHECK(embedded["model"] == subject.model);
    CHECK(embedded["notes"][0] == subject.index->notes[0]);
    CHECK(page.find("{{") == std::string::npos);
    for (const char* outside : {"src=\"http", "href=\"http", "@import", "url(http"})
        CHECK(page.find(outside) == std::string::npos);
}

TEST_CASE("a schedule has places of the page, and its failure is a finding", "[html]") {
    report::Subject subject{.model = "./blur"};
    subject.program = {"./blur"};
    subject.ended = "ended with exit status 1";
    json schedule = json::parse(R"~({"pipelines": [], "steps": [], "notes": [], "directives": [
        {"number": 1, "func": "f", "owner": "f", "name": "parallel", "text": "f.parallel(y)", "needs": [],
         "file": "/nowhere/blur.cpp", "line": 2, "column": 5, "source": "f.parallel(y);"},
        {"number": 2, "func": "f", "owner": "f", "name": "vectorize", "text": "f.vectorize(x)", "needs": [],
         "address": "blur+0x12"}]})~");
    html::PageFacts facts = facts_of(subject);
    facts.schedule = &schedule;
    facts.schedule_text = "Halide: 2 directives";
    const json data = html::page_data(facts);
    CHECK(data["files"][0]["path"] == "/nowhere/blur.cpp");
    CHECK(data["halide"]["directives"][0]["place"] == json::parse(R"([0, 2, ""])"));
    CHECK_FALSE(data["halide"]["directives"][0].contains("source"));
    CHECK_FALSE(data["halide"]["directives"][1].contains("place"));
    REQUIRE(data["findings"].size() == 1);
    CHECK(data["headline"]["text"] == "the program ended with exit status 1");
    CHECK(data["findings"][0]["command"] == "minify ./blur");
    CHECK(html::page(facts).find("Halide: 2 directives") != std::string::npos);
    schedule["error"] = "runtime-error: Error: out of bounds\nmore";
    CHECK(html::page_data(facts)["headline"]["text"] == "Halide reports an error: runtime-error: Error: out of bounds");
    subject.ended.clear();
    schedule.erase("error");
    CHECK(html::page_data(facts)["findings"].empty());
}

TEST_CASE("a comparison without sources names breaks by their ids", "[html]") {
    const report::Subject subject = test::broken_program("/nowhere/program.cpp");
    html::PageFacts facts = facts_of(subject, false);
    facts.diff.emplace().breaks = {{.what = "WB0001 print: hello", .place = "net (program.cpp:2)", .after = 1}};
    CHECK(html::page_data(facts)["diff"]["breaks"][0]["what"] == "WB0001");
    CHECK(html::page(facts).find("print: hello") == std::string::npos);
}

TEST_CASE("the main facts stand in the page without scripts", "[html]") {
    const auto facts = [](bool source) {
        const std::string page = html::page(facts_of(test::broken_program("/nowhere/program.cpp"), source));
        return page.substr(page.find("<noscript>"), page.find("</noscript>") - page.find("<noscript>"));
    };
    for (const char* fact : {", 1 graph break, ", "<td>program.cpp:2 in net</td>",
                             "File &quot;/nowhere/program.cpp&quot;, line 2", "explain break WB0001"}) {
        CHECK(facts(true).find(fact) != std::string::npos);
        CHECK(facts(false).find(fact) != std::string::npos);
    }
    for (const char* source : {"print: hello", "y = first(x)"}) {
        CHECK(facts(true).find(source) != std::string::npos);
        CHECK(facts(false).find(source) == std::string::npos);
    }
}

}  // namespace
}  // namespace whittle
