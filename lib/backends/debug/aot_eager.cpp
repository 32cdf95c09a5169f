#include <algorithm>
#include <utility>

#include "backends/debug/crossref.h"
#include "backends/debug/debug.h"
#include "backends/debug/modes.h"
#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/value_ref.h"
#include "ops/core/draws.h"
#include "passes/no_grad.h"
#include "program/compile.h"
#include "tensor/compare.h"
#include "tensor/reach.h"

namespace whittle {
namespace {

using program::CompiledProgram;

Tensor ones(const ValueMeta& meta) {
    const std::vector<double> values(static_cast<std::size_t>(meta.numel()), 1);
    return Tensor::of(values, meta.sizes).to(meta.dtype);
}

BackendFailure in_backward(BackendFailure failure) {
    failure.message = "in backward: " + failure.message;
    return failure;
}

/// Runs the forward graph for its outputs, and checks the backward graph.
class ForwardAndBackward final : public Executable {
  public:
    /// The parts as they were compiled; the whole one is run as eager runs it.
    ForwardAndBackward(const Joint& whole, const Partition& parts, std::unique_ptr<Executable> forward,
                       std::unique_ptr<Executable> backward)
        : forward_(std::move(forward)),
          backward_(std::move(backward)),
          whole_(interpreted(whole.graph)),
          saved_(parts.saved),
          outputs_(whole.outputs),
          gradients_(whole.gradients),
          checked_(!whole.gradients.empty() && !draws_random_numbers(whole.graph)) {
        const std::vector<NodeId> placeholders = whole.graph.placeholders();
        for (std::size_t i = whole.inputs; i < placeholders.size(); ++i)
            tangents_.push_back(ones(whole.graph.node({placeholders[i]}).meta()));
        const std::vector<NodeId> passed = parts.backward.placeholders();
        for (std::size_t i = 0; i < saved_.size(); ++i)
            saved_strides_.push_back(parts.backward.node({passed[i]}).meta().strides);
    }

    RunResult run(std::span<const Tensor> inputs) override {
        RunResult forward = forward_->run(inputs);
        Values* outputs = std::get_if<Values>(&forward);
        if (!outputs) return forward;
        if (std::optional<BackendFailure> failure = check(inputs, *outputs)) return std::move(*failure);
        outputs->erase(outputs->begin() + static_cast<std::ptrdiff_t>(outputs_), outputs->end());
        return forward;
    }

  private:
    /// BackendFailure.mismatch where a gradient differs.
    std::optional<BackendFailure> check(std::span<const Tensor> inputs, const Values& outputs) {
        if (!checked_) return std::nullopt;
        Values passed;
        for (std::size_t i = 0; i < saved_.size(); ++i) {
            const std::size_t position = saved_[i].position;
            const Tensor& value = saved_[i].is_output ? outputs.at(position) : inputs[position];
            // A backend may lay it out otherwise than the backward graph was made for.
            passed.push_back(value.strides() == saved_strides_[i] ? value : laid_out(value, saved_strides_[i]));
        }
        passed.insert(passed.end(), tangents_.begin(), tangents_.end());
        Values all(inputs.begin(), inputs.end());
        all.insert(all.end(), tangents_.begin(), tangents_.end());

        const RunResult backward = backward_->run(passed), whole = whole_->run(all);
        if (const auto* failure = std::get_if<BackendFailure>(&backward)) return in_backward(*failure);
        if (const auto* failure = std::get_if<BackendFailure>(&whole)) return in_backward(*failure);
        const Values &got = std::get<Values>(backward), &expected = std::get<Values>(whole);
        for (std::size_t i = 0; i < got.size(); ++i)
            if (const auto difference = compare(got[i], expected.at(outputs_ + i), Accuracy{}))
                return BackendFailure{
                    .stage = "run",
                    .message = "the gradient of '" + gradients_[i] +
                               "' is another one of the cut graph than of the whole: " + difference->description,
                    .mismatch = std::string(name(difference->kind))};
        return std::nullopt;
    }

    std::unique_ptr<Executable> forward_, backward_, whole_;
    std::vector<Saved> saved_;
    std::vector<Strides> saved_strides_;
    std::size_t outputs_;
    std::vector<std::string> gradients_;
    Values tangents_;
    bool checked_;
};

/// What another backend compiled, with that backend.
class Owning final : public Executable {
  public:
    Owning(std::unique_ptr<Backend> backend, std::unique_ptr<Executable> inner)
        : backend_(std::move(backend)), inner_(std::move(inner)) {}
    RunResult run(std::span<const Tensor> inputs) override { return inner_->run(inputs); }

  private:
    const std::unique_ptr<Backend> backend_;
    const std::unique_ptr<Executable> inner_;
};

class AotEager final : public Backend, public Support, public Differentiates, public Optioned {
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
        options_.insert({{"fw", ""}, {"bw", ""}});
    }

    std::string name() const override { return name_; }
    std::string description() const override { return description_; }
    CompileStage consumes() const override { return CompileStage::captured; }  // what it writes gets no tangents

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        if (std::optional<BackendFailure> failure = refused_by_kernels(graph)) return std::move(*failure);
        CompiledProgram program = program::differentiable(*this, graph, options);
        try {
            CompileResult forward = compile_part(CompileStage::forward, program.partition().forward, options);
            auto* first = std::get_if<std::unique_ptr<Executable>>(&forward);
            if (!first) return asked_of(program, std::move(forward));
            CompileResult backward = compile_part(CompileStage::backward, program.partition().backward, options);
            auto* second = std::get_if<std::unique_ptr<Executable>>(&backward);
            if (!second) return told_of_backward(std::move(backward));
            return std::make_unique<ForwardAndBackward>(program.joint(), program.partition(), std::move(*first),
                                                        std::move(*second));
        } catch (const Error& error) {
            return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
        }
    }

