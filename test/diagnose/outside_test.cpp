// A backend that lib/ has never heard of, with parts to switch off and a repro of its own: it gets everything that the
// built-in ones get.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "backends/debug/explain.h"
#include "base/files.h"
#include "diagnose/diagnose.h"
#include "graph/abilities.h"
#include "graph/emitter.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "reduce/minimize.h"
#include "report/report.h"
#include "repro/repro.h"

using namespace whittle;

namespace {

constexpr const char* kFuse = "fuse(abs)";
constexpr const char* kUnroll = "unroll(abs)";

/// Whether `list` (words between ';') has the word.
bool has(const BackendOptions& options, const std::string& key, const std::string& word) {
    const auto found = options.find(key);
    return found != options.end() && (";" + found->second + ";").find(";" + word + ";") != std::string::npos;
}

/// Computes as the reference does, but for two bugs: with fuse(abs), which builds on unroll(abs), abs gives one more;
/// and the second application of the pass `peephole`, one for each neg, makes neg give one more.
class Outside final : public Backend, public Switchable, public Emitter, public WarmUp, public Support {
  public:
    std::string name() const override { return "outside"; }
    std::string description() const override { return "a stranger's"; }
    /// It takes what it has in mind for each op: nothing but these.
    std::vector<std::string> unsupported(const Graph& graph) const override {
        std::vector<std::string> targets;
        for (const NodeId id : graph.calls())
            if (graph.node({id}).target == "aten.tan.default") targets = {"aten.tan.default"};
        return targets;
    }
    void warm_up() override { ++warmed; }
    int warmed = 0;
    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        if (!warmed) return BackendFailure{.stage = "compile", .message = "started cold"};
        return std::make_unique<Run>(graph, wrong_nodes(graph, options));
    }

    struct Look final : Inspection {
        const Parts& parts() const override { return found; }
        Parts found;
    };
    std::unique_ptr<Inspection> inspect(const Graph& graph, const BackendOptions& options) override {
        auto look = std::make_unique<Look>();
        for (const Directive& directive : std::vector<Directive>{{"prefetch()"}, {kUnroll}, {kFuse, {1}}})
            if (!has(options, "off", directive.text)) look->found.directives.push_back(directive);
        look->found.passes = {{"dead", 1}, {"peephole", static_cast<int>(negs(graph).size())}};
        return look;
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const override {
        for (const std::string& text : directives) options["off"] += ";" + text;
        return options;
    }
    BackendOptions limited(BackendOptions options, const std::string& pass, int most) const override {
        options["most-" + pass] = std::to_string(most);
        return options;
    }

    SuspectCode emit(const EmitRequest& request) override {
        const Graph& graph = request.graph;
        const bool switched = graph.failure->culprit && graph.failure->culprit->directive == kFuse;
        std::string code = "static void under_test(Outputs& out) {\n";
        for (const Node& node : graph.nodes) {
            if (node.kind != NodeKind::call) continue;
            const Node& operand = graph.node(*node.args.at(0).node());
            const bool wrong = wrong_nodes(graph, graph.failure->options).contains(node.name);
            code += "    float v_" + node.name + "[" + std::to_string(node.meta().numel()) +
                    "];\n    for (int i = 0; i < " + std::to_string(node.meta().numel()) + "; i++) v_" + node.name +
                    "[i] = " + (node.target == "aten.abs.default" ? "std::fabs(" : "-(") +
                    (operand.kind == NodeKind::call ? "v_" : "in_") + operand.name + "[i])" +
                    (!wrong     ? ""
                     : switched ? " + (culprit_on ? 1 : 0)"
                                : " + 1") +
                    ";\n";
        }
        const std::vector<NodeId> outputs = graph.outputs();
        for (std::size_t i = 0; i < outputs.size(); i++)
            code += "    std::memcpy(out." + request.outputs[i] + ", v_" + graph.node({outputs[i]}).name +
                    ", sizeof out." + request.outputs[i] + ");\n";
        return {.code = code + "}\n",
                .name = "outside",
                .header = "the stranger's compiler, version 7",
                .reads_culprit = true};
    }

  private:
    static std::vector<std::string> negs(const Graph& graph) {
        std::vector<std::string> names;
        for (const Node& node : graph.nodes)
            if (node.target == "aten.neg.default") names.push_back(node.name);
        return names;
    }

    static std::set<std::string> wrong_nodes(const Graph& graph, const BackendOptions& options) {
        std::set<std::string> wrong;
        if (!has(options, "off", kFuse) && !has(options, "off", kUnroll))
            for (const Node& node : graph.nodes)
                if (node.target == "aten.abs.default") wrong.insert(node.name);
        const auto most = options.find("most-peephole");
        const std::vector<std::string> passes = negs(graph);
        if (passes.size() >= 2 && (most == options.end() || std::stoi(most->second) >= 2)) wrong.insert(passes[1]);
        return wrong;
    }

    struct Wrong final : Interpreter {
        explicit Wrong(const std::set<std::string>& nodes) : nodes(nodes) {}
        std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                                 const Arguments<Tensor>& arguments) override {
            std::vector<Tensor> results = Interpreter::step(graph, call, op, arguments);
            if (!nodes.contains(call.name)) return results;
            std::vector<float> more;
            for (const double value : results[0].values<double>()) more.push_back(static_cast<float>(value + 1));
            return {Tensor::of(more, results[0].sizes())};
        }
        const std::set<std::string>& nodes;
    };
    struct Run final : Executable {
        Run(Graph graph, std::set<std::string> nodes) : graph(std::move(graph)), nodes(std::move(nodes)) {}
        RunResult run(std::span<const Tensor> inputs) override { return Wrong(nodes).run(graph, inputs); }
        Graph graph;
        std::set<std::string> nodes;
    };
};

