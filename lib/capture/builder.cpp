#include "capture/builder.h"

#include <algorithm>

#include "base/error.h"
#include "capture/hooks.h"
#include "ops/core/assertions.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "tensor/reach.h"

namespace whittle::capture {
namespace {

const std::string kNone;

}  // namespace

void Builder::begin(std::string name) {
    graph_ = OutputGraph(std::move(name));
    naming_.begin_graph();
    memories_ = {};
    inputs_.clear();
    known_.clear();
}

/// Goes back where what was tried is not kept.
class Builder::Attempt {
  public:
    explicit Attempt(Builder& builder) : builder_(builder), before_(builder.checkpoint()) {}
    ~Attempt() {
        if (!kept_) builder_.roll_back(before_);
    }
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
    void keep() { kept_ = true; }

  private:
    Builder& builder_;
    Checkpoint before_;
    bool kept_ = false;
};

std::variant<Placed, GraphBreak> Builder::issue(const Operation& step) {
    if (hooks().issued) hooks().issued(step.call);
    for (const Operand& operand : step.operands)
        if (auto why = before_reading(operand)) return std::move(*why);
    if (step.writes()) {
        if (is_around(step.operands[0]))
            return GraphBreak{.kind = BreakKind::mutation, .reason = "a write to an outside tensor"};
        check_writable(step.operands[0], step.call.target);
    }
    Attempt attempt(*this);
    Placed placed;
    for (const Operand& operand : step.operands) placed.operands.push_back(node_of(operand, step.call.stack));
    Node node =
        map_inputs(step.call, [&](NodeRef ref) { return Arg(placed.operands.at(static_cast<std::size_t>(ref.id))); });
    node.name.clear();
    for (const auto& [name, graph] : step.nested)
        for (Arg& arg : node.args)
            if (arg == Arg(GraphRef{name})) arg = Arg(graph_.nest(name, graph));
    const bool ran = !node.results.empty();
    try {
        if (!ran) node.results = results_of(step, node);
    } catch (const std::exception& error) {
        if (on_failure && on_failure(node, error)) attempt.keep();
        throw;
    }
    placed.call = {static_cast<NodeId>(graph_.graph().nodes.size())};
    std::vector<ValueMeta> metas = node.results;
    const bool effect = step.effect || step.writes() || asserts(node);
    const std::vector<NodeRef> made = graph_.call(std::move(node), effect);
    attempt.keep();
    if (step.writes()) {
        placed.ended_by = write(step.operands[0], step.call.target);
        return placed;
    }
    for (std::size_t i = 0; i < made.size(); ++i) placed.results.push_back({made[i], std::move(metas[i]), {}});
    if (!ran) find_views(step, placed);  // who ran it knows where its results lie
    return placed;
}

std::vector<ValueMeta> Builder::results_of(const Operation& step, const Node& node) {
    std::vector<ValueMeta> metas = infer(graph_.graph(), node);
    const RegisteredOp* op = Registry::instance().op(step.call.target);
    const bool gradient =
        step.grad_enabled && !(op && op->def->grad == no_gradient) &&
        std::ranges::any_of(step.operands, [](const Operand& operand) { return operand.meta->requires_grad; });
    for (ValueMeta& meta : metas) meta.requires_grad = gradient && is_floating(meta.dtype);
    return metas;
}

namespace {

/// Zeros to try views on; kernels of views do not look at them.
std::shared_ptr<Storage> probe_storage(std::size_t bytes) {
    thread_local std::shared_ptr<Storage> storage;
    if (!storage || storage->bytes().size() < bytes) storage = Storage::allocate(std::max<std::size_t>(bytes, 4096));
    return storage;
}

}  // namespace

/// A view shows where its kernel puts it; some views copy, depending on the strides.
void Builder::find_views(const Operation& step, Placed& placed) const {
    const RegisteredOp* op = Registry::instance().op(step.call.target);
    if (!op || step.call.args.empty()) return;
    if (op->schema.returns.empty() || op->schema.returns.front().alias.empty()) return;
    const NodeRef* first = step.call.args.front().node();
    if (!first) return;
    const ValueMeta& meta = *step.operands[static_cast<std::size_t>(first->id)].meta;
    const std::optional<Reach> reached = reach(meta.sizes, meta.strides);
    if (!reached || reached->first < 0) return;
    const auto storage = probe_storage(static_cast<std::size_t>(reached->count()) * size_of(meta.dtype));
    const Tensor probe(storage, meta.dtype, meta.sizes, meta.strides);
    const std::vector<Tensor> shown =
        view_of(step.call, probe, [&](NodeRef ref) { return *step.operands[static_cast<std::size_t>(ref.id)].meta; });
    for (std::size_t i = 0; i < placed.results.size() && i < shown.size(); ++i)
        if (shown[i].storage() == storage) placed.results[i].view = shown[i].offset();
}

// ---- Memory

bool Builder::is_around(const Operand& operand) const {
    return in_body() && (operand.node.id < bodies_.back() || operand.place.memory == kOutside);
}

MemoryId Builder::memory_of(const Operand& operand) {
    if (is_around(operand)) return kOutside;
    if (!operand.computed()) return memories_.of_input(operand.key, operand.storage, operand.writable);
    return operand.place.memory == kOwn ? memories_.of_result(operand.node, *operand.meta) : operand.place.memory;
}

Place Builder::view(const Operand& of, std::int64_t offset, DType dtype) {
    const std::int64_t begin = of.computed() ? of.place.offset : of.offset;
    const auto width = [](DType of_elements) { return static_cast<std::int64_t>(size_of(of_elements)); };
    return {memory_of(of), offset + begin * width(of.meta->dtype) / width(dtype)};
}

/// In a body nothing is read yet: what it reads are operands of its operation.
std::optional<GraphBreak> Builder::before_reading(const Operand& operand) const {
    if (in_body() || !memories_.is_stale(operand.storage, operand.key, *operand.meta, operand.offset))
        return std::nullopt;
    return GraphBreak{.kind = BreakKind::mutation,
                      .reason = "a read of memory that the graph wrote through another input"};
}

void Builder::check_writable(const Operand& self, const std::string& target) const {
    if (is_around(self)) return;
    const bool writable =
        !self.computed() ? self.writable : self.place.memory < 0 || memories_.at(self.place.memory).writable;
    if (!writable) throw Error(target + ": found a write to read-only memory", "write to a clone() of the tensor");
}

/// Memory of inputs is written when the graph runs; what shares it must be known then.
std::optional<GraphBreak> Builder::write(const Operand& self, const std::string& target) {
    const StorageKey storage = !self.computed()            ? self.storage
                               : self.place.memory == kOwn ? 0
                                                           : memories_.at(self.place.memory).storage;
    if (!storage) return std::nullopt;
    if (self.computed())
        memories_.write(storage, memories_.at(self.place.memory).input, Extent::of(*self.meta, self.place.offset));
    else
        memories_.write(storage, self.key, Extent::of(*self.meta, self.offset));
    if (std::ranges::count(inputs_, storage, &Input::storage) < 2) return std::nullopt;
    return GraphBreak{
        .kind = BreakKind::mutation, .reason = "a write to memory that several inputs share", .op = target};
}

// ---- Inputs

const NodeRef* Builder::input(TensorKey key) const {
    const auto known = known_.find(key);
    return known == known_.end() ? nullptr : &known->second;
}

void Builder::take(const Input& input) {
    known_.emplace(input.key, input.node);
    inputs_.push_back(input);
}

const std::string& Builder::parameter_name(TensorKey key, const std::string& otherwise) const {
    const std::string* const told = naming_.parameter(key);
    return told ? *told : otherwise;
}

NodeRef Builder::node_of(const Operand& operand, const std::vector<StackFrame>& stack) {
    if (operand.computed()) return operand.node;
    if (const NodeRef* known = input(operand.key)) return *known;
    const std::string& parameter = parameter_name(operand.key, operand.parameter ? *operand.parameter : kNone);
    ValueMeta meta = *operand.meta;
    meta.storage_offset = operand.offset;
    meta.leaf = operand.leaf;
    const NodeRef node = parameter.empty() ? graph_.input(naming_.take(operand.key), meta, operand.key, stack)
                                           : graph_.parameter(parameter, *operand.value, operand.key);
    take({node, operand.key, operand.storage});
    return node;
}

// ---- Speculation

Builder::Checkpoint Builder::checkpoint() const {
    return {graph_.checkpoint(), naming_.numbers(), inputs_.size(), memories_.size()};
}

void Builder::roll_back(const Checkpoint& to) {
    for (; inputs_.size() > to.inputs; inputs_.pop_back()) {
        const Input& last = inputs_.back();
        if (const Source* source = graph_.source_of(last.node)) naming_.give_back(*source);
        known_.erase(last.key);
    }
    graph_.roll_back(to.graph);
    naming_.restore(to.numbers);
    memories_.resize(to.memories);
}

}  // namespace whittle::capture
