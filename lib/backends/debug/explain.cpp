#include <cstdio>

#include "backends/debug/debug.h"
#include "base/words.h"
#include "graph/abilities.h"
#include "graph/emitter.h"
#include "graph/value_ref.h"
#include "program/compile.h"

namespace whittle {
namespace {

class Explain : public Backend, public Support, public Differentiates, public Optioned {
  public:
    explicit Explain(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

    std::string name() const override { return "explain(" + inner_->name() + ")"; }
    std::string description() const override { return inner_->description() + "; says what it is given"; }
    CompileStage consumes() const override { return CompileStage::captured; }  // what is explained was captured

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        say(graph);
        return program::compile(*inner_, graph, options);
    }

    std::vector<std::string> unsupported(const Graph& graph) const override { return unsupported_by(*inner_, graph); }
    bool calls_kernels() const override {
        const Support* support = offered<Support>(*inner_);
        return support && support->calls_kernels();
    }

    std::vector<std::string> option_names(const BackendOptions& given) override {
        Optioned* optioned = offered<Optioned>(*inner_);
        if (optioned) return optioned->option_names(given);
        std::vector<std::string> names;  // whoever does not say takes any
        for (const auto& [key, value] : given) names.push_back(key);
        return names;
    }
    void check(const BackendOptions& options) override {
        if (Optioned* optioned = offered<Optioned>(*inner_)) optioned->check(options);
    }

    BackendOptions cut(const BackendOptions& options) const override {
        const Differentiates* own = offered<Differentiates>(*inner_);
        return own ? own->cut(options) : BackendOptions();
    }
    std::vector<std::string> not_taken(const Graph& joint, const BackendOptions& options) const override {
        const Differentiates* own = offered<Differentiates>(*inner_);
        return own ? own->not_taken(joint, options) : std::vector<std::string>();
    }
    bool interprets(const BackendOptions& options) const override {
        const Differentiates* own = offered<Differentiates>(*inner_);
        return own && own->interprets(options);
    }
    std::optional<Compiler> compiler_of(CompileStage part, const BackendOptions& options) const override {
        const Differentiates* own = offered<Differentiates>(*inner_);
        return own ? own->compiler_of(part, options) : std::nullopt;
    }
    CompileResult compile_part(CompileStage part, const Graph& graph, const BackendOptions& options) override {
        say(graph);
        return program::compile_part(*inner_, part, graph, options);
    }

  protected:
    Backend& inner() const { return *inner_; }

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
};

/// Of a backend that answers for its switches and writes its part of a repro: what fails with it is traced to a pass or
/// a directive, and shown, as without it.
class ExplainParts final : public Explain, public Switchable, public Emitter {
  public:
    explicit ExplainParts(std::unique_ptr<Backend> inner)
        : Explain(std::move(inner)),
          parts_(*offered<Switchable>(Explain::inner())),
          emitter_(*offered<Emitter>(Explain::inner())) {}

    std::unique_ptr<Inspection> inspect(const Graph& graph, const BackendOptions& options) override {
        return parts_.inspect(graph, options);
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const override {
        return parts_.without(std::move(options), directives);
    }
    BackendOptions limited(BackendOptions options, const std::string& pass, int most) const override {
        return parts_.limited(std::move(options), pass, most);
    }

    SuspectCode emit(const EmitRequest& request) override { return emitter_.emit(request); }
    std::optional<ShortProgram> short_program(const ShortRequest& request, std::string& why_not) override {
        return emitter_.short_program(request, why_not);
    }
    bool is_pytorch() const override { return emitter_.is_pytorch(); }

  private:
    Switchable& parts_;
    Emitter& emitter_;
};

}  // namespace

std::unique_ptr<Backend> make_explain_backend(std::unique_ptr<Backend> inner) {
    if (offered<Switchable>(*inner) && offered<Emitter>(*inner))
        return std::make_unique<ExplainParts>(std::move(inner));
    return std::make_unique<Explain>(std::move(inner));
}

}  // namespace whittle