Graph minimized(const std::string& text, Outside& backend) {
    const Graph graph = parse(text);
    const std::vector<Tensor> inputs = {Tensor::of(std::vector<float>{1, -2, 3, -4}, {4})};
    const auto oracle = reduce::backend_oracle(backend, {.spec = "outside", .tier = Tier::computes});
    const reduce::Minimized result = reduce::minimize(graph, inputs, *oracle);
    REQUIRE(result.ending == reduce::Minimized::Ending::minimized);
    return result.smallest.graph;
}

repro::Repro written(const Graph& graph, Outside& backend, const TempDir& folder) {
    return repro::write_repro(
        graph, {.output = folder.path() / "repro.cpp", .runs = 1, .data = "real", .command = "repro"}, &backend);
}

}  // namespace

TEST_CASE("a stranger's directive is found guilty, and its repro switches it", "[outside]") {
    Outside backend;
    Graph graph = minimized(
        "graph chain {\n  %x = placeholder[\"x\"] : f32[4]\n  %a = aten.sqrt.default(%x) : f32[4]\n"
        "  %b = aten.abs.default(%a) : f32[4]\n  %c = aten.exp.default(%b) : f32[4]\n  return (%c)\n}\n",
        backend);
    REQUIRE(graph.calls().size() == 1);
    graph.failure->culprit = diagnose::diagnose(graph, backend, {}).culprit;
    REQUIRE(graph.failure->culprit);
    CHECK(graph.failure->culprit->component == "schedule");
    CHECK(graph.failure->culprit->directive == kFuse);
    CHECK(graph.failure->culprit->together == std::vector<std::string>{kUnroll});

    const TempDir folder("whittle-outside");
    const repro::Repro report = written(graph, backend, folder);
    INFO(report.message);
    CHECK(report.verified);
    CHECK(report.program.control_argument == "fuse(abs) switched off");
    CHECK_THAT(report.message, Catch::Contains("0 in loops: BUG in"));
    CHECK_THAT(read_file(report.output), Catch::Contains("the stranger's compiler, version 7"));
}

TEST_CASE("the application of a stranger's pass is bisected", "[outside]") {
    Outside backend;
    Graph graph = minimized(
        "graph chain {\n  %x = placeholder[\"x\"] : f32[4]\n  %a = aten.neg.default(%x) : f32[4]\n"
        "  %b = aten.neg.default(%a) : f32[4]\n  return (%b)\n}\n",
        backend);
    REQUIRE(graph.calls().size() == 2);
    graph.failure->culprit = diagnose::diagnose(graph, backend, {}).culprit;
    REQUIRE(graph.failure->culprit);
    CHECK(graph.failure->culprit->op == "peephole");
    CHECK(graph.failure->culprit->together == std::vector<std::string>{"most-peephole=1", "most-peephole=2"});
    const TempDir folder("whittle-outside");
    CHECK(written(graph, backend, folder).verified);
}

TEST_CASE("a stranger's backend is warmed up once for all queries, and asked what it supports", "[outside]") {
    Outside backend;
    const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[1]\n  %a = aten.tan.default(%x) : f32[1]\n"
        "  %b = aten.exp.default(%a) : f32[1]\n  return (%b)\n}\n");
    const std::vector<Tensor> inputs = {Tensor::of(std::vector<float>{1}, {1})};
    CHECK(run_isolated(graph, inputs, backend, {}, {}).kind == Outcome::Kind::ok);
    CHECK(backend.warmed == 1);  // here, not in the query's child
    CHECK(unsupported_isolated(graph, backend) == std::vector<std::string>{"aten.tan.default"});
    const report::Report report = report::explain("g", {{.graph = graph}}, &backend);
    REQUIRE(report.unsupported == std::vector<std::string>{"aten.tan.default"});
    CHECK(report.graph_break_count == 1);
}

TEST_CASE("a stranger's backend that explain() wraps offers what it offers by itself", "[outside]") {
    auto made = std::make_unique<Outside>();
    Outside& outside = *made;
    const std::unique_ptr<Backend> wrapper = make_explain_backend(std::move(made));
    CHECK(offered<Switchable>(*wrapper) == &outside);
    CHECK(offered<Emitter>(*wrapper) == &outside);
    CHECK(offered<WarmUp>(*wrapper) == &outside);
    CHECK(offered<Support>(*wrapper) == &outside);
    CHECK_FALSE(offered<Optioned>(*wrapper));
    // An answer of the process apart would not be explained.
    CHECK_FALSE(offered<Apart>(*wrapper));
}

TEST_CASE("a backend that offers nothing has no culprit, and its repro says why there is none", "[outside]") {
    class Silent final : public Backend {
        std::string name() const override { return "silent"; }
        std::string description() const override { return ""; }
        CompileResult compile(const Graph&, const BackendOptions&) override {
            return BackendFailure{.stage = "compile", .message = "no"};
        }
    } silent;
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[1]\n  %a = aten.abs.default(%x) : f32[1]\n  return (%a)\n}\n");
    graph.failure = Failure{.backend = "silent", .signature = {"exception", "compile", "no"}};
    graph.failure->inputs = {Tensor::of(std::vector<float>{1}, {1})};
    CHECK_FALSE(diagnose::diagnose(graph, silent, {}).culprit);
    CHECK(unsupported_isolated(graph, silent).empty());
    CHECK_THROWS_WITH(repro::write_repro(graph, {}, &silent), Catch::Contains("backend silent cannot emit"));
}
