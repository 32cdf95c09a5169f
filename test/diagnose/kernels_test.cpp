// A backend that lib/ has never heard of, which compiles the kernels of plans (program::KernelPrograms): the one of its
// kernels that fails by itself is found and reduced, and becomes a short program for its compiler.
#include <catch2/catch.hpp>

#include "backends/debug/explain.h"
#include "base/files.h"
#include "compile/compile.h"
#include "compile/kernel_programs.h"
#include "compile/planned.h"
#include "diagnose/diagnosis_report.h"
#include "expr/interpret.h"
#include "graph/abilities.h"
#include "graph/emitter.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "reduce/minimize.h"
#include "repro/repro.h"

using namespace whittle;

namespace {

std::string element_list(const Tensor& tensor) {
    std::string text;
    for (const double value : tensor.values<double>()) text += (text.empty() ? "" : ", ") + std::to_string(value);
    return text;
}

/// Computes kernels as expr::interpret() does, but where one takes an absolute value, all is one more.
class Kernels final : public Backend,
                      public program::PlanCompiler,
                      public program::KernelPrograms,
                      public Emitter,
                      public Tracked {
  public:
    std::string name() const override { return "kernels"; }
    std::string description() const override { return "a stranger's"; }
    CompileStage consumes() const override { return CompileStage::plan; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        program::CompiledProgram program(graph, options);
        return compile(program, options);
    }
    CompileResult compile(program::CompiledProgram& program, const BackendOptions&) override {
        auto planned_ = planned(program);
        if (auto* failure = std::get_if<BackendFailure>(&planned_)) return *failure;
        return std::make_unique<Run>(*std::get<const program::Plan*>(planned_));
    }

    std::variant<const program::Plan*, BackendFailure> planned(program::CompiledProgram& program) override {
        return program::planned(
            program, [](expr::Group&) { return expr::Schedule(); }, name());
    }
    std::vector<std::string> targets() const override { return {"fast", "plain"}; }
    CompileResult compile(const program::PlainKernel& kernel) override {
        struct One final : Executable {
            explicit One(std::vector<Tensor> results) : results(std::move(results)) {}
            RunResult run(std::span<const Tensor>) override { return results; }
            std::vector<Tensor> results;
        };
        return std::make_unique<One>(computed(kernel.group, kernel.inputs));
    }
    std::optional<ReproProgram> program(const program::KernelRequest& request) override {
        asked_target = request.kernel.target;
        kernel = expr::print(request.kernel.group);
        REQUIRE(request.got);
        const auto& got = request.given_expected ? request.expected : *request.got;
        return ReproProgram{.text = "#include <cstdio>\nint main() {\n    const float expected[] = {" +
                                    element_list(request.expected) + "}, got[] = {" + element_list(got) +
                                    "};\n    if (got[0] == expected[0]) return 0;\n"
                                    "    std::printf(\"expected %g, got %g\\n\", expected[0], got[0]);\n"
                                    "    return 1;\n}\n",
                            .summary = "abs gives one more",
                            .compiler = "the stranger's compiler, version 7"};
    }
    std::optional<Tracker> tracker() override { return Tracker{"The stranger", "https://stranger.example/bugs"}; }

    SuspectCode emit(const EmitRequest&) override { throw Error("it has no other program"); }

    std::string asked_target, kernel;

  private:
    static std::vector<Tensor> computed(const expr::Group& group, std::span<const Tensor> inputs) {
        std::vector<Tensor> results = expr::interpret(group, inputs);
        if (expr::print(group).find("abs(") == std::string::npos) return results;
        for (Tensor& result : results) {
            std::vector<float> more;
            for (const double value : result.values<double>()) more.push_back(static_cast<float>(value + 1));
            result = Tensor::of(more, result.sizes());
        }
        return results;
    }

    struct Run final : Executable {
        explicit Run(program::Plan plan) : plan(std::move(plan)) {}
        RunResult run(std::span<const Tensor> inputs) override {
            std::map<ValueRef, Tensor> values;
            std::size_t next = 0;
            for (const NodeId id : plan.graph.placeholders()) values[{id, 0}] = inputs[next++];
            for (const program::Kernel& kernel : plan.kernels) {
                std::vector<Tensor> read;
                for (const ValueRef& input : kernel.inputs) read.push_back(values.at(input));
                const std::vector<Tensor> results = computed(kernel.group, read);
                for (std::size_t i = 0; i < results.size(); ++i) values[kernel.outputs[i]] = results[i];
            }
            std::vector<Tensor> outputs;
            for (const ValueRef& output : plan.outputs) outputs.push_back(values.at(output));
            return outputs;
        }
        program::Plan plan;
    };
};

Graph minimized_for(Kernels& backend) {
    const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[4, 3]\n  %s = aten.sum.dim_IntList(%x, [1]) : f32[4]\n"
        "  %a = aten.abs.default(%s) : f32[4]\n  %b = aten.exp.default(%a) : f32[4]\n  return (%b)\n}\n");
    const std::vector<Tensor> inputs = {
        Tensor::of(std::vector<float>{1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12}, {4, 3})};
    const auto oracle = reduce::backend_oracle(backend, {.spec = "kernels", .tier = Tier::computes});
    reduce::Minimized result = reduce::minimize(graph, inputs, *oracle, {});
    REQUIRE(result.ending == reduce::Minimized::Ending::minimized);
    REQUIRE(result.smallest.graph.calls().size() == 1);
    return result.smallest.graph;
}

}  // namespace

TEST_CASE("a kernel of a stranger's that fails by itself is reduced, and is a program for its compiler", "[outside]") {
    Kernels backend;
    const Graph graph = minimized_for(backend);
    const TempDir folder("whittle-outside");
    const repro::Repro report = repro::write_repro(
        graph, {.output = folder.path() / "repro.cpp", .runs = 1, .data = "real", .command = "repro"}, &backend);
    INFO(report.message << report.not_short);
    CHECK(report.is_short());
    CHECK(report.verified);
    CHECK(report.tried.value_or(0) > 0);
    CHECK(backend.asked_target == "plain");
    CHECK_THAT(backend.kernel, Catch::Contains("abs("));
    CHECK_THAT(read_file(report.output), Catch::Contains("got[] = {"));
}

TEST_CASE("who mends a failing kernel is whose compiler it is, of a wrapped backend, too", "[outside]") {
    auto made = std::make_unique<Kernels>();
    Graph failing, wrapped;
    failing.failure = Failure{.backend = "kernels"}, wrapped.failure = Failure{.backend = "explain(kernels)"};
    const std::string theirs = "The stranger's issue tracker at https://stranger.example/bugs";
    CHECK(diagnose::where_to_report(failing, made.get()) == theirs);
    const std::unique_ptr<Backend> wrapper = make_explain_backend(std::move(made));
    CHECK(diagnose::where_to_report(wrapped, wrapper.get()) == theirs);
    CHECK(diagnose::where_to_report(failing, nullptr) == "the maintainers of kernels");
    Kernels kernels;
    failing.failure->culprit = Culprit{.component = "compiler"};
    CHECK(diagnose::where_to_report(failing, &kernels) ==
          theirs + "; if the program does not match the kernel, report the failure to Whittle's issue tracker instead");
    failing.failure->culprit = Culprit{.component = "lowering"};
    CHECK(diagnose::where_to_report(failing, &kernels) == "Whittle's issue tracker");
}
