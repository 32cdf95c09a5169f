#include "report/report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/words.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/registry.h"
#include "report/show.h"
#include "report/split.h"

using namespace whittle;
using report::Frame;

namespace {

/// Supports everything but what it was told.
class Picky final : public Backend, public Support {
  public:
    explicit Picky(std::string refused) : refused_(std::move(refused)) {}
    std::string name() const override { return "picky"; }
    std::string description() const override { return "refuses one op"; }
    CompileResult compile(const Graph&, const BackendOptions&) override { return SkipRequest{"never compiles"}; }
    std::vector<std::string> unsupported(const Graph& graph) const override {
        for (const NodeId id : graph.calls())
            if (graph.node({id}).target == refused_) return {refused_};
        return {};
    }

  private:
    std::string refused_;
};

Frame frame_of(std::string_view text) {
    Frame frame{.file = "model.onnx"};
    frame.graph = parse(text);
    return frame;
}

/// Two unknown ops of one name; the last relu depends on both.
Frame broken() {
    return frame_of(R"(graph toy {
        %x = placeholder["x"] : f32[2, 3]
        %w = get_attr["w"] : f32[2, 3]
        %a = aten.neg.default(%x) : f32[2, 3]
        %b = mystery.op(%a) : f32[2, 3]
        %c = aten.add.Tensor(%b, %w) : f32[2, 3]
        %d = aten.neg.default(%c) : f32[2, 3]
        %e = mystery.op(%d) : f32[2, 3]
        %f = aten.mul.Tensor(%e, %a) : f32[2, 3]
        return (%f)
    })");
}

}  // namespace

TEST_CASE("the verdict on a graph without ops is printed") {
    const Frame constant = frame_of("graph g {\n  %w = get_attr[\"w\"] : f32[2]\n  return (%w)\n}\n");
    const Picky backend("");
    report::Report report = report::explain("m", {constant}, &backend);
    CHECK(report.graph_count() == 0);
    CHECK(report::to_text(report, {}).find("picky") == std::string::npos);  // nobody ran it
    report.verdict = "Backend picky is right: 1 graph, compared with eager.\n";
    CHECK(report::to_text(report, {}).find("Backend picky is right") != std::string::npos);
    report.verdict.clear(), report.failing = 1;
    CHECK(report::to_text(report, {}).find("Backend picky fails") != std::string::npos);
}

TEST_CASE("a graph without breaks is one graph") {
    const Frame frame = frame_of(R"(graph whole {
        %x = placeholder["the.input"] : f32[4]
        %w = get_attr["w"] : f64[2, 5]
        %a = aten.neg.default(%x) : f32[4]
        %b = aten.neg.default(%a) : f32[4]
        return (%b)
    })");
    const report::Report report = report::explain("m", {frame}, nullptr);
    CHECK(report.graphs.size() == 1);
    CHECK(report.graph_break_count == 0);
    CHECK(report.op_count == 2);
    CHECK(report.graphs.at(0).input_values.at(0).name == "the.input");
    CHECK(report.graphs.at(0).parameters == 1);
    CHECK(report.graphs.at(0).parameter_elements == 10);
    CHECK(report.graphs.at(0).parameter_bytes == 80);
    CHECK(report.ops.at(0).op == "aten.neg.default");
    CHECK(report.ops.at(0).results == std::vector<std::string>{"f32[4]"});
}

TEST_CASE("breaks split the graph, and equal reasons are told once") {
    const Frame frame = broken();
    const report::Report report = report::explain("m", {frame}, nullptr);
    CHECK(report.graph_break_count == 2);
    REQUIRE(report.break_reasons.size() == 1);
    CHECK(report.break_reasons.at(0).reason == "unknown op mystery.op");
    CHECK(report.break_reasons.at(0).kind == report::BreakKind::unregistered_op);
    REQUIRE(report.break_reasons.at(0).places.size() == 2);
    CHECK(report.break_reasons.at(0).places.at(1).node == "e");
    CHECK(report.break_reasons.at(0).places.at(1).user_stack.at(0).file == "model.onnx");
    CHECK(report.op_count == 6);
    REQUIRE(report.first_break);
    CHECK(report::first_break_text(report) ==
          "found a graph break at %b: unknown op mystery.op [WB0007]\n"
          "   File \"model.onnx\", in main\n     %b = mystery.op(%a) : f32[2, 3]\n"
          "   hint: " +
              std::string(capture::info(report::BreakKind::unregistered_op).hint) + "\n");
    REQUIRE(report.graphs.size() == 3);
    CHECK(report.graphs.at(0).ops == 1);
    CHECK(report.graphs.at(1).ops == 2);
    CHECK(report.graphs.at(2).ops == 1);
    CHECK(report.graphs.at(2).input_values.size() == 2);
}

