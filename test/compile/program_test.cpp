// A program's stages: what they hold, where their nodes come from, that each is made once, and what their passes count.
#include "compile/compile.h"

#include <catch2/catch.hpp>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "compile/hooks.h"
#include "compile/pass_limits.h"
#include "compile/planned.h"
#include "graph/text.h"
#include "planted/bugs.h"

using namespace whittle;
using program::CompiledProgram;
using program::Stage;

namespace {

/// relu6 is a composite; %n is decided by the constant; %b computes what %a does.
Graph example() {
    Graph graph = parse(R"(graph example {
  %x = placeholder["x"] : f32[4]
  %w = get_attr["w"] : f32[4]
  %n = aten.neg.default(%w) : f32[4]
  %a = aten.relu6.default(%x) : f32[4]
  %b = aten.relu6.default(%x) : f32[4]
  %c = aten.add.Tensor(%a, %n) : f32[4]
  %d = aten.add.Tensor(%c, %b) : f32[4]
  return (%d)
}
)");
    graph.attributes["w"] = Tensor::of<float>({1, 2, 3, 4});
    return graph;
}

/// One kernel, nothing scheduled.
expr::Schedule no_schedule(expr::Group&) { return {}; }

/// "%NAME <- %SOURCE %SOURCE" for each call and constant.
std::string provenance(CompiledProgram& program, Stage stage) {
    const Graph &graph = program.graph(stage), &captured = program.graph(Stage::captured);
    std::string text;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        const Node& node = graph.node({id});
        if (node.kind == NodeKind::placeholder || node.kind == NodeKind::output) continue;
        text += "%" + node.name + " <-";
        for (const NodeId source : program.sources(stage, id)) text += " %" + captured.node({source}).name;
        text += "\n";
    }
    return text;
}

struct NoHook {
    ~NoHook() { program::set_after_pass({}); }
};

}  // namespace

TEST_CASE("each stage is the pass of its name applied to the one before", "[program]") {
    CompiledProgram program(example());
    CHECK(print(program.graph(Stage::captured)) == print(example()));
    CHECK(print(program.graph(Stage::functional)) == print(example()));
    CHECK(print(program.graph(Stage::core)) == R"(graph example {
  %x = placeholder["x"] : f32[4]
  %n = get_attr["n"] : f32[4]
  %a = aten.clamp.default(%x, 0, 6) : f32[4]
  %c = aten.add.Tensor(%a, %n) : f32[4]
  %d = aten.add.Tensor(%c, %a) : f32[4]
  return (%d)
}
)");
    CHECK(program.graph(Stage::core).attributes.at("n").values<float>() == std::vector<float>{-1, -2, -3, -4});
    CHECK(program.limits().applications(PassId::fold) == 1);
    CHECK(program.limits().applications(PassId::cse) == 1);
}

TEST_CASE("every node knows the captured nodes that it stands for", "[program]") {
    CompiledProgram program(example());
    CHECK(provenance(program, Stage::core) == "%n <- %n\n%a <- %a %b\n%c <- %c\n%d <- %d\n");
    const program::Plan& plan = program.plan(no_schedule);
    REQUIRE(plan.kernels.size() == 1);
    std::string calls;
    for (const NodeId id : plan.kernels[0].nodes) calls += plan.graph.node({id}).name;
    CHECK(calls == "acd");

    // Of a write: the call that has its place, and what a view of it became.
    CompiledProgram writing(parse(R"(graph writing {
  %x = placeholder["x"] : f32[4]
  %a = aten.neg.default(%x) : f32[4]
  %b = aten.relu_.default(%a) : f32[4]
  %c = aten.silu.default(%a) : f32[4]
  return (%c)
}
)"));
    CHECK(writing.updates().empty());
    for (const Node& node : writing.graph(Stage::core).nodes) CHECK(node.target != "aten.relu_.default");
    CHECK_THAT(provenance(writing, Stage::core),
               Catch::Contains("<- %a\n") && Catch::Contains("<- %b\n") && Catch::Contains("<- %c\n"));
}

