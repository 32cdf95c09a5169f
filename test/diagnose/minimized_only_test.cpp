// What is to blame is held against the model that was given, not only against the few ops that are left of it.
#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "base/files.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "reduce/minimize_frame.h"

using namespace whittle;

namespace {

/// A compiler whose optimizer of relu, and where `neg_too` that of neg, makes results too large by 1.
class TwoWrong final : public Backend, public Switchable {
  public:
    explicit TwoWrong(bool neg_too) : neg_too_(neg_too) {}
    std::string name() const override { return "two_wrong"; }
    std::string description() const override { return "for tests"; }
    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        std::vector<std::string> wrong;
        for (const char* op : {"relu", "neg"})
            if (!options.contains(op) && (neg_too_ || op == std::string("relu"))) wrong.push_back(op);
        return std::make_unique<Run>(graph, std::move(wrong));
    }
    std::unique_ptr<Inspection> inspect(const Graph&, const BackendOptions&) override {
        return std::make_unique<Look>();
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const override {
        for (const std::string& directive : directives) options[directive] = "off";
        return options;
    }
    BackendOptions limited(BackendOptions options, const std::string&, int) const override { return options; }

  private:
    struct Look final : Inspection {
        const Parts& parts() const override { return found; }
        Parts found = {.directives = {{"relu"}, {"neg"}}, .directive_is = "optimizer"};
    };
    struct Run final : Executable, Interpreter {
        Run(const Graph& graph, std::vector<std::string> wrong) : graph(graph), wrong(std::move(wrong)) {}
        RunResult run(std::span<const Tensor> inputs) override { return Interpreter::run(graph, inputs); }
        std::vector<Tensor> step(const Graph& of, const Node& call, const RegisteredOp& op,
                                 const Arguments<Tensor>& arguments) override {
            std::vector<Tensor> results = Interpreter::step(of, call, op, arguments);
            for (const std::string& name : wrong)
                if (call.target == "aten." + name + ".default") {
                    std::vector<float> values = results[0].values<float>();
                    for (float& x : values) x += 1;
                    results[0] = Tensor::of(values, results[0].sizes());
                }
            return results;
        }
        const Graph graph;
        const std::vector<std::string> wrong;
    };
    bool neg_too_;
};

Culprit blamed(bool neg_too) {
    add_backend("two_wrong", [=] { return std::make_unique<TwoWrong>(neg_too); });
    const TempDir folder;
    LoadedFrame frame{.name = "model", .file = "model.json"};
    frame.graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %a = aten.relu.default(%x) : f32[2]\n"
        "  %b = aten.neg.default(%x) : f32[2]\n  return (%a, %b)\n}\n");
    frame.inputs = {Tensor::of<float>({-1, 2})};
    reduce::Request search;
    search.output = folder.path() / "m.json";
    search.judge = Suspect{.spec = "two_wrong", .tier = Tier::computes};
    const reduce::Minimized found = reduce::minimize(frame, search, {});
    REQUIRE(found.failed());
    REQUIRE(found.smallest.graph.failure->culprit);
    return *found.smallest.graph.failure->culprit;
}

}  // namespace

TEST_CASE("a part of the compiler that the model does not need to fail is told as such", "[culprit]") {
    const Culprit alone = blamed(false);
    CHECK(alone.directive == "relu");
    CHECK_FALSE(alone.minimized_only);
    const Culprit both = blamed(true);
    CHECK(both.minimized_only);
}