TEST_CASE("ops that only the backend knows are calls of the graph") {
    const Picky backend("aten.exp.default");
    const report::Report report = report::explain("m", {broken()}, &backend);
    CHECK(report.graph_break_count == 0);
    CHECK(report.graphs.size() == 1);
    CHECK(report.op_count == 6);
    CHECK(report.unsupported.empty());
    const Picky lacks("mystery.op");
    CHECK(report::explain("m", {broken()}, &lacks).break_reasons.at(0).kind == report::BreakKind::unregistered_op);
}

TEST_CASE("pieces are legal graphs that hold each call once") {
    const Frame frame = broken();
    const auto pieces = report::split_at(frame.graph, report::explain("m", {frame}, nullptr).break_nodes.at(0));
    REQUIRE(pieces.size() == 3);
    for (const Graph& piece : pieces) verify(piece, Stage::registered, Registry::instance());
    CHECK(print(pieces[1]) == print(parse(R"(graph toy_1 {
        %b = placeholder["b"] : f32[2, 3]
        %w = get_attr["w"] : f32[2, 3]
        %c = aten.add.Tensor(%b, %w) : f32[2, 3]
        %d = aten.neg.default(%c) : f32[2, 3]
        return (%d)
    })")));
}

TEST_CASE("what does not depend on a break stays before it") {
    const Frame frame = frame_of(R"(graph g {
        %x = placeholder["x"] : f32[2]
        %b = mystery.op(%x) : f32[2]
        %c = aten.neg.default(%x) : f32[2]
        return (%b, %c)
    })");
    const report::Report report = report::explain("m", {frame}, nullptr);
    CHECK(report.graphs.size() == 1);
    CHECK(report.graphs.at(0).output_values.at(0).name == "c");
}

TEST_CASE("a backend's refusals are breaks, named with the backend") {
    Frame frame = broken();
    const Picky picky("aten.neg.default");
    const report::Report report = report::explain("m", {frame}, &picky);
    CHECK(report.backend == "picky");
    CHECK(report.unsupported == std::vector<std::string>{"aten.neg.default"});
    CHECK(report.graph_break_count == 2);
    REQUIRE(report.break_reasons.size() == 1);
    CHECK(report.break_reasons.at(0).reason == "backend picky does not support aten.neg.default");
    CHECK(report.break_reasons.at(0).kind == report::BreakKind::unsupported);
}

TEST_CASE("a backend is not asked about calls that the frontend could not take") {
    // %f depends on the break %e, so that nothing is known of its metas.
    struct Strict final : Backend, Support {
        std::string name() const override { return "strict"; }
        std::string description() const override { return "throws at what nobody knows"; }
        CompileResult compile(const Graph&, const BackendOptions&) override { return SkipRequest{"never compiles"}; }
        std::vector<std::string> unsupported(const Graph& graph) const override {
            std::vector<std::string> refused;
            for (const NodeId id : graph.calls()) {
                const Node& call = graph.node({id});
                if (call.target == "mystery.op" || call.name == "f") throw Error("cannot decompose " + call.name);
                if (call.target == "aten.neg.default" && refused.empty()) refused.push_back(call.target);
            }
            return refused;
        }
    };
    Frame frame = broken();
    frame.breaks = {{"found mode 'cubic'", "b", "mystery.op"}, {"found mode 'cubic'", "e", "mystery.op"}};
    frame.unknown = {"b", "e", "f"};
    const Strict strict;
    CHECK(report::explain("m", {frame}, &strict).unsupported == std::vector<std::string>{"aten.neg.default"});
    frame.unknown = {"b", "e"};  // what %f is given is not known, though the file declares what it gives
    CHECK(report::explain("m", {frame}, &strict).unsupported == std::vector<std::string>{"aten.neg.default"});
}

TEST_CASE("a frontend's break keeps its own words") {
    Frame frame = broken();
    frame.breaks = {{"found attribute 'axis_w'", "b", "mystery.op"}, {"function that never became a call", "", ""}};
    const report::Report report = report::explain("m", {frame}, nullptr);
    CHECK(report.graph_break_count == 3);
    REQUIRE(report.break_reasons.size() == 3);
    CHECK(report.break_reasons.at(0).reason == "function that never became a call");
    CHECK(report.break_reasons.at(1).reason == "found attribute 'axis_w'");
    CHECK(report.break_reasons.at(2).places.size() == 1);
}