TEST_CASE("a stage of an output carries the line of the call that computes it", "[program]") {
    CompiledProgram program(
        parse("graph g {\n  %x = placeholder[\"x\"] : f32[4]\n  %a = aten.neg.default(%x) : f32[4]\n"
              "  %b = aten.abs.default(%a) : f32[4]\n  return (%a, %b)\n}\n"));
    const program::Plan& plan = program.plan(no_schedule);
    REQUIRE(plan.kernels.size() == 1);
    for (const expr::Stage& stage : plan.kernels[0].group.stages)
        CHECK(stage.origin.starts_with("%" + stage.name + " = "));
}

TEST_CASE("passes can be limited and switched off", "[program]") {
    for (const BackendOptions& options :
         {BackendOptions{{"disable", "cse;fold"}}, BackendOptions{{"pass-limit", "cse=0;fold=0"}}}) {
        CompiledProgram program(example(), options);
        CHECK(program.graph(Stage::core).calls().size() == 5);
        CHECK(program.limits().applications(PassId::fold) == 1);  // asked for, not made
    }
}

TEST_CASE("of the passes, those that ask before an application can be limited", "[program]") {
    for (const Pass& pass : kPasses) {
        const std::string called(pass.name);
        CAPTURE(called);
        const BackendOptions limited{{"pass-limit", called + "=1"}};
        if (!pass.limitable) {
            CHECK_THROWS_AS(program::PassLimits(limited), Error);
            continue;
        }
        program::PassLimits limits(limited), off(BackendOptions{{"disable", called}});
        CHECK(limits.apply(pass.id));
        CHECK_FALSE(limits.apply(pass.id));
        CHECK(limits.applications(pass.id) == 2);
        CHECK_FALSE(off.apply(pass.id));
    }
}

TEST_CASE("nothing is decomposed, folded, merged or planned twice", "[program]") {
    const NoHook at_the_end;
    std::map<PassId, int> count;
    program::set_after_pass([&](const Application& done) { ++count[done.pass]; });
    CompiledProgram program(example());
    CHECK(count.empty());  // nothing before it is asked for
    for (int i = 0; i < 2; ++i) {
        for (const Stage stage : program::kStages) program.graph(stage);
        program.plan(no_schedule);
    }
    CHECK(count[PassId::decompose] == 4);  // relu6 is hardtanh, which is clamp; twice
    CHECK(count[PassId::fold] == 1);
    CHECK(count[PassId::cse] == 5);  // the constant and four calls
    CHECK(count[PassId::lower] == 3);
    CHECK(count[PassId::schedule] == 1);
}

namespace {

/// Keeps what it is given.
class Watcher : public Backend {
  public:
    explicit Watcher(Stage stage) : stage_(stage) {}
    std::string name() const override { return "watcher"; }
    std::string description() const override { return ""; }
    CompileStage consumes() const override { return stage_; }
    CompileResult compile(const Graph& graph, const BackendOptions&) override {
        given = print(graph);
        return SkipRequest{};
    }
    std::string given;

  private:
    Stage stage_;
};

class PlanWatcher final : public Watcher, public program::PlanCompiler {
  public:
    PlanWatcher() : Watcher(Stage::plan) {}
    using Watcher::compile;
    CompileResult compile(CompiledProgram& program, const BackendOptions&) override {
        given = std::to_string(program.plan(no_schedule).kernels.size()) + " kernel";
        return SkipRequest{};
    }
};

}  // namespace

TEST_CASE("a backend is given the stage that it consumes", "[program]") {
    for (const Stage stage : program::kStages) {
        Watcher backend(stage);
        program::compile(backend, example(), {});
        CHECK(backend.given == print(CompiledProgram(example()).graph(stage)));
    }
    PlanWatcher planner;
    program::compile(planner, example(), {});
    CHECK(planner.given == "1 kernel");

    Graph expanded = parse(R"(graph expanded {
  %x = placeholder["x"] : f32[1]
  %e = aten.expand.default(%x, [3]) : f32[3]
  %a = aten.relu_.default(%e) : f32[3]
  return (%a)
}
)");
    Watcher functional(Stage::functional);
    const CompileResult refused = program::compile(functional, expanded, {});
    REQUIRE(std::holds_alternative<BackendFailure>(refused));
    CHECK(std::get<BackendFailure>(refused).unsupported);
    CHECK_THAT(std::get<BackendFailure>(refused).message, Catch::Contains("%a (aten.relu_.default)"));
}

