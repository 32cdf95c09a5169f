#include <algorithm>
#include <utility>

#include "backends/debug/crossref.h"
#include "backends/debug/modes.h"
#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "compile/compile.h"
#include "compile/interpreted.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "ops/core/not_implemented.h"
#include "passes/no_grad.h"

namespace whittle {
namespace {

using program::CompiledProgram;

/// What another backend compiled, with that backend.
class Owning final : public Executable {
  public:
    Owning(std::unique_ptr<Backend> backend, std::unique_ptr<Executable> inner)
        : backend_(std::move(backend)), inner_(std::move(inner)) {}
    RunResult run(std::span<const Tensor> inputs) override { return inner_->run(inputs); }
    RunResult run_boxed(Values&& inputs) override { return inner_->run_boxed(std::move(inputs)); }

  private:
    const std::unique_ptr<Backend> backend_;
    const std::unique_ptr<Executable> inner_;
};

/// Nothing of its own can be switched off; what is wrong in the graphs that it is given has a name all the same. Who
/// compiles a part is looked into by itself (Differentiates::compiler_of).
class AotInspection final : public Switchable::Inspection {
  public:
    AotInspection(const Backend& backend, const Graph& graph) : backend_(backend), graph_(graph) {}
    const Switchable::Parts& parts() const override { return none_; }
    std::optional<Culprit> wrong_before(std::span<const Tensor>) override {
        const std::optional<std::string> pass = program::wrong_pass(backend_, graph_);
        return pass ? std::optional(Culprit{"pass", {}, {}, *pass}) : std::nullopt;
    }

  private:
    const Backend& backend_;
    const Graph& graph_;
    const Switchable::Parts none_;
};

/// ops=custom|all.
bool of_all_ops(const BackendOptions& options) { return option_choice(options, "ops", {"custom", "all"}) == 1; }

/// How a part is run that no backend is named for; null: as eager runs it.
MakeInterpreter interpreting(const BackendOptions& options) {
    if (const auto mode = options.find("mode"); mode != options.end()) return under_modes("mode", {mode->second});
    if (!options.contains("ops")) return {};
    return [all = of_all_ops(options)] { return make_crossref_interpreter(all); };
}

/// Interprets functional graphs. Where something requires a gradient, whoever runs it (judge/outcome.h) gives it
/// forward and backward, cut as it says: by the options partition=default|min_cut and decompositions=none|core|backend.
/// fw=B and bw=B: forward and backward are compiled by these backends, which get the options that are theirs, and not
/// interpreted. mode=NAME: interpreted under a mode (modes.h). ops=custom|all: interpreted so that each call, of ops
/// from outside or of all, is also inferred anew, and its results held against that and against its schema
/// (crossref.h). It consumes captured graphs: what they write gets no tangents.
class AotEager : public InterpretingBackend, public Differentiates, public Switchable {
  public:
    /// With the options of the row, and no mode and ops but those.
    AotEager(const BuiltInBackend& row, FindBackend find)
        : InterpretingBackend(row), options_(options_in(row.options)), find_(std::move(find)) {
        options_.insert({{"fw", ""}, {"bw", ""}, {"memory-budget", ""}});
    }

    CompileResult compile_part(CompileStage part, const Graph& graph, const BackendOptions& options) override {
        std::unique_ptr<Backend> backend = named(part, options);
        if (!backend) {
            if (std::optional<BackendFailure> failure = refused_by_kernels(graph, name())) return std::move(*failure);
            return interpreted(graph, interpreting(chosen(options)));
        }
        CompileResult result = program::compile(*backend, without_requires_grad(graph), others(options));
        auto* executable = std::get_if<std::unique_ptr<Executable>>(&result);
        if (!executable) return result;
        return std::make_unique<Owning>(std::move(backend), std::move(*executable));
    }

    std::vector<std::string> option_names(const BackendOptions& given) override {
        std::vector<std::string> names;
        for (const auto& [name, value] : options_) names.push_back(name);
        for (const CompileStage part : kParts)
            if (const std::unique_ptr<Backend> backend = named(part, given))
                if (Optioned* optioned = offered<Optioned>(*backend))
                    for (std::string& name : optioned->option_names(others(given)))
                        if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
        return names;
    }
    void check(const BackendOptions& options) override {
        program::joint_options(chosen(options));
        interpreting(chosen(options));
        for (const CompileStage part : kParts)
            if (const std::unique_ptr<Backend> backend = named(part, options))
                if (Optioned* optioned = offered<Optioned>(*backend)) optioned->check(others(options));
    }

    BackendOptions cut(const BackendOptions& options) const override { return chosen(options); }
    bool interprets(const BackendOptions& options) const override {
        return std::ranges::all_of(kParts, [&](CompileStage part) { return !compiler_of(part, options); });
    }
    std::optional<Compiler> compiler_of(CompileStage part, const BackendOptions& options) const override {
        const std::string spec = chosen(options).at(key_of(part));
        return spec.empty() ? std::nullopt : std::optional(Compiler{spec, others(options)});
    }