TEST_CASE("the text has the parts of the original, in its order") {
    const std::string text = report::to_text(report::explain("m", {broken()}, nullptr), {.ops = true});
    CHECK(text.starts_with("Whittle produced 3 graphs, with 2 graph breaks and 6 ops.\n"));
    const auto reasons = text.find("Break reasons:"), graphs = text.find("\nGraphs:"), ops = text.find("\nOps:");
    CHECK(
        text.find(
            "1. unknown op mystery.op [WB0007] (2 times)\n   File \"model.onnx\", in main\n     %b = mystery.op(%a)") !=
        std::string::npos);
    CHECK(reasons < graphs);
    CHECK(graphs < ops);
    CHECK(ops != std::string::npos);
    CHECK(text.find('\033') == std::string::npos);
}

TEST_CASE("the call stacks of a break at several places have titles") {
    const auto at = [](int line, std::int64_t count) {
        return IndexBreak{.reason = "print",
                          .id = "WB0001",
                          .stack = {{"a.py", 3, 0, "f", "print(x)"}, {"a.py", line, 0, "<module>", ""}},
                          .count = count};
    };
    TraceIndex index{.breaks = {at(8, 2), at(9, 1)}};
    const std::string stack = "   File \"a.py\", line 3, in f\n     print(x)\n   File \"a.py\", line ";
    CHECK_THAT(report::to_text(report::explain("m", {}, nullptr, &index), {}),
               Catch::Contains("(3 times)\n   place 1 of 2 (2 times):\n" + stack +
                               "8, in <module>\n   place 2 of 2:\n" + stack + "9, in <module>\n   hint: "));
    index.breaks.pop_back();
    CHECK_THAT(report::to_text(report::explain("m", {}, nullptr, &index), {}),
               Catch::Contains("(2 times)\n" + stack + "8, in <module>\n   hint: "));
}

TEST_CASE("the first break is the one that the program met first, whichever function began first") {
    TraceIndex index{.breaks = {{.reason = "of main", .id = "WB0001", .order = 20},
                                {.reason = "of f", .id = "WB0001", .frame = "f", .order = 10}}};
    CHECK(report::explain("m", {}, nullptr, &index).first_break->reason == "of f");
    for (IndexBreak& entry : index.breaks) entry.order = 0;
    CHECK(report::explain("m", {}, nullptr, &index).first_break->reason == "of main");
}

TEST_CASE("a number of calls that is a guess says so") {
    CHECK(call_count(1, false).empty());
    CHECK(call_count(9, false) == "9 calls");
    CHECK(call_count(1, true) == "1 call (guessed)");
    CHECK(call_count(9, true) == "9 calls (guessed)");
}

TEST_CASE("the JSON has the fields that scripts rely on") {
    const nlohmann::json json = report::to_json(report::explain("m", {broken()}, nullptr));
    CHECK(json.at("graph_count") == 3);
    CHECK(json.at("graph_break_count") == 2);
    CHECK(json.at("op_count") == 6);
    CHECK(json.at("recompiles").empty());
    const auto& reason = json.at("break_reasons").at(0);
    CHECK(reason.at("id") == "WB0007");
    CHECK(reason.at("count") == 2);
    for (const char* key : {"file", "line", "column", "function", "text"})
        CHECK(reason.at("user_stack").at(0).contains(key));
    CHECK(json.at("graphs").at(0).at("ops") == 1);
    CHECK(json.at("graphs").at(0).at("frame") == "main");
    CHECK(json.at("graphs").at(1).at("inputs").at(0).at("sizes") == std::vector<int>{2, 3});
}

TEST_CASE("pictures quote labels, mark breaks and hide constants") {
    Frame frame = broken();
    frame.name = "a \"quoted\" \\ frame";
    const std::string dot = report::to_dot({frame}, report::explain("m", {frame}, nullptr));
    CHECK(dot.find("\\\"quoted\\\" \\\\ frame") != std::string::npos);
    CHECK(dot.find("mystery.op\", shape=box, style=filled") != std::string::npos);
    CHECK(dot.find("w f32[2, 3]") != std::string::npos);
    CHECK(dot.find("g0_1 [") == std::string::npos);  // the get_attr has no node of its own
    CHECK(dot.find("g0_0 -> g0_2 [label=\"f32[2, 3]\"]") != std::string::npos);
}

TEST_CASE("sizes in bytes read well") {
    CHECK(report::bytes_text(999) == "999 B");
    CHECK(report::bytes_text(1000) == "1.0 kB");
    CHECK(report::bytes_text(4940000) == "4.9 MB");
}
