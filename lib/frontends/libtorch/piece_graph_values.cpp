// PieceGraphs: what a piece reads, and the elements that LibTorch had.
#include <algorithm>

#include "frontends/libtorch/piece_graph.h"
#include "ops/aten/capture.h"
#include "tensor/reach.h"

namespace whittle::libtorch {

using capture::CapturedGraph;
using capture::Source;

namespace {

/// Under the strides that the program had, through which views see: what shows one element in many places, as expand()
/// does, too. Contiguous where gaps would take far more memory than the elements.
Tensor as_it_lay(const Tensor& elements, const Strides& strides) {
    constexpr std::int64_t kMostMemory = 8;  // of that of the elements
    if (is_contiguous(elements.sizes(), strides)) return elements;
    const std::optional<Reach> reached = reach(elements.sizes(), strides);
    if (!reached || reached->count() / kMostMemory > elements.numel()) return elements;
    return laid_out(elements, strides);
}

}  // namespace

capture::Operand PieceGraphs::operand_of(ValueId id, std::int32_t reader) {
    auto entry = known_.find(id);
    if (entry == known_.end()) entry = known_.emplace(id, known(id, reader)).first;
    const Known& has = entry->second;
    const TracedValue& value = recording_.value(has.value);
    capture::Operand operand{.key = key_of(has.value), .meta = &has.meta, .node = has.node, .place = has.place};
    if (operand.computed()) return operand;
    operand.storage = value.tensor.has(kHasStorage) ? value.tensor.storage : 0;
    operand.offset = value.tensor.offset;
    operand.leaf = has.meta.leaf;
    if (!has.elements) return operand;
    operand.value = &*has.elements;
    operand.parameter = &value.name->path;
    return operand;
}

/// Of shared memory it is any earlier value: passes know from the writes in between what it holds by then.
PieceGraphs::Known PieceGraphs::known(ValueId id, std::int32_t reader) {
    const auto earlier = [&](ValueId other) {
        operand_of(other, reader);
        return known_.at(other);
    };
    const TracedValue& value = recording_.value(id);
    if (cutter_.shows_write(id, piece_->number)) return earlier(value.before);
    const ValueId base = cutter_.base(id, piece_->number);
    if (base >= 0 && base != id && !is_computed(id))
        return same_place(recording_.value(base).tensor, value.tensor) ? earlier(base) : view_of(base, id, reader);
    Known input{.value = id, .meta = input_meta(id, reader)};
    if (value.name && input.meta.placement) {  // an attribute is a tensor of ours: it is an input by its name
        builder_.naming().know(key_of(id), Source::local("self").attribute(value.name->path));
    } else if (value.name) {
        // Elements that nobody asked for: explain needs what they are, not what they hold.
        const std::optional<Tensor> elements = tensor_of({id, read_at(id)});
        input.elements =
            as_it_lay(elements.value_or(Tensor(*value.tensor.dtype, value.tensor.sizes)), value.tensor.strides)
                .with_requires_grad(input.meta.requires_grad);
    } else {
        builder_.naming().know(key_of(id), source_of(id));
    }
    return input;
}

/// requires_grad() may be called on a tensor after the op that made it, which torch::ones(…, requires_grad()) does,
/// too.
ValueMeta PieceGraphs::input_meta(ValueId id, std::int32_t reader) const {
    ValueMeta meta = recording_.values.meta(id);
    const TensorRef* seen = reader < 0 ? nullptr : read_as(recording_.values, recording_.step(reader), reader, id);
    if (seen) meta.requires_grad = seen->has(kRequiresGrad);
    meta.leaf = (seen ? *seen : recording_.value(id).tensor).has(kLeaf);
    return meta;
}

/// A view by sizes and strides: how the program made it was not seen, or happened elsewhere.
PieceGraphs::Known PieceGraphs::view_of(ValueId base, ValueId id, std::int32_t reader) {
    const TensorRef &whole = recording_.value(base).tensor, &view = recording_.value(id).tensor;
    const capture::Operand shown = operand_of(base, reader);
    const auto list = [](const auto& numbers) {
        ArgList args;
        for (const std::int64_t number : numbers) args.push_back(Arg(number));
        return Arg(std::move(args));
    };
    const std::int64_t offset = view.offset - whole.offset;
    const std::vector<StackFrame> stack = reader < 0 ? std::vector<StackFrame>() : recording_.stack(reader);
    Known result{.value = id, .meta = recording_.values.meta(id)};
    result.node =
        builder_.graph()
            .call({.target = "aten.as_strided.default",
                   .args = {Arg(builder_.node_of(shown, stack)), list(view.sizes), list(view.strides), Arg(offset)},
                   .results = {result.meta},
                   .stack = stack})
            .at(0);
    result.place = builder_.view(shown, offset, result.meta.dtype);
    return result;
}

/// When a value from outside is read: 0, as it was made, but for the base of views, which may have been written to
/// since. Memory without contents may have been filled through a pointer until it was read first.
std::uint64_t PieceGraphs::read_at(ValueId id) const {
    if (cutter_.base(id, piece_->number) != id) return 0;
    const TracedValue& value = recording_.value(id);
    const std::uint64_t begin = recording_.step(piece_->steps.front()).order();
    const std::int32_t first = first_operation(value.uses, recording_.steps);
    const bool empty = value.step >= 0 && makes_memory(recording_.step(value.step)) && first >= 0;
    return empty ? std::max(begin, recording_.step(first).order()) : begin;
}

/// As the program calls it, where its probes told, else by what it is; the same in all graphs of the frame.
const Source& PieceGraphs::source_of(ValueId id) {
    const capture::TensorKey key = key_of(id);
    if (const Source* known = naming_.source(key)) return *known;
    naming_.know_origin(key, origin_of(id));
    if (const ProbedName* name = frame_.call ? frame_.call->name_of(recording_.value(id).tensor) : nullptr) {
        const Source variable = Source::local(name->name);
        naming_.know_variable(key, name->element < 0 ? variable : variable.item(name->element));
    } else if (const std::string* variable =
                   recording_.file.variable_of(recording_.value(id).tensor.id, code_of(frame_.function),
                                               recording_.step(frame_.steps.back()).order())) {
        naming_.know_variable(key, Source::local(*variable));
    }
    naming_.know(key, naming_.take(key));
    return *naming_.source(key);
}

capture::Origin PieceGraphs::origin_of(ValueId id) const {
    using capture::Origin;
    const TracedValue& value = recording_.value(id);
    const auto is_own = [&](std::int32_t index) { return std::ranges::binary_search(frame_.steps, index); };
    // LibTorch makes tensors of the numbers that indexing writes and that backward multiplies by, without an op.
    if (value.step < 0 && value.tensor.sizes.empty() && std::ranges::all_of(value.uses, is_own))
        return Origin::constant;
    const std::int32_t step = value.step;
    if (step < 0 || !is_own(step)) return Origin::argument;
    const OpName& op = *recording_.step(step).op;
    if (is_random(op)) return cutter_.writes_part(step) ? Origin::live : Origin::random;
    if (recording_.is_filling(step)) return Origin::constant;
    return makes_memory(recording_.step(step)) ? Origin::memory : Origin::live;
}

// ---- Elements

/// Without what lay in memory before anything was written there.
std::optional<Tensor> PieceGraphs::tensor_of(const Output& output) const {
    const TracedValue& value = recording_.value(output.value);
    std::optional<Tensor> elements;
    if (output.order)
        elements = elements_.before(value.tensor, output.order);
    else if (value.snapshot)
        elements = recording_.file.tensor(recording_.file.snapshots[*value.snapshot]);
    const Event* const made = value.step < 0 ? nullptr : recording_.step(value.step).end;
    const std::uint64_t order = output.order ? output.order : made ? made->order : 0;
    if (elements && order) recording_.unwritten.clear(value.tensor, order, *elements);
    return elements;
}

/// ", a result of aten.empty.memory_format,"; ", a sparse tensor,".
std::string PieceGraphs::unrecorded(const Output& output) const {
    const Placement* placement = recording_.value(output.value).tensor.placement;
    if (placement) return ", " + placement->text() + ",";
    const std::int32_t step = recording_.value(output.value).step;
    return step < 0 ? "" : ", a result of " + recording_.step(step).op->target() + ",";
}

/// By where the graph has them from, parameters too; of two values that one parameter had, the one that is written.
PieceGraphs::Inputs PieceGraphs::inputs(const Writes& writes) const {
    Inputs inputs;
    for (const capture::Builder::Input& input : builder_.inputs()) {
        const auto value = static_cast<ValueId>(input.key - 1);
        const Source* source = builder_.graph().source_of(input.node);
        const std::string& path = builder_.graph().graph().node(input.node).target;
        const auto [known, added] = inputs.emplace(source ? *source : Source::local("self").attribute(path), value);
        if (!added && writes.contains(value)) known->second = value;
    }
    return inputs;
}

/// The values that LibTorch had, where all of them were written down.
void PieceGraphs::fill_values(CapturedGraph& captured, const Inputs& inputs, const std::vector<Output>& outputs) const {
    if (!recording_.file.with_data) return;
    const auto add = [&](const Output& output, const std::string& name, std::vector<Tensor>& to) {
        if (const auto tensor = tensor_of(output))
            to.push_back(*tensor);
        else if (captured.unrecorded.empty())
            captured.unrecorded = "the elements of " + name + unrecorded(output) + " were not recorded";
    };
    for (const Source& source : captured.sources)
        add({inputs.at(source), read_at(inputs.at(source))}, source.text(), captured.inputs);
    const std::vector<NodeId> results = captured.graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i)
        add(outputs[i], "%" + captured.graph.node({results[i]}).name, captured.outputs);
    if (captured.inputs.size() != captured.sources.size()) captured.inputs.clear();
    const std::vector<NodeId> placeholders = captured.graph.placeholders();
    for (std::size_t i = 0; i < captured.inputs.size(); ++i)
        captured.inputs[i] = as_it_lay(captured.inputs[i], captured.graph.node({placeholders.at(i)}).meta().strides);
    if (captured.outputs.size() != outputs.size()) captured.outputs.clear();
}

}  // namespace whittle::libtorch
