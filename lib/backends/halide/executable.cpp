#include "backends/halide/executable.h"

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "graph/run_observer.h"
#include "graph/value_ref.h"
#include "ops/core/elements.h"

namespace whittle::halide {
namespace {

using Clock = std::chrono::steady_clock;

std::string microseconds(Clock::duration time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

using program::Kernel;
using program::Plan;

/// The same elements under the strides that a kernel was compiled for; itself when it has them.
Tensor restrided(const Tensor& tensor, const Strides& strides) {
    if (tensor.strides() == strides || tensor.numel() == 0) return tensor;
    if (is_contiguous(tensor.sizes(), strides)) return tensor.clone();
    std::int64_t low = 0, high = 0;
    for (std::size_t d = 0; d < strides.size(); d++) {
        const std::int64_t reach = (tensor.sizes()[d] - 1) * strides[d];
        (reach < 0 ? low : high) += reach;
    }
    const std::size_t element = size_of(tensor.dtype());
    Tensor result(Storage::allocate(static_cast<std::size_t>(high - low + 1) * element), tensor.dtype(), tensor.sizes(),
                  strides, -low);
    const Tensor from = tensor.contiguous();
    const Strides dense = contiguous_strides(tensor.sizes());
    char* const first = static_cast<char*>(result.mutable_raw());
    for (std::int64_t i = 0; i < tensor.numel(); i++) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < strides.size(); d++) offset += i / dense[d] % tensor.sizes()[d] * strides[d];
        std::memcpy(first + offset * static_cast<std::int64_t>(element),
                    static_cast<const char*>(from.raw()) + i * static_cast<std::int64_t>(element), element);
    }
    return result;
}

class PlanExecutable final : public Executable {
  public:
    PlanExecutable(Plan plan, std::vector<CompiledKernel> compiled)
        : plan_(std::move(plan)), compiled_(std::move(compiled)), packed_(compiled_.size()) {
        find_leaves();
        for (const Kernel& kernel : plan_.kernels) {
            Places places;
            for (const ValueRef& key : kernel.inputs) places.inputs.push_back(place(key));
            for (const ValueRef& key : kernel.outputs) places.outputs.push_back(place(key));
            for (const program::PositionsCheck& check : kernel.checks) places.checks.push_back(place(check.value));
            places_.push_back(std::move(places));
        }
        for (const ValueRef& key : plan_.outputs) outputs_.push_back(place(key));
        find_last_uses();
    }

    RunResult run(std::span<const Tensor> inputs) override {
        Found values(place_.size());
        RunObserver* const observer = run_observer();
        if (auto failure = take_inputs(inputs, values)) return *failure;
        for (std::size_t k = 0; k < plan_.kernels.size(); k++) {
            if (auto failure = run_kernel(k, values, observer)) return *failure;
            for (const std::size_t done : places_[k].done) values[done].reset();
        }
        Values outputs;
        for (std::size_t i = 0; i < outputs_.size(); i++) outputs.push_back(result(i, values));
        return outputs;
    }

  private:
    /// Where values lie while the program runs: positions in one list.
    struct Places {
        std::vector<std::size_t> inputs, outputs, checks;
        std::vector<std::size_t> done;  ///< what nothing reads after the kernel
    };
    using Found = std::vector<std::optional<Tensor>>;
    struct Placeholder {
        NodeId node;
        std::size_t place;
    };
    struct Attribute {
        std::size_t place;
        Tensor value;
    };

    const Node& node(const ValueRef& key) const { return plan_.graph.nodes[static_cast<std::size_t>(key.node)]; }
    const ValueMeta& meta(const ValueRef& key) const {
        return node(key).results.at(static_cast<std::size_t>(key.index));
    }
    std::size_t place(const ValueRef& key) { return place_.try_emplace(key, place_.size()).first->second; }

    void find_leaves() {
        for (NodeId id = 0; id < static_cast<NodeId>(plan_.graph.nodes.size()); id++) {
            const Node& leaf = node({id, 0});
            if (leaf.kind == NodeKind::placeholder) placeholders_.push_back({id, place({id, 0})});
            if (leaf.kind == NodeKind::get_attr)
                attributes_.push_back(
                    {place({id, 0}), restrided(plan_.graph.attributes.at(leaf.target), leaf.meta().strides)});
        }
    }

    void find_last_uses() {
        constexpr std::size_t kNever = static_cast<std::size_t>(-1);
        std::vector<std::size_t> last(place_.size(), kNever);
        for (std::size_t k = 0; k < places_.size(); k++)
            for (const auto* list : {&places_[k].inputs, &places_[k].checks, &places_[k].outputs})
                for (const std::size_t place : *list) last[place] = k;
        for (const std::size_t place : outputs_) last[place] = kNever;
        for (std::size_t place = 0; place < last.size(); place++)
            if (last[place] != kNever) places_[last[place]].done.push_back(place);
    }

