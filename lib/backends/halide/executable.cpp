#include "backends/halide/executable.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "backends/halide/buffers.h"
#include "base/error.h"
#include "base/hash.h"
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

/// What one run at a time works with; kept for the next, which then allocates nothing.
struct Workspace {
    Tensor block;                             ///< the bytes of what lives only while the program runs
    std::vector<const void*> at;              ///< by place: where a value's first element lies
    std::vector<std::optional<Tensor>> held;  ///< by place: inputs, constants, outputs, and what is checked
    std::vector<const void*> inputs;          ///< of the kernel at hand
    std::vector<void*> outputs;
};

class PlanExecutable final : public Executable {
  public:
    PlanExecutable(Plan plan, std::vector<CompiledKernel> compiled)
        : plan_(std::move(plan)),
          compiled_(std::move(compiled)),
          packed_(compiled_.size()),
          is_packed_(compiled_.size()) {
        for (const ValueLife& life : lives_of(plan_)) {
            place_[life.value] = values_.size();
            values_.push_back(life);
        }
        find_leaves();
        for (const Kernel& kernel : plan_.kernels) {
            Places places;
            for (const ValueRef& key : kernel.inputs) places.inputs.push_back(place(key));
            for (const ValueRef& key : kernel.outputs) places.outputs.push_back(place(key));
            for (const program::PositionsCheck& check : kernel.checks) places.checks.push_back(place(check.value));
            places_.push_back(std::move(places));
        }
        for (const ValueRef& key : plan_.outputs) outputs_.push_back(place(key));
        find_buffers();
    }

    RunResult run(std::span<const Tensor> inputs) override {
        RunObserver* const observer = run_observer();
        std::unique_ptr<Workspace> work = take_workspace();
        if (auto failure = take_inputs(inputs, *work)) return *failure;
        for (std::size_t k = 0; k < plan_.kernels.size(); k++)
            if (auto failure = run_kernel(k, *work, observer)) return *failure;
        Values outputs;
        for (std::size_t i = 0; i < outputs_.size(); i++) outputs.push_back(result(i, *work));
        for (auto& held : work->held) held.reset();
        const std::lock_guard lock(workspaces_);
        idle_.push_back(std::move(work));
        return outputs;
    }

  private:
    /// Where values lie while the program runs: positions in one list.
    struct Places {
        std::vector<std::size_t> inputs, outputs, checks;
    };
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
    std::size_t place(const ValueRef& key) const { return place_.at(key); }

    void find_leaves() {
        for (NodeId id = 0; id < static_cast<NodeId>(plan_.graph.nodes.size()); id++) {
            const Node& leaf = node({id, 0});
            if (leaf.kind == NodeKind::placeholder) placeholders_.push_back({id, place({id, 0})});
            if (leaf.kind == NodeKind::get_attr)
                attributes_.push_back(
                    {place({id, 0}), restrided(plan_.graph.attributes.at(leaf.target), leaf.meta().strides)});
        }
    }

    /// Of all that kernels write and nobody else sees.
    void find_buffers() {
        std::vector<Lifetime> lifetimes;
        for (std::size_t place = 0; place < values_.size(); place++)
            if (values_[place].is_temporary()) {
                lifetimes.push_back(values_[place]);
                buffered_.push_back(place);
            }
        buffers_ = plan_buffers(lifetimes);
    }

    std::unique_ptr<Workspace> take_workspace() {
        {
            const std::lock_guard lock(workspaces_);
            if (!idle_.empty()) {
                std::unique_ptr<Workspace> work = std::move(idle_.back());
                idle_.pop_back();
                return work;
            }
        }
        auto work = std::make_unique<Workspace>();
        work->block = Tensor(DType::u8, {static_cast<std::int64_t>(buffers_.bytes)});
        work->at.resize(values_.size());
        work->held.resize(values_.size());
        auto* const first = static_cast<std::byte*>(work->block.mutable_raw());
        for (std::size_t i = 0; i < buffered_.size(); i++) work->at[buffered_[i]] = first + buffers_.offsets[i];
        for (const Attribute& attribute : attributes_) work->at[attribute.place] = attribute.value.raw();
        return work;
    }

    std::optional<BackendFailure> take_inputs(std::span<const Tensor> inputs, Workspace& work) const {
        for (const Attribute& attribute : attributes_)
            if (values_[attribute.place].is_seen) work.held[attribute.place] = attribute.value;
        for (std::size_t i = 0; i < placeholders_.size(); i++) {
            const Node& leaf = node({placeholders_[i].node, 0});
            if (i >= inputs.size() || inputs[i].dtype() != leaf.meta().dtype || inputs[i].sizes() != leaf.meta().sizes)
                return BackendFailure{
                    .stage = "run",
                    .message = "input %" + leaf.name +
                               " is missing, or does not have the dtype and sizes that the graph was compiled for"};
            const std::size_t place = placeholders_[i].place;
            work.at[place] = work.held[place].emplace(restrided(inputs[i], leaf.meta().strides)).raw();
        }
        return std::nullopt;
    }

