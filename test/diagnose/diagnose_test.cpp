// Bugs planted in the backend halide end with the culprit directive or op; what is innocent is not accused.
#include "diagnose/diagnose.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "backends/registry.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "planted/bugs.h"
#include "tensor/random.h"

using namespace whittle;
using namespace whittle::diagnose;

namespace {

Graph product() {
    Graph graph = parse(
        "graph product {\n  %x = placeholder[\"x\"] : f32[16, 16]\n  %y = placeholder[\"y\"] : f32[16, 16]\n"
        "  %p = aten.mm.default(%x, %y) : f32[16, 16]\n  %q = aten.relu.default(%p) : f32[16, 16]\n"
        "  return (%q)\n}\n");
    Random random(3);
    Failure failure;
    failure.backend = "halide";
    failure.signature = {"mismatch", "run", "value"};
    for (int i = 0; i < 2; i++) failure.inputs.push_back(random_tensor(DType::f32, {16, 16}, random));
    graph.failure = failure;
    return graph;
}

std::optional<Culprit> culprit(const Graph& graph) {
    return diagnose::diagnose(graph, *find_backend("halide"), {}).culprit;
}

/// The limits between which a pass begins to do harm.
std::vector<std::string> limits(const std::string& pass, int good) {
    const std::string limit = "pass-limit=" + pass + "=";
    return {limit + std::to_string(good), limit + std::to_string(good + 1)};
}

/// The first `good` applications of the pass do no harm, nor does the compilation without it.
void check_good(Graph graph, const std::string& pass, int good) {
    graph.failure->options = {{"pass-limit", pass + "=" + std::to_string(good)}};
    CHECK_FALSE(culprit(graph));
    graph.failure->options = {{"disable", pass}};
    CHECK_FALSE(culprit(graph));
}

}  // namespace

TEST_CASE("the directive that breaks a schedule is found, with those that it takes", "[culprit]") {
    const Planted bug("schedule");
    Graph graph = product();
    const auto found = culprit(graph);
    REQUIRE(found);
    CHECK(found->component == "schedule");
    CHECK_THAT(found->directive, Catch::Contains(".update(0).vectorize("));
    REQUIRE(found->together.size() >= 1);
    CHECK_THAT(found->together.back(), Catch::Contains("allow_race_conditions()"));

    // Switched off by the option that the search uses, it is gone.
    graph.failure->options["disable"] = found->directive;
    CHECK_FALSE(culprit(graph));
}

TEST_CASE("the op whose lowering is wrong is found, not its neighbour in the kernel", "[culprit]") {
    for (const std::string op : {"aten.relu.default", "aten.mm.default"}) {
        const Planted bug("lower=" + op);
        const auto found = culprit(product());
        REQUIRE(found);
        CHECK(found->component == "lowering");
        CHECK(found->op == op);
        CHECK(found->directive.empty());
    }
}

TEST_CASE("the application of a pass with which it begins to fail is bisected", "[culprit]") {
    Graph graph = parse(
        "graph chain {\n  %x = placeholder[\"x\"] : f32[16, 16]\n  %a = aten.relu.default(%x) : f32[16, 16]\n"
        "  %b = aten.neg.default(%a) : f32[16, 16]\n  %c = aten.abs.default(%b) : f32[16, 16]\n"
        "  %d = aten.neg.default(%c) : f32[16, 16]\n  return (%d)\n}\n");
    graph.failure = product().failure;
    graph.failure->inputs.resize(1);
    for (const std::string pass : {"inline", "fuse"}) {
        const Planted bug(pass);
        const auto found = culprit(graph);
        REQUIRE(found);
        CHECK(found->component == "pass");
        CHECK(found->op == pass);
        CHECK(found->together == limits(pass, 1));
        CHECK_THAT(found->text(), Catch::Contains("first bad: --backend-option pass-limit=" + pass + "=2"));
        check_good(graph, pass, 1);
    }
    graph.failure->options = {{"pass-limit", "inlin=1"}};
    CHECK_THROWS_WITH(culprit(graph), Catch::Contains("share, fuse, inline, cse, fold"));
}

namespace {

/// On 16 values.
Graph failing_in_halide(const std::string& text) {
    Graph graph = parse(text);
    graph.failure = product().failure;
    graph.failure->inputs = {Tensor::of(std::vector<float>(16, 3), {16})};
    if (graph.find("w")) graph.attributes["w"] = Tensor::of(std::vector<float>(16, 2), {16});
    return graph;
}

}  // namespace

