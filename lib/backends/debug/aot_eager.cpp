#include <algorithm>
#include <utility>

#include "backends/debug/crossref.h"
#include "backends/debug/debug.h"
#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "graph/backend_options.h"
#include "graph/value_ref.h"
#include "ops/core/draws.h"
#include "program/program.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

using program::CompiledProgram;

Tensor ones(const ValueMeta& meta) {
    const std::vector<double> values(static_cast<std::size_t>(meta.numel()), 1);
    return Tensor::of(values, meta.sizes).to(meta.dtype);
}

/// Runs the forward graph for its outputs, and checks the backward graph.
class ForwardAndBackward final : public Executable {
  public:
    /// Both parts are run by interpreters that `make` makes, the whole one as eager runs it.
    ForwardAndBackward(const Joint& whole, const Partition& parts, const MakeInterpreter& make)
        : forward_(interpreted(parts.forward, make)),
          backward_(interpreted(parts.backward, make)),
          whole_(interpreted(whole.graph)),
          saved_(parts.saved),
          outputs_(whole.outputs),
          gradients_(whole.gradients),
          checked_(!whole.gradients.empty() && !draws_random_numbers(whole.graph)) {
        const std::vector<NodeId> placeholders = whole.graph.placeholders();
        for (std::size_t i = whole.inputs; i < placeholders.size(); ++i)
            tangents_.push_back(ones(whole.graph.node({placeholders[i]}).meta()));
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
        for (const Saved& saved : saved_)
            passed.push_back(saved.is_output ? outputs.at(saved.position) : inputs[saved.position]);
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

    static BackendFailure in_backward(BackendFailure failure) {
        failure.message = "in backward: " + failure.message;
        return failure;
    }

    std::unique_ptr<Executable> forward_, backward_, whole_;
    std::vector<Saved> saved_;
    std::size_t outputs_;
    std::vector<std::string> gradients_;
    Values tangents_;
    bool checked_;
};

class AotEager final : public Backend, public Support, public Differentiates, public Optioned {
  public:
    using Interpreting = MakeInterpreter (*)(const BackendOptions&);
    /// `options` unless others are given; both parts are run as `interpreting`
    /// says under the options.
    AotEager(std::string name, std::string description, BackendOptions options, Interpreting interpreting)
        : name_(std::move(name)),
          description_(std::move(description)),
          options_(std::move(options)),
          interpreting_(interpreting) {}

    std::string name() const override { return name_; }
    std::string description() const override { return description_; }
    CompileStage consumes() const override { return CompileStage::captured; }  // what it writes gets no tangents

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        if (std::optional<BackendFailure> failure = refused_by_kernels(graph)) return std::move(*failure);
        CompiledProgram program(graph, cut(options));
        try {
            return std::make_unique<ForwardAndBackward>(program.joint(), program.partition(),
                                                        interpreting_(chosen(options)));
        } catch (const Error& error) {
            return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
        }
    }

    std::vector<std::string> unsupported(const Graph& graph) const override { return without_kernel(graph); }
    std::vector<std::string> option_names() override {
        std::vector<std::string> names;
        for (const auto& [name, value] : options_) names.push_back(name);
        return names;
    }
    void check(const BackendOptions& options) override {
        program::joint_options(options);
        interpreting_(chosen(options));
    }

    BackendOptions cut(const BackendOptions& options) const override { return chosen(options); }

  private:
    /// Those that it has, with the values that are given.
    BackendOptions chosen(const BackendOptions& options) const {
        BackendOptions result = options_;
        for (auto& [key, value] : result)
            if (const auto given = options.find(key); given != options.end()) value = given->second;
        return result;
    }

    std::string name_, description_;
    BackendOptions options_;
    Interpreting interpreting_;
};

MakeInterpreter as_eager(const BackendOptions&) {
    return [] { return std::make_unique<NamingInterpreter>(); };
}

/// ops=custom|all.
MakeInterpreter crossref(const BackendOptions& options) {
    return [all = option_choice(options, "ops", {"custom", "all"}) == 1] { return make_crossref_interpreter(all); };
}

std::unique_ptr<Backend> aot(std::string name, std::string description, const char* partition,
                             const char* decompositions) {
    return std::make_unique<AotEager>(std::move(name), std::move(description),
                                      BackendOptions{{"partition", partition}, {"decompositions", decompositions}},
                                      as_eager);
}

}  // namespace

std::unique_ptr<Backend> make_aot_eager_backend() {
    return aot("aot_eager",
               "eager on the graphs of AOT autograd, forward and backward, cut to save as few bytes as can be",
               "min_cut", "none");
}
std::unique_ptr<Backend> make_aot_eager_default_partitioner_backend() {
    return aot("aot_eager_default_partitioner", "aot_eager, where backward is given all that it reads of forward",
               "default", "none");
}
std::unique_ptr<Backend> make_aot_eager_decomp_partition_backend() {
    return aot("aot_eager_decomp_partition", "aot_eager, where composite ops are decomposed before the cut", "min_cut",
               "core");
}
std::unique_ptr<Backend> make_aot_eager_decomp_partition_crossref_backend() {
    return std::make_unique<AotEager>(
        "aot_eager_decomp_partition_crossref",
        "aot_eager_decomp_partition, where each result is held against what is inferred of its call",
        BackendOptions{{"partition", "min_cut"}, {"decompositions", "core"}, {"ops", "custom"}}, crossref);
}

}  // namespace whittle
