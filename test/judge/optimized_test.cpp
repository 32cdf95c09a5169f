// judge_optimized(): parts of what a compiler made of a graph, each against the nodes that it replaced.
#include "judge/optimized.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>

#include "graph/onnx_file.h"
#include "graph/text.h"

using namespace whittle;

namespace {

const Graph kOptimizedChain = parse(R"(graph chain {
  %x = placeholder["x"] : f32[3]
  %a = aten.relu.default(%x) : f32[3]
  %b = aten.neg.default(%a) : f32[3]
  %y = aten.exp.default(%b) : f32[3]
  return (%y)
}
)");

using Function = std::function<float(float)>;

/// What it makes of the chain: three nodes that compute these functions. The file of some of them is called "1-2".
class Optimizer final : public Backend, public TakesOnnxFile, public WritesOptimized {
  public:
    explicit Optimizer(std::vector<Function> nodes) : nodes_(std::move(nodes)) {}
    std::string name() const override { return "optimizer"; }
    std::string description() const override { return "a compiler that rewrites files"; }
    CompileResult compile(const Graph&, const BackendOptions&) override { return std::make_unique<Run>(nodes_); }
    bool takes_file(const BackendOptions&) override { return true; }
    CompileResult compile_file(const OnnxFile& file, const BackendOptions& options) override {
        if (!options.contains("as-is")) return BackendFailure{"compile", {}, "a part is to run as it is"};
        std::vector<Function> nodes;
        for (const char digit : file.model.string())
            if (digit != '-') nodes.push_back(nodes_.at(static_cast<std::size_t>(digit - '0')));
        return std::make_unique<Run>(std::move(nodes));
    }
    bool writes_optimized(const BackendOptions&) override { return true; }
    std::variant<std::unique_ptr<OptimizedModel>, BackendFailure> optimized(const Graph&, const BackendOptions&,
                                                                            const std::filesystem::path&) override {
        return std::make_unique<Model>();
    }
    BackendOptions as_they_are(BackendOptions options) override {
        options["as-is"] = "yes";
        return options;
    }

  private:
    struct Run final : Executable {
        explicit Run(std::vector<Function> nodes) : nodes(std::move(nodes)) {}
        RunResult run(std::span<const Tensor> inputs) override {
            std::vector<float> values(inputs[0].data<float>(), inputs[0].data<float>() + inputs[0].numel());
            for (const Function& node : nodes) std::ranges::transform(values, values.begin(), node);
            return Values{Tensor::of(values, inputs[0].sizes())};
        }
        const std::vector<Function> nodes;
    };
    /// Node i reads the value of node i and makes that of node i + 1 of the chain.
    struct Model final : OptimizedModel {
        std::vector<std::vector<int>> groups(const Values& but) const override {
            std::vector<std::vector<int>> groups;
            for (int node = 0; node < 3; ++node) {
                if (groups.empty() || !but.contains({node, 0})) groups.emplace_back();
                groups.back().push_back(node);
            }
            return groups;
        }
        OptimizedPart part(const std::vector<int>& group, const Values&) override {
            OptimizedPart part;
            std::string file;
            for (const int node : group) file += (file.empty() ? "" : "-") + std::to_string(node);
            part.ops = {"Node" + file};
            part.file.model = file;
            part.inputs = {{group.front(), 0}};
            part.outputs = {{group.back() + 1, 0}};
            return part;
        }
    };

    const std::vector<Function> nodes_;
};

KernelJudgements judged_parts(std::vector<Function> nodes) {
    Optimizer backend(std::move(nodes));
    const std::vector<Tensor> inputs = {Tensor::of(std::vector<float>{-1, 0.5f, 2}, {3})};
    const FailingCase asked{.graph = kOptimizedChain, .inputs = inputs, .suspect = {.tier = Tier::computes}};
    const Judgement whole = judge(asked, backend);
    CHECK(runs_kernels(backend, {}, KernelArithmetic::floats));
    CHECK_FALSE(runs_kernels(backend, {}, KernelArithmetic::ring));
    return judge_kernels(asked, whole, {}, backend);
}

const Function kAtLeastZero = [](float x) { return std::max(x, 0.0f); };
const Function kMinus = [](float x) { return -x; };
const Function kExponential = [](float x) { return std::exp(x); };

}  // namespace

TEST_CASE("each part of an optimized model is judged alone", "[kernels]") {
    const KernelJudgements found = judged_parts({kAtLeastZero, kMinus, kExponential});
    CHECK(found.optimized);
    CHECK(found.none == "");
    REQUIRE(found.kernels.size() == 3);
    for (const KernelJudgement& part : found.kernels) CHECK(part.verdict == Verdict::right);
    CHECK(found.kernels[1].kernel == "Node1");
    CHECK(found.kernels[1].nodes == std::vector<std::string>{"b"});
}

TEST_CASE("the part that is wrong is named, and those behind it are right", "[kernels]") {
    const KernelJudgements found = judged_parts({kAtLeastZero, [](float x) { return -x + 1; }, kExponential});
    REQUIRE(found.kernels.size() == 3);
    REQUIRE(found.first_wrong());
    CHECK(found.first_wrong()->nodes == std::vector<std::string>{"b"});
    CHECK(found.kernels[0].verdict == Verdict::right);
    CHECK(found.kernels[2].verdict == Verdict::right);
}

TEST_CASE("a value that is another one under its old name is no failure where what reads it makes up for that",
          "[kernels]") {
    const KernelJudgements found =
        judged_parts({[](float x) { return 2 * kAtLeastZero(x); }, [](float x) { return -x / 2; }, kExponential});
    REQUIRE(found.kernels.size() == 2);
    CHECK(found.kernels[0].verdict == Verdict::right);
    CHECK(found.kernels[0].nodes == std::vector<std::string>{"a", "b"});
    CHECK_FALSE(found.first_wrong());
}