    std::optional<BackendFailure> take_inputs(std::span<const Tensor> inputs, Found& values) const {
        for (const Attribute& attribute : attributes_) values[attribute.place] = attribute.value;
        for (std::size_t i = 0; i < placeholders_.size(); i++) {
            const Node& leaf = node({placeholders_[i].node, 0});
            if (i >= inputs.size() || inputs[i].dtype() != leaf.meta().dtype || inputs[i].sizes() != leaf.meta().sizes)
                return BackendFailure{.stage = "run",
                                      .message = "input %" + leaf.name + " is missing or not what was compiled for"};
            values[placeholders_[i].place] = restrided(inputs[i], leaf.meta().strides);
        }
        return std::nullopt;
    }

    std::optional<BackendFailure> run_kernel(std::size_t k, Found& values, RunObserver* observer) {
        const Kernel& kernel = plan_.kernels[k];
        const Places& places = places_[k];
        for (std::size_t i = 0; i < kernel.checks.size(); i++)
            if (auto failure = refused(kernel.checks[i], *values[places.checks[i]])) return failure;
        const CompiledKernel& compiled = compiled_[k];
        if (auto error = pack(k, values)) return failed(kernel, *error);
        std::vector<const void*> inputs;
        std::vector<void*> outputs;
        for (const std::size_t i : compiled.each_inputs) inputs.push_back(values[places.inputs[i]]->raw());
        for (const Tensor& packed : packed_[k]) inputs.push_back(packed.raw());
        for (std::size_t i = 0; i < places.outputs.size(); i++) {
            const ValueMeta& like = meta(kernel.outputs[i]);
            outputs.push_back(values[places.outputs[i]].emplace(like.dtype, like.sizes).mutable_raw());
        }
        const bool logged = log_enabled(LogChannel::run, LogLevel::debug), timed = logged || observer;
        const auto begin = timed ? Clock::now() : Clock::time_point();
        if (const auto error = compiled.each->run(inputs, outputs)) return failed(kernel, *error);
        const Clock::duration took = timed ? Clock::now() - begin : Clock::duration();
        if (logged) log_debug(LogChannel::run, kernel.group.name + ": " + microseconds(took) + " us");
        if (observer) tell(*observer, kernel, took, values);
        return std::nullopt;
    }

    void tell(RunObserver& observer, const Kernel& kernel, Clock::duration took, const Found& values) const {
        std::vector<RunObserver::Held> held;
        for (const auto& [key, place] : place_)
            if (const auto& value = values[place]; value && node(key).kind != NodeKind::get_attr)
                held.push_back({node(key).name, value->numel() * static_cast<std::int64_t>(size_of(value->dtype()))});
        observer.ran(kernel.group.name, std::chrono::duration<double>(took).count(), held);
    }

    static BackendFailure failed(const Kernel& kernel, const KernelError& error) {
        return {.stage = "run", .op = kernel.group.name, .message = error.message};
    }

    /// Computes what the kernel needs of constants, at its first run.
    std::optional<KernelError> pack(std::size_t k, const Found& values) {
        const CompiledKernel& compiled = compiled_[k];
        if (!compiled.once) return std::nullopt;
        const std::lock_guard lock(packing_);
        if (!packed_[k].empty()) return std::nullopt;
        std::vector<const void*> inputs;
        std::vector<void*> outputs;
        std::vector<Tensor> packed;
        for (const std::size_t i : compiled.once_inputs) inputs.push_back(values[places_[k].inputs[i]]->raw());
        for (const expr::Input& like : compiled.packed)
            outputs.push_back(packed.emplace_back(like.dtype, like.sizes).mutable_raw());
        if (auto error = compiled.once->run(inputs, outputs)) return error;
        packed_[k] = std::move(packed);
        return std::nullopt;
    }

    /// What eager refuses, in its words: the kernel would take the nearest place inside.
    std::optional<BackendFailure> refused(const program::PositionsCheck& check, const Tensor& positions) const {
        const std::string& target = node({check.node, 0}).target;
        try {
            for (const std::int64_t position : positions.values<std::int64_t>())
                checked_index(position, check.size, check.negatives, target);
        } catch (const Error& error) {
            return BackendFailure{.stage = "run", .op = target, .message = error.message()};
        }
        return std::nullopt;
    }

    /// An output; empty tensors are computed by no kernel.
    Tensor result(std::size_t i, const Found& values) const {
        if (values[outputs_[i]]) return *values[outputs_[i]];
        const ValueMeta& like = meta(plan_.outputs[i]);
        WHITTLE_CHECK(like.numel() == 0, "output %" + node(plan_.outputs[i]).name + " was not computed");
        return Tensor(like.dtype, like.sizes);
    }

    Plan plan_;
    std::vector<CompiledKernel> compiled_;
    std::map<ValueRef, std::size_t> place_;
    std::vector<Places> places_;  ///< one per kernel
    std::vector<Placeholder> placeholders_;
    std::vector<Attribute> attributes_;
    std::vector<std::size_t> outputs_;
    std::mutex packing_;
    std::vector<std::vector<Tensor>> packed_;  ///< one per kernel, what its `once` wrote
};

}  // namespace

std::unique_ptr<Executable> make_executable(Plan plan, std::vector<CompiledKernel> compiled) {
    return std::make_unique<PlanExecutable>(std::move(plan), std::move(compiled));
}

}  // namespace whittle::halide