TEST_CASE("a pass on graphs that is wrong does not agree with itself: the reference has no part in it", "[culprit]") {
    const Graph folded = failing_in_halide(
        "graph folded {\n  %x = placeholder[\"x\"] : f32[16]\n  %w = get_attr[\"w\"] : f32[16]\n"
        "  %n = aten.neg.default(%w) : f32[16]\n  %y = aten.add.Tensor(%x, %n) : f32[16]\n  return (%y)\n}\n");
    const Graph merged = failing_in_halide(
        "graph merged {\n  %x = placeholder[\"x\"] : f32[16]\n  %a = aten.mul.Scalar(%x, 2.0) : f32[16]\n"
        "  %b = aten.mul.Scalar(%x, 2.0) : f32[16]\n  %c = aten.mul.Scalar(%x, 5.0) : f32[16]\n"
        "  %y = aten.add.Tensor(%a, %b) : f32[16]\n  %z = aten.add.Tensor(%y, %c) : f32[16]\n  return (%z)\n}\n");
    const std::tuple<std::string, Graph, int> bugs[] = {{"fold", folded, 0}, {"cse", merged, 1}};
    for (const auto& [pass, graph, good] : bugs) {
        INFO(pass);
        CHECK_FALSE(culprit(graph));  // without the bug
        const Planted bug(pass);
        const auto found = culprit(graph);
        REQUIRE(found);
        CHECK(found->component == "pass");
        CHECK(found->op == pass);
        CHECK(found->together == limits(pass, good));
        check_good(graph, pass, good);
    }
}

TEST_CASE("a decomposition that is wrong is found, of an op that the reference takes apart too", "[culprit]") {
    for (const std::string call : {"aten.relu6.default(%x) : f32[16]", "aten.matmul.default(%x, %x) : f32[]"}) {
        const std::string op = call.substr(0, call.find('('));
        INFO(op);
        const Graph graph = failing_in_halide("graph composite {\n  %x = placeholder[\"x\"] : f32[16]\n  %y = " + call +
                                              "\n  return (%y)\n}\n");
        CHECK_FALSE(culprit(graph));
        const Planted bug("decompose=" + op);
        const auto found = culprit(graph);
        REQUIRE(found);
        CHECK(found->text() == "pass decompose");
    }
}

TEST_CASE("what does not fail has no culprit, nor has a backend that we cannot look into", "[culprit]") {
    CHECK_FALSE(culprit(product()));
    const Planted bug("schedule");
    Graph graph = product();
    graph.failure->backend = "eager";
    CHECK_FALSE(diagnose::diagnose(graph, *find_backend("eager"), {}).culprit);
}

namespace {

/// Wrong as soon as the pass `a` was applied twice and `b` once: neither alone does harm. With it there is `c`, without
/// which `a` is not applied.
class Pair final : public Backend, public Switchable {
  public:
    std::string name() const override { return "pair"; }
    std::string description() const override { return ""; }
    CompileResult compile(const Graph&, const BackendOptions& options) override {
        return std::make_unique<Run>(applied(options, "a") >= 2 && applied(options, "b") >= 1);
    }
    std::unique_ptr<Inspection> inspect(const Graph&, const BackendOptions& options) override {
        auto look = std::make_unique<Look>();
        for (const char* pass : {"a", "c", "b", "d"})
            look->found.passes.push_back({pass, applied(options, pass), {"first", "second", "third"}});
        return look;
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>&) const override { return options; }
    BackendOptions limited(BackendOptions options, const std::string& pass, int most) const override {
        options[pass] = std::to_string(most);
        return options;
    }

  private:
    struct Look final : Inspection {
        const Parts& parts() const override { return found; }
        Parts found;
    };
    struct Run final : Executable {
        explicit Run(bool wrong) : wrong(wrong) {}
        RunResult run(std::span<const Tensor> inputs) override {
            return std::vector<Tensor>{wrong ? Tensor::of(std::vector<float>(16, 7), {16}) : inputs[0]};
        }
        bool wrong;
    };
    static int applied(const BackendOptions& options, const std::string& pass) {
        constexpr int kAll = 5;
        if (pass == "a" && applied(options, "c") == 0) return 0;
        const auto most = options.find(pass);
        return most == options.end() ? kAll : std::min(kAll, std::stoi(most->second));
    }
};

}  // namespace

TEST_CASE("a pass that does harm only together with another is told with it, not with those that it builds on") {
    Graph graph = failing_in_halide(
        "graph g {\n  %x = placeholder[\"x\"] : f32[16]\n  %a = aten.relu.default(%x) : f32[16]\n  return (%a)\n}\n");
    graph.failure->backend = "pair";
    Pair backend;
    const auto found = diagnose::diagnose(graph, backend, {}).culprit;
    REQUIRE(found);
    CHECK(found->op == "a");
    CHECK(found->partner == "b");
    CHECK(found->application == "second");
    CHECK(found->together == std::vector<std::string>{"a=1", "a=2"});
    CHECK(without_culprit(*found, backend, {{"c", "4"}}) == BackendOptions{{"a", "0"}, {"c", "4"}});
    CHECK_FALSE(without_culprit(Culprit{"lowering", {}, {}, "aten.relu.default"}, backend, {}));
}