    std::unique_ptr<Inspection> inspect(const Graph& graph, const BackendOptions&) override {
        return std::make_unique<AotInspection>(*this, graph);
    }
    BackendOptions without(BackendOptions options, const std::vector<std::string>& directives) const override {
        return switched(std::move(options), [&](const Switchable& part, BackendOptions given) {
            return part.without(std::move(given), directives);
        });
    }
    BackendOptions limited(BackendOptions options, const std::string& pass, int most) const override {
        return switched(std::move(options), [&](const Switchable& part, BackendOptions given) {
            return part.limited(std::move(given), pass, most);
        });
    }

    std::vector<std::string> not_taken(const Graph& joint, const BackendOptions& options) const override {
        std::vector<std::string> targets;
        for (const CompileStage part : kParts)
            if (const std::unique_ptr<Backend> backend = named(part, options))
                for (std::string& target : unsupported_by(*backend, joint))
                    if (std::ranges::count(targets, target) == 0) targets.push_back(std::move(target));
        return targets;
    }

  private:
    static constexpr CompileStage kParts[] = {CompileStage::forward, CompileStage::backward};
    static const char* key_of(CompileStage part) { return part == CompileStage::backward ? "bw" : "fw"; }

    /// Null where the part is interpreted.
    std::unique_ptr<Backend> named(CompileStage part, const BackendOptions& options) const {
        const std::optional<Compiler> compiler = compiler_of(part, options);
        return compiler ? find_(compiler->backend) : nullptr;
    }

    /// The options with what switches something off in the backends of the parts, which all get it.
    template <class SwitchOff>
    BackendOptions switched(BackendOptions options, const SwitchOff& switch_off) const {
        const BackendOptions given = others(options);
        for (const CompileStage part : kParts)
            if (const std::unique_ptr<Backend> backend = named(part, options))
                if (const Switchable* parts = offered<Switchable>(*backend))
                    for (auto& [key, value] : switch_off(*parts, given)) options[key] = std::move(value);
        return options;
    }

    /// A graph without gradients is all forward: nothing is cut.
    CompileResult compiled(const Graph& graph, const BackendOptions& options) override {
        CompiledProgram program = program::differentiable(*this, without_requires_grad(graph), options);
        const Graph* forward = nullptr;
        try {
            forward = &program.partition().forward;
        } catch (const NotImplemented& error) {  // a pass has no form for a call
            return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
        }
        return asked_of(program, compile_part(CompileStage::forward, *forward, options));
    }

    /// What the backend of the forward part said other than that it is compiled, of the captured graph.
    static CompileResult asked_of(CompiledProgram& program, CompileResult result) {
        auto* request = std::get_if<BreakRequest>(&result);
        if (!request) return result;
        const std::vector<NodeId>& captured = program.sources(CompileStage::forward, request->node);
        if (captured.size() != 1)
            return BackendFailure{.stage = "compile",
                                  .message = "requested a graph break (" + request->reason +
                                             ") at a node that is not a call of the captured graph",
                                  .unsupported = true};
        request->node = captured.front();
        return result;
    }

    /// Those that it has, with the values that are given.
    BackendOptions chosen(const BackendOptions& options) const {
        BackendOptions result = options_;
        for (auto& [key, value] : result)
            if (const auto given = options.find(key); given != options.end()) value = given->second;
        return result;
    }
    /// Those that it has not: they are for the backends that it names.
    BackendOptions others(const BackendOptions& options) const {
        BackendOptions result = options;
        std::erase_if(result, [this](const auto& option) { return options_.contains(option.first); });
        return result;
    }

    BackendOptions options_;

  protected:
    const FindBackend find_;
};

/// With a part of a repro: LibTorch, where it is there, says what the results really are.
class CrossRef final : public AotEager, public Emitter {
  public:
    using AotEager::AotEager;

    SuspectCode emit(const EmitRequest& request) override {
        const Failure& failure = *request.graph.failure;
        const auto interpreter = make_crossref_interpreter(of_all_ops(cut(failure.options)));
        return held_code(request, first_wrong(*interpreter, request.graph, failure.inputs), find_,
                         "Whittle's shape and dtype inference");
    }
};

}  // namespace

std::unique_ptr<Backend> make_aot_eager(const BuiltInBackend& row, const FindBackend& find) {
    return std::make_unique<AotEager>(row, find);
}

std::unique_ptr<Backend> make_aot_eager_crossref(const BuiltInBackend& row, const FindBackend& find) {
    return std::make_unique<CrossRef>(row, find);
}

}  // namespace whittle