TEST_CASE("share/doc/reference/backends.md lists the passes", "[program]") {
    std::string rows;
    for (const PassId id : program::limitable_passes())
        rows += "| `" + std::string(name(id)) + "` | " + std::string(info_of(id).doc) + " |\n";
    CHECK_THAT(read_file(WHITTLE_SOURCE_DIR "/share/doc/reference/backends.md"), Catch::Contains(rows));
}

TEST_CASE("no backend is given a graph with a value that none computes with") {
    const Graph graph = parse(R"(graph there {
  %x = placeholder["x"] : f32[4] placed["cuda:0", "Strided", ""]
  %y = aten.relu.default(%x) : f32[4] placed["cuda:0", "Strided", ""]
  return (%y)
}
)");
    class Takes final : public Backend {
      public:
        std::string name() const override { return "takes"; }
        std::string description() const override { return ""; }
        CompileResult compile(const Graph&, const BackendOptions&) override {
            FAIL("it was given the graph");
            return SkipRequest{""};
        }
    } backend;
    const CompileResult result = program::compile(backend, graph, {});
    const auto* failure = std::get_if<BackendFailure>(&result);
    REQUIRE(failure);
    CHECK(failure->unsupported);
    CHECK(failure->message == "no backend supports the value %x, a tensor on the device cuda:0");
}

TEST_CASE("a program has one plan, and a second scheduler is a bug of the caller's", "[program]") {
    const BugsAreThrown thrown;
    CompiledProgram program(example());
    program.plan(no_schedule);
    program.plan(no_schedule);
    CHECK_THROWS_AS(program.plan([](expr::Group&) { return expr::Schedule(); }), InternalError);
}

TEST_CASE("only an op that refuses its operands is unsupported, no other error", "[program]") {
    CompiledProgram program(example());
    const program::Scheduler refuses = [](expr::Group&) -> expr::Schedule { throw Error("the environment is wrong"); };
    CHECK_THROWS_WITH(program::planned(program, refuses, "some backend"), "the environment is wrong");
}

TEST_CASE("what a pass has no form for is unsupported, another error of a pass is what it is", "[program]") {
    const NoHook at_the_end;
    program::set_after_pass([](const Application& done) {
        if (done.pass == PassId::decompose) throw Error("a bug");
    });
    Watcher decomposed(Stage::decomposed), functional(Stage::functional);
    CHECK_THROWS_WITH(program::compile(decomposed, example(), {}), "a bug");

    const Graph nested = parse(R"(graph nested {
  @body = graph body {
    %a = placeholder["a"] : f32[2]
    %b = aten.add_.Scalar(%a, 1) : f32[2]
    return (%b)
  }
  %p = placeholder["p"] : bool[]
  %x = placeholder["x"] : f32[2]
  %y = higher_order.cond(%p, @body, @body, [%x]) : f32[2]
  return (%y)
}
)");
    const CompileResult refused = program::compile(functional, nested, {});
    REQUIRE(std::holds_alternative<BackendFailure>(refused));
    CHECK(std::get<BackendFailure>(refused).unsupported);
    CHECK_THAT(std::get<BackendFailure>(refused).message, Catch::Contains("nested graph body"));
}

TEST_CASE("a write without a functional form is unsupported, for a reason that is told", "[program]") {
    CompiledProgram program(parse(R"(graph overlapping {
  %x = placeholder["x"] : f32[4]
  %e = aten.expand.default(%x, [4, 4]) : f32[4, 4] strides [0, 1]
  %w = aten.add_.Scalar(%e, 1) : f32[4, 4] strides [0, 1]
  return (%x)
}
)"));
    const auto planned = program::planned(program, no_schedule, "some backend");
    REQUIRE(std::holds_alternative<BackendFailure>(planned));
    const BackendFailure& failure = std::get<BackendFailure>(planned);
    CHECK(failure.unsupported);
    CHECK_THAT(failure.message, Catch::StartsWith("some backend does not implement aten.add_.Scalar: "));
}