namespace {

/// A compiler without schedules: wrong from a level of 0 to 3 on, unless its optimizer "b" is off, on which "c"
/// depends, and "d" on that; next below that level it may be wrong in another way.
class Leveled final : public Backend, public Switchable {
  public:
    explicit Leveled(int wrong_from, bool odd_below = false) : wrong_from_(wrong_from), odd_below_(odd_below) {}
    std::string name() const override { return "leveled"; }
    std::string description() const override { return ""; }
    CompileResult compile(const Graph&, const BackendOptions& options) override {
        const int level = options.contains("level") ? std::stoi(options.at("level")) : kMost;
        const bool off = options.contains("off") && options.at("off").find("b;") != std::string::npos;
        const bool odd = odd_below_ && level == wrong_from_ - 1;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        return std::make_unique<Run>(odd                            ? std::optional(nan)
                                     : level >= wrong_from_ && !off ? std::optional(7.F)
                                                                    : std::nullopt);
    }
    std::unique_ptr<Inspection> inspect(const Graph&, const BackendOptions&) override {
        auto look = std::make_unique<Look>();
        look->found = {.directives = {{"a"}, {"b"}, {"c", {1}}, {"d", {2}}},
                       .passes = {{"level", kMost}},
                       .directive_is = "optimizer"};
        return look;
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const override {
        for (const std::string& directive : directives) options["off"] += directive + ";";
        return options;
    }
    BackendOptions limited(BackendOptions options, const std::string& pass, int most) const override {
        options[pass] = std::to_string(most);
        return options;
    }

  private:
    static constexpr int kMost = 3;
    struct Look final : Inspection {
        const Parts& parts() const override { return found; }
        Parts found;
    };
    struct Run final : Executable {
        explicit Run(std::optional<float> wrong) : wrong(wrong) {}
        RunResult run(std::span<const Tensor> inputs) override {
            return std::vector<Tensor>{wrong ? Tensor::of(std::vector<float>(16, *wrong), {16}) : inputs[0]};
        }
        const std::optional<float> wrong;
    };
    const int wrong_from_;
    const bool odd_below_;
};

}  // namespace

TEST_CASE("a level and a switch decide, searched alike by who minimizes and who writes a repro", "[culprit]") {
    Graph graph = failing_in_halide(
        "graph g {\n  %x = placeholder[\"x\"] : f32[16]\n  %a = aten.relu.default(%x) : f32[16]\n  return (%a)\n}\n");
    graph.failure->backend = "leveled";
    const auto blame = [&](int wrong_from, bool odd_below = false) {
        Leveled backend(wrong_from, odd_below);
        return blame_of(graph, backend, {});
    };
    for (const int wrong_from : {1, 2, 3}) {
        CAPTURE(wrong_from);
        const Blame found = blame(wrong_from);
        CHECK(found.level == "level");
        CHECK(found.passes_to == wrong_from - 1);
        CHECK(found.fails_at == wrong_from);
        CHECK(found.off == "b");
        CHECK(found.exact);
        Leveled backend(wrong_from);
        const auto culprit = diagnose::diagnose(graph, backend, {}).culprit;
        REQUIRE(culprit);
        CHECK(culprit->component == "switch");
        CHECK(culprit->directive == found.off);
        CHECK(culprit->dependents == std::vector<std::string>{"c", "d"});
    }
    // Where all levels are wrong no switch is asked; of a level next to one that is wrong in another way nothing is
    // said.
    const Blame everywhere = blame(0);
    CHECK(everywhere.level == "level");
    CHECK(everywhere.fails_at == 0);
    CHECK_FALSE(everywhere.controlled());
    CHECK(blame(2, true).level.empty());
    CHECK(blame(2, true).off == "b");
    // What minimizing found is not searched again; that it makes the graph right is asked.
    graph.failure->culprit = Culprit{"switch", "a", {}, "optimizer"};
    CHECK(blame(2).off.empty());
    graph.failure->culprit = Culprit{"switch", "b", {}, "optimizer"};
    CHECK(blame(2).off == "b");
    graph.failure->culprit = Culprit{"compiler", {}, {"level=0", "level=1"}, "level"};
    CHECK(blame(2).passes_to == 0);
    CHECK(blame(2).fails_at == 1);
    CHECK(blame(2).exact);
    CHECK(blame(2).off.empty());
    graph.failure->culprit->together = {"level=0", "level=2"};  // between the two nothing is known
    CHECK(blame(2).level.empty());
    graph.failure->culprit->together = {"level=low", "level=high"};
    CHECK(blame(2).passes_to == 1);
}
