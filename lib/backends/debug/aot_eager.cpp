#include <algorithm>
#include <utility>

#include "backends/debug/crossref.h"
#include "backends/debug/debug.h"
#include "backends/debug/modes.h"
#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "ops/core/not_implemented.h"
#include "passes/no_grad.h"
#include "program/compile.h"
#include "program/interpreted.h"

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

class AotEager : public Backend, public Support, public Differentiates, public Switchable, public Optioned {
  public:
    using Interpreting = MakeInterpreter (*)(const BackendOptions&);
    /// `options` unless others are given; a part that no backend is named for is run as `interpreting` says under the
    /// options.
    AotEager(std::string name, std::string description, BackendOptions options, Interpreting interpreting,
             FindBackend find)
        : name_(std::move(name)),
          description_(std::move(description)),
          options_(std::move(options)),
          interpreting_(interpreting),
          find_(std::move(find)) {
        options_.insert({{"fw", ""}, {"bw", ""}, {"memory-budget", ""}});
    }

    std::string name() const override { return name_; }
    std::string description() const override { return description_; }
    CompileStage consumes() const override { return CompileStage::captured; }  // what it writes gets no tangents

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        if (std::optional<BackendFailure> failure = refused_by_kernels(graph)) return std::move(*failure);
        return interpreted_at_any_size(graph, [this, options](const Graph& of) { return whole(of, options); });
    }

    CompileResult compile_part(CompileStage part, const Graph& graph, const BackendOptions& options) override {
        std::unique_ptr<Backend> backend = named(part, options);
        if (!backend) {
            if (std::optional<BackendFailure> failure = refused_by_kernels(graph)) return std::move(*failure);
            return interpreted(graph, interpreting_(chosen(options)));
        }
        CompileResult result = program::compile(*backend, without_requires_grad(graph), others(options));
        auto* executable = std::get_if<std::unique_ptr<Executable>>(&result);
        if (!executable) return result;
        return std::make_unique<Owning>(std::move(backend), std::move(*executable));
    }

    std::vector<std::string> unsupported(const Graph& graph) const override { return without_kernel(graph); }
    bool calls_kernels() const override { return true; }
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
        interpreting_(chosen(options));
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
    CompileResult whole(const Graph& graph, const BackendOptions& options) {
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
                                  .message = "asked for a break (" + request->reason +
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

    std::string name_, description_;
    BackendOptions options_;
    Interpreting interpreting_;
    FindBackend find_;
};

MakeInterpreter as_eager(const BackendOptions&) { return {}; }

/// ops=custom|all.
bool of_all_ops(const BackendOptions& options) { return option_choice(options, "ops", {"custom", "all"}) == 1; }

MakeInterpreter crossref(const BackendOptions& options) {
    return [all = of_all_ops(options)] { return make_crossref_interpreter(all); };
}

/// mode=NAME.
MakeInterpreter with_mode(const BackendOptions& options) { return under_modes("mode", {options.at("mode")}); }

/// With a part of a repro: LibTorch, where it is there, says what the results really are.
class CrossRef final : public AotEager, public Emitter {
  public:
    explicit CrossRef(FindBackend find)
        : AotEager("aot_eager_decomp_partition_crossref",
                   "aot_eager_decomp_partition; checks each result against the inferred dtype, sizes and strides",
                   BackendOptions{{"partition", "min_cut"}, {"decompositions", "core"}, {"ops", "custom"}}, crossref,
                   find),
          find_(std::move(find)) {}

    SuspectCode emit(const EmitRequest& request) override {
        const Failure& failure = *request.graph.failure;
        const auto interpreter = make_crossref_interpreter(of_all_ops(cut(failure.options)));
        return held_code(request, first_wrong(*interpreter, request.graph, failure.inputs), find_,
                         "Whittle's shape and dtype inference");
    }

  private:
    FindBackend find_;
};

std::unique_ptr<Backend> aot(std::string name, std::string description, const char* partition,
                             const char* decompositions, FindBackend find) {
    return std::make_unique<AotEager>(std::move(name), std::move(description),
                                      BackendOptions{{"partition", partition}, {"decompositions", decompositions}},
                                      as_eager, std::move(find));
}

}  // namespace

std::unique_ptr<Backend> make_aot_eager_backend(FindBackend find) {
    return aot("aot_eager",
               "eager on the forward and backward graphs of AOT autograd, partitioned to save the fewest bytes",
               "min_cut", "none", std::move(find));
}
std::unique_ptr<Backend> make_aot_eager_default_partitioner_backend(FindBackend find) {
    return aot("aot_eager_default_partitioner", "aot_eager; forward saves everything that backward reads", "default",
               "none", std::move(find));
}
std::unique_ptr<Backend> make_aot_eager_decomp_partition_backend(FindBackend find) {
    return aot("aot_eager_decomp_partition", "aot_eager; composite ops are decomposed before partitioning", "min_cut",
               "core", std::move(find));
}
std::unique_ptr<Backend> make_aot_eager_decomp_partition_with_mode_backend(FindBackend find) {
    return std::make_unique<AotEager>(
        "aot_eager_decomp_partition_with_mode",
        "aot_eager_decomp_partition with a mode around each call of both graphs",
        BackendOptions{{"partition", "min_cut"}, {"decompositions", "core"}, {"mode", "nan"}}, with_mode,
        std::move(find));
}
std::unique_ptr<Backend> make_aot_eager_decomp_partition_crossref_backend(FindBackend find) {
    return std::make_unique<CrossRef>(std::move(find));
}
std::unique_ptr<Backend> make_aot_ts_backend(FindBackend find) {
    return std::make_unique<AotEager>(
        "aot_ts", "ts on the forward and backward graphs of AOT autograd",
        BackendOptions{{"partition", "default"}, {"decompositions", "none"}, {"fw", "ts"}, {"bw", "ts"}}, as_eager,
        std::move(find));
}

}  // namespace whittle