    std::optional<BackendFailure> run_kernel(std::size_t k, Workspace& work, RunObserver* observer) {
        const Kernel& kernel = plan_.kernels[k];
        const Places& places = places_[k];
        for (std::size_t i = 0; i < kernel.checks.size(); i++)
            if (auto failure = refused(kernel.checks[i], *work.held[places.checks[i]])) return failure;
        const CompiledKernel& compiled = compiled_[k];
        if (compiled.once && !is_packed_[k].load(std::memory_order_acquire))
            if (auto error = pack(k, work)) return failed(kernel, *error);
        work.inputs.clear();
        work.outputs.clear();
        for (const std::size_t i : compiled.each_inputs) work.inputs.push_back(work.at[places.inputs[i]]);
        for (const Tensor& packed : packed_[k]) work.inputs.push_back(packed.raw());
        for (const std::size_t place : places.outputs) work.outputs.push_back(output(place, work));
        const bool logged = log_enabled(LogChannel::run, LogLevel::debug), timed = logged || observer;
        const auto begin = timed ? Clock::now() : Clock::time_point();
        if (const auto error = compiled.each->run(work.inputs, work.outputs)) return failed(kernel, *error);
        const Clock::duration took = timed ? Clock::now() - begin : Clock::duration();
        if (logged) log_debug(LogChannel::run, kernel.group.name + ": " + microseconds(took) + " us");
        if (observer) tell(*observer, k, took);
        return std::nullopt;
    }

    /// Where the kernel that makes the value writes it.
    void* output(std::size_t place, Workspace& work) const {
        if (values_[place].is_temporary()) return const_cast<void*>(work.at[place]);  // in the block
        const ValueMeta& like = meta(values_[place].value);
        void* const made = work.held[place].emplace(like.dtype, like.sizes).mutable_raw();
        work.at[place] = made;
        return made;
    }

    void tell(RunObserver& observer, std::size_t k, Clock::duration took) const {
        std::vector<RunObserver::Held> held;
        for (const auto& [key, place] : place_) {
            const ValueLife& life = values_[place];
            if (life.first <= k && k <= life.last && node(key).kind != NodeKind::get_attr)
                held.push_back({node(key).name, static_cast<std::int64_t>(life.bytes)});
        }
        observer.ran(plan_.kernels[k].group.name, std::chrono::duration<double>(took).count(), held);
    }

    static BackendFailure failed(const Kernel& kernel, const KernelError& error) {
        return {.stage = "run", .op = kernel.group.name, .message = error.message};
    }

    /// Computes what the kernel needs of constants, at its first run.
    std::optional<KernelError> pack(std::size_t k, const Workspace& work) {
        const CompiledKernel& compiled = compiled_[k];
        const std::lock_guard lock(packing_);
        if (is_packed_[k]) return std::nullopt;
        std::vector<const void*> inputs;
        std::vector<void*> outputs;
        std::vector<Tensor> packed;
        for (const std::size_t i : compiled.once_inputs) inputs.push_back(work.at[places_[k].inputs[i]]);
        for (const expr::Input& like : compiled.packed)
            outputs.push_back(packed.emplace_back(like.dtype, like.sizes).mutable_raw());
        if (auto error = compiled.once->run(inputs, outputs)) return error;
        packed_[k] = std::move(packed);
        is_packed_[k].store(true, std::memory_order_release);
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
    Tensor result(std::size_t i, const Workspace& work) const {
        if (const auto& value = work.held[outputs_[i]]) return *value;
        const ValueMeta& like = meta(plan_.outputs[i]);
        WHITTLE_CHECK(like.numel() == 0, "output %" + node(plan_.outputs[i]).name + " was not computed");
        return Tensor(like.dtype, like.sizes);
    }

    Plan plan_;
    std::vector<CompiledKernel> compiled_;
    std::map<ValueRef, std::size_t> place_;
    std::vector<ValueLife> values_;  ///< by place
    std::vector<Places> places_;     ///< one per kernel
    std::vector<Placeholder> placeholders_;
    std::vector<Attribute> attributes_;
    std::vector<std::size_t> outputs_;
    std::vector<std::size_t> buffered_;  ///< places of those in the block
    BufferPlan buffers_;                 ///< one offset for each of them
    std::mutex packing_, workspaces_;
    std::vector<std::vector<Tensor>> packed_;  ///< one per kernel, what its `once` wrote
    std::vector<std::atomic<bool>> is_packed_;
    std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace

std::string CompiledKernel::code() const {
    return once && each ? content_hash(once->code() + each->code()) : each ? each->code() : "";
}

std::unique_ptr<Executable> make_executable(Plan plan, std::vector<CompiledKernel> compiled) {
    return std::make_unique<PlanExecutable>(std::move(plan), std::move(compiled));
}

}  // namespace whittle::halide