    CompileResult compile_part(CompileStage part, const Graph& graph, const BackendOptions& options) override {
        std::unique_ptr<Backend> backend = named(key_of(part), options);
        if (!backend) return interpreted(graph, interpreting_(chosen(options)));
        CompileResult result = program::compile(*backend, without_requires_grad(graph), others(options));
        auto* executable = std::get_if<std::unique_ptr<Executable>>(&result);
        if (!executable) return result;
        return std::make_unique<Owning>(std::move(backend), std::move(*executable));
    }

    std::vector<std::string> unsupported(const Graph& graph) const override { return without_kernel(graph); }
    std::vector<std::string> option_names(const BackendOptions& given) override {
        std::vector<std::string> names;
        for (const auto& [name, value] : options_) names.push_back(name);
        for (const char* key : kParts)
            if (const std::unique_ptr<Backend> backend = named(key, given))
                if (Optioned* optioned = offered<Optioned>(*backend))
                    for (std::string& name : optioned->option_names(others(given)))
                        if (std::ranges::count(names, name) == 0) names.push_back(std::move(name));
        return names;
    }
    void check(const BackendOptions& options) override {
        program::joint_options(chosen(options));
        interpreting_(chosen(options));
        for (const char* key : kParts)
            if (const std::unique_ptr<Backend> backend = named(key, options))
                if (Optioned* optioned = offered<Optioned>(*backend)) optioned->check(others(options));
    }

    BackendOptions cut(const BackendOptions& options) const override { return chosen(options); }
    std::vector<std::string> not_taken(const Graph& joint, const BackendOptions& options) const override {
        std::vector<std::string> targets;
        for (const char* key : kParts)
            if (const std::unique_ptr<Backend> backend = named(key, options))
                for (std::string& target : unsupported_by(*backend, joint))
                    if (std::ranges::count(targets, target) == 0) targets.push_back(std::move(target));
        return targets;
    }

  private:
    static constexpr const char* kParts[] = {"fw", "bw"};
    static const char* key_of(CompileStage part) { return kParts[part == CompileStage::backward]; }

    /// Null where the part is interpreted.
    std::unique_ptr<Backend> named(const char* key, const BackendOptions& options) const {
        const std::string spec = chosen(options).at(key);
        return spec.empty() ? nullptr : find_(spec);
    }

    /// What the backend of the forward part said other than that it is compiled, of the captured graph.
    static CompileResult asked_of(CompiledProgram& program, CompileResult result) {
        auto* request = std::get_if<BreakRequest>(&result);
        if (!request) return result;
        const std::vector<NodeId>& captured = program.sources(CompileStage::forward, request->node);
        if (captured.size() != 1)
            return BackendFailure{
                .stage = "compile",
                .message = "it asks for a break (" + request->reason + ") at what is no call of the captured graph",
                .unsupported = true};
        request->node = captured.front();
        return result;
    }

    static CompileResult told_of_backward(CompileResult result) {
        if (auto* failure = std::get_if<BackendFailure>(&result)) return in_backward(std::move(*failure));
        return BackendFailure{
            .stage = "compile", .message = "in backward: it asks for a break, or to be skipped", .unsupported = true};
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

MakeInterpreter as_eager(const BackendOptions&) {
    return [] { return std::make_unique<NamingInterpreter>(); };
}

/// ops=custom|all.
MakeInterpreter crossref(const BackendOptions& options) {
    return [all = option_choice(options, "ops", {"custom", "all"}) == 1] { return make_crossref_interpreter(all); };
}

/// mode=NAME.
MakeInterpreter with_mode(const BackendOptions& options) { return under_modes("mode", {options.at("mode")}); }

std::unique_ptr<Backend> aot(std::string name, std::string description, const char* partition,
                             const char* decompositions, FindBackend find) {
    return std::make_unique<AotEager>(std::move(name), std::move(description),
                                      BackendOptions{{"partition", partition}, {"decompositions", decompositions}},
                                      as_eager, std::move(find));
}

}  // namespace

std::unique_ptr<Backend> make_aot_eager_backend(FindBackend find) {
    return aot("aot_eager",
               "eager on the graphs of AOT autograd, forward and backward, cut to save as few bytes as can be",
               "min_cut", "none", std::move(find));
}
std::unique_ptr<Backend> make_aot_eager_default_partitioner_backend(FindBackend find) {
    return aot("aot_eager_default_partitioner", "aot_eager, where backward is given all that it reads of forward",
               "default", "none", std::move(find));
}
std::unique_ptr<Backend> make_aot_eager_decomp_partition_backend(FindBackend find) {
    return aot("aot_eager_decomp_partition", "aot_eager, where composite ops are decomposed before the cut", "min_cut",
               "core", std::move(find));
}
std::unique_ptr<Backend> make_aot_eager_decomp_partition_with_mode_backend(FindBackend find) {
    return std::make_unique<AotEager>(
        "aot_eager_decomp_partition_with_mode",
        "aot_eager_decomp_partition, with a mode around each call of both parts",
        BackendOptions{{"partition", "min_cut"}, {"decompositions", "core"}, {"mode", "nan"}}, with_mode,
        std::move(find));
}
std::unique_ptr<Backend> make_aot_eager_decomp_partition_crossref_backend(FindBackend find) {
    return std::make_unique<AotEager>(
        "aot_eager_decomp_partition_crossref",
        "aot_eager_decomp_partition, where each result is held against what is inferred of its call",
        BackendOptions{{"partition", "min_cut"}, {"decompositions", "core"}, {"ops", "custom"}}, crossref,
        std::move(find));
}

}  // namespace whittle
