#include "backends/debug/explain.h"

#include <cstdio>

#include "base/words.h"
#include "compile/compile.h"
#include "graph/abilities.h"
#include "graph/value_ref.h"

namespace whittle {
namespace {

class Explain final : public Backend, public Wrapper, public Differentiates {
  public:
    explicit Explain(std::unique_ptr<Backend> inner)
        : inner_(std::move(inner)), differentiates_(offered<Differentiates>(*inner_)) {}

    std::string name() const override { return "explain(" + inner_->name() + ")"; }
    std::string description() const override {
        return inner_->description() + "; also prints the graphs that this backend gets";
    }
    CompileStage consumes() const override { return CompileStage::captured; }  // what is explained was captured
    Backend& inner() const override { return *inner_; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        say(graph);
        return program::compile(*inner_, graph, options);
    }

    // The parts of a graph are explained, too, whoever cuts it.
    BackendOptions cut(const BackendOptions& options) const override {
        return differentiates_ ? differentiates_->cut(options) : BackendOptions();
    }
    std::vector<std::string> not_taken(const Graph& joint, const BackendOptions& options) const override {
        return differentiates_ ? differentiates_->not_taken(joint, options) : std::vector<std::string>();
    }
    bool interprets(const BackendOptions& options) const override {
        return differentiates_ && differentiates_->interprets(options);
    }
    std::optional<Compiler> compiler_of(CompileStage part, const BackendOptions& options) const override {
        return differentiates_ ? differentiates_->compiler_of(part, options) : std::nullopt;
    }
    CompileResult compile_part(CompileStage part, const Graph& graph, const BackendOptions& options) override {
        say(graph);
        return program::compile_part(*inner_, part, graph, options);
    }

  private:
    /// At once, so that it is there when the inner backend takes the process down.
    static void say(const Graph& graph) {
        std::string ops;
        for (const Node& node : graph.nodes)
            if (is_op_call(node)) ops += "  " + node.target + "\n";
        const std::string text = "Graph " + graph.name + ": " + plural(op_count(graph), "op") + "\n" + ops;
        std::fputs(text.c_str(), stderr);
    }

    const std::unique_ptr<Backend> inner_;
    Differentiates* const differentiates_;
};

}  // namespace

std::unique_ptr<Backend> make_explain_backend(std::unique_ptr<Backend> inner) {
    return std::make_unique<Explain>(std::move(inner));
}

}  // namespace whittle
