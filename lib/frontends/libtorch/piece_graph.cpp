#include "frontends/libtorch/piece_graph.h"

#include <algorithm>
#include <set>

#include "passes/dce.h"
#include "passes/functionalize.h"

namespace whittle::libtorch {

using capture::CapturedGraph;
using capture::Source;

/// A piece while its graph is built: first as the program had it, with writes.
struct PieceGraphs::Building {
    const Piece& piece;
    capture::OutputGraph graph{"graph"};
    std::map<ValueId, NodeRef> nodes = {};
    std::map<std::string, ValueId> inputs = {};      ///< by the text of their source
    std::map<std::string, ValueId> parameters = {};  ///< by the name of their node
    std::map<std::string, std::uint64_t> written =
        {};  ///< inputs and parameters by name: the order after the last write
};

std::optional<CapturedGraph> PieceGraphs::build(const Piece& piece, std::optional<Refusal>& refusal) {
    Building to{.piece = piece};
    for (const std::int32_t index : piece.steps) add_call(index, to);
    std::vector<Output> outputs = live_after(piece);
    std::vector<NodeRef> results;
    for (const Output& output : outputs) results.push_back(node_of(output.value, -1, to));
    std::optional<CapturedGraph> captured = to.graph.finish(results, piece.ended_by);
    if (!captured) return std::nullopt;
    try {
        if (has_writes(captured->graph)) functionalize(*captured, to, outputs);
    } catch (const Error& error) {
        refusal = find_refusal(piece, error.message());
        return std::nullopt;
    }
    fill_values(*captured, to, outputs);
    return captured;
}

void PieceGraphs::add_call(std::int32_t index, Building& to) {
    const std::vector<ValueId>& reads = recording_.reads(index);
    BoundCall bound = bind_call(recording_.step(index), [&](std::size_t n) { return node_of(reads.at(n), index, to); });
    const std::vector<ValueId>& results = recording_.results(index);
    const ResultNumbers numbers = result_numbers(*recording_.step(index).end);
    // What is undefined in LibTorch is an empty tensor here.
    bound.call.results.assign(numbers.count, ValueMeta::contiguous(recording_.values.meta(results.front()).dtype, {0}));
    for (std::size_t i = 0; i < results.size(); ++i)
        bound.call.results[numbers.defined[i]] = recording_.values.meta(results[i]);
    bound.call.stack = recording_.stack(index);
    bound.call.module_path = module_path(index);
    if (bound.writes) {
        const NodeRef self = to.nodes.at(reads.at(0));
        if (const auto base = to.nodes.find(cutter_.root(reads.at(0), to.piece.number)); base != to.nodes.end())
            to.written[to.graph.graph().node(base->second).name] = recording_.order_after(index);
        if (bound.in_place.empty()) {
            const NodeRef value = to.graph.call(bound.call).at(0);
            bound.call.args = {Arg(self), Arg(value)};
            bound.call.kwargs.clear();
            bound.in_place = "aten.copy_.default";
        }
        bound.call.target = bound.in_place;
        bound.call.effect = true;
    }
    const std::vector<NodeRef> made = to.graph.call(std::move(bound.call));
    const NodeId call =
        static_cast<NodeId>(to.graph.graph().nodes.size() - (numbers.count == 1 ? 1 : numbers.count + 1));
    for (std::size_t i = 0; i < results.size(); ++i)
        if (recording_.value(results[i]).step == index) to.nodes[results[i]] = made[numbers.defined[i]];
    node_names_[index] = to.graph.graph().nodes[static_cast<std::size_t>(call)].name;
}

/// "features.0"; of a backward op also which op's gradient it computes: "features.0, backward of %convolution".
std::string PieceGraphs::module_path(std::int32_t index) const {
    const std::int32_t forward = recording_.forward[static_cast<std::size_t>(index)];
    if (forward < 0) return recording_.modules[static_cast<std::size_t>(index)];
    const std::string& module = recording_.modules[static_cast<std::size_t>(forward)];
    const auto node = node_names_.find(forward);
    const std::string of = node == node_names_.end() ? recording_.step(forward).op->target() : "%" + node->second;
    return module + (module.empty() ? "" : ", ") + "backward of " + of;
}

/// The node that computes the value or brings it in. Of shared memory it is the node of any earlier value: passes know
/// from the writes in between what it holds by then.
NodeRef PieceGraphs::node_of(ValueId id, std::int32_t reader, Building& to) {
    if (const auto known = to.nodes.find(id); known != to.nodes.end()) return known->second;
    const TracedValue& value = recording_.value(id);
    if (cutter_.shows_write(id, to.piece.number)) return to.nodes[id] = node_of(value.before, reader, to);
    const ValueId base = cutter_.base(id, to.piece.number);
    if (base >= 0 && base != id && !cutter_.contains(to.piece.number, value.step))
        return to.nodes[id] = view_of(base, id, reader, to);
    const auto key = static_cast<capture::TensorKey>(id) + 1;
    NodeRef node;
    if (value.name) {
        // Elements that nobody asked for: explain needs what they are, not what they hold.
        const Tensor blank = Tensor(*value.tensor.dtype, value.tensor.sizes);
        const std::optional<Tensor> known = tensor_of({id, read_at(id, to.piece)});
        const Tensor tensor = (known ? *known : blank).with_requires_grad(value.tensor.has(kRequiresGrad));
        node = to.graph.parameter(value.name->path, tensor, key);
        to.parameters[to.graph.graph().node(node).name] = id;
    } else {
        const Source& source = source_of(id);
        const std::vector<StackFrame> none;
        node = to.graph.input(source, input_meta(id, reader), key, reader < 0 ? none : recording_.stack(reader));
        to.inputs.emplace(source.text(), id);
    }
    return to.nodes[id] = node;
}

/// requires_grad() may be called on a tensor after the op that made it, which torch::ones(…, requires_grad()) does,
/// too.
ValueMeta PieceGraphs::input_meta(ValueId id, std::int32_t reader) const {
    ValueMeta meta = recording_.values.meta(id);
    const TensorRef* seen = reader < 0 ? nullptr : read_as(recording_.values, recording_.step(reader), reader, id);
    if (seen) meta.requires_grad = seen->has(kRequiresGrad);
    return meta;
}

/// A view by sizes and strides: how the program made it was not seen, or happened elsewhere.
NodeRef PieceGraphs::view_of(ValueId base, ValueId id, std::int32_t reader, Building& to) {
    const TensorRef &whole = recording_.value(base).tensor, &view = recording_.value(id).tensor;
    const NodeRef node = node_of(base, reader, to);
    if (same_place(whole, view)) return node;
    const auto list = [](const auto& numbers) {
        ArgList args;
        for (const std::int64_t number : numbers) args.push_back(Arg(number));
        return Arg(std::move(args));
    };
    capture::RecordedCall call{
        .target = "aten.as_strided.default",
        .args = {Arg(node), list(view.sizes), list(view.strides), Arg(view.offset - whole.offset)},
        .results = {recording_.values.meta(id)}};
    if (reader >= 0) call.stack = recording_.stack(reader);
    return to.graph.call(std::move(call)).at(0);
}

/// When a value from outside is read: 0, as it was made, but for the base of views, which may have been written to
/// since. Memory without contents may have been filled through a pointer until it was read first.
std::uint64_t PieceGraphs::read_at(ValueId id, const Piece& piece) const {
    if (cutter_.base(id, piece.number) != id) return 0;
    const TracedValue& value = recording_.value(id);
    const std::uint64_t begin = recording_.step(piece.steps.front()).order();
    const bool empty = value.step >= 0 && makes_memory(*recording_.step(value.step).op) && !value.uses.empty();
    return empty ? std::max(begin, recording_.step(value.uses.front()).order()) : begin;
}

const Source& PieceGraphs::source_of(ValueId id) {
    const auto known = sources_.find(id);
    if (known != sources_.end()) return known->second;
    const Source& source = sources_.emplace(id, new_source(id)).first->second;
    taken_.insert(source.text());
    return source;
}

/// As the program calls it, where its probes told; nothing for a second value of one name.
std::optional<Source> PieceGraphs::named_source(ValueId id) const {
    const ProbedName* name = frame_.call ? frame_.call->name_of(recording_.value(id).tensor) : nullptr;
    if (!name) return std::nullopt;
    Source source = Source::local(name->name);
    if (name->element >= 0) source = source.item(name->element);
    return taken_.contains(source.text()) ? std::nullopt : std::optional(std::move(source));
}

Source PieceGraphs::new_source(ValueId id) {
    const std::int32_t step = recording_.value(id).step;
    const bool inside = step >= 0 && std::ranges::binary_search(frame_.steps, step);
    if (!inside || recording_.is_filling(step))
        if (std::optional<Source> named = named_source(id)) return *named;
    if (!inside) return Source::local("arg" + std::to_string(arguments_++));
    const OpName& op = *recording_.step(step).op;
    if (is_random(op)) return Source::random(random_++);
    if (recording_.is_filling(step)) return Source::local("constant" + std::to_string(constants_++));
    if (makes_memory(op)) return Source::local("memory" + std::to_string(memory_++));
    return Source::live(live_++);
}

// ---- Results

/// Per value whose memory the piece wrote to: the last step that did.
std::map<ValueId, std::int32_t> PieceGraphs::last_writes(const Piece& piece) const {
    std::map<ValueId, std::int32_t> writes;
    for (const std::int32_t index : piece.steps)
        if (writes_memory(recording_.step(index)))
            writes[cutter_.root(recording_.reads(index).at(0), piece.number)] = index;
    return writes;
}

/// Values of the piece that somebody reads later, or that nobody reads: those the program may return or keep. What is
/// an input's new value is none: the input has it.
std::vector<PieceGraphs::Output> PieceGraphs::live_after(const Piece& piece) {
    std::vector<Output> live;
    std::set<ValueId> taken;
    const std::map<ValueId, std::int32_t> writes = last_writes(piece);
    // No result of the step is read by anybody: the program may return them all. Else those that are not read are
    // by-products, such as the statistics of batch norm.
    const auto nothing_read = [&](std::int32_t index) {
        return std::ranges::all_of(recording_.results(index),
                                   [&](ValueId id) { return recording_.value(id).uses.empty(); });
    };
    const auto add = [&](ValueId id, bool unread) {
        const TracedValue& value = recording_.value(id);
        const bool read_later = std::ranges::any_of(
            value.uses, [&](std::int32_t use) { return !std::ranges::binary_search(piece.steps, use); });
        if (!read_later && !unread) return;
        if (taken.contains(id)) return;
        const ValueId base = cutter_.root(id, piece.number);
        const auto write = writes.find(base);
        if (write == writes.end()) {
            taken.insert(id);
            return live.push_back({id});
        }
        if (base != id && !is_computed(base, piece) && same_place(value.tensor, recording_.value(base).tensor)) {
            if (const auto source = sources_.find(base); source != sources_.end())
                sources_.insert_or_assign(id, source->second);
            return;
        }
        taken.insert(id);
        live.push_back({id, write->second > value.step ? recording_.order_after(write->second) : 0});
    };
    for (const std::int32_t index : piece.steps) {
        for (const ValueId id : recording_.results(index))
            if (recording_.value(id).step == index) add(id, recording_.value(id).uses.empty() && nothing_read(index));
        const auto rewritten = recording_.values.rewritten.find(index);
        if (rewritten == recording_.values.rewritten.end()) continue;
        for (const ValueId id : rewritten->second)
            if (cutter_.shows_write(id, piece.number)) add(id, false);
    }
    // A tensor that was computed, then changed through a view, and that no op reads any more may be returned.
    for (const auto& write : writes) {
        const auto base = write.first;  // clang 14's lambdas cannot use a structured binding
        const auto& writer = write.second;
        const auto covers = [&](ValueId id) {
            return same_place(recording_.value(id).tensor, recording_.value(base).tensor);
        };
        const auto later = recording_.values.rewritten.find(writer);
        const bool read = later != recording_.values.rewritten.end() && std::ranges::any_of(later->second, covers);
        if (!is_computed(base, piece) || read || std::ranges::any_of(recording_.results(writer), covers)) continue;
        live.push_back({base, recording_.order_after(writer)});
    }
    return live;
}

bool PieceGraphs::is_computed(ValueId id, const Piece& piece) const {
    return cutter_.contains(piece.number, recording_.value(id).step);
}

void PieceGraphs::functionalize(CapturedGraph& captured, const Building& from, std::vector<Output>& outputs) const {
    Functionalized functional = whittle::functionalize(captured.graph);
    captured.graph = dce(functional.graph);
    const std::vector<NodeId> placeholders = captured.graph.placeholders();
    for (const MemoryUpdate& update : functional.updates) {
        if (const auto parameter = from.parameters.find(update.input); parameter != from.parameters.end()) {
            const std::string& path = recording_.value(parameter->second).name->path;
            captured.updates.push_back({Source::local("self").attribute(path), update.output});
            outputs.push_back({parameter->second, from.written.at(update.input)});
            continue;
        }
        const auto at = std::ranges::find_if(placeholders, [&](NodeId id) {
            return captured.graph.nodes[static_cast<std::size_t>(id)].name == update.input;
        });
        const Source& source = captured.sources.at(static_cast<std::size_t>(at - placeholders.begin()));
        captured.updates.push_back({source, update.output});
        outputs.push_back({from.inputs.at(source.text()), from.written.at(update.input)});
    }
}

/// The first write with which the piece, up to it, is no graph.
Refusal PieceGraphs::find_refusal(const Piece& piece, const std::string& reason) {
    std::int32_t last = piece.steps.back();
    Piece prefix{.number = piece.number, .steps = {}, .ended_by = {}};
    for (const std::int32_t step : piece.steps) {
        prefix.steps.push_back(step);
        if (!writes_memory(recording_.step(step))) continue;
        last = step;
        Building to{.piece = prefix};
        for (const std::int32_t index : prefix.steps) add_call(index, to);
        try {
            whittle::functionalize(to.graph.finish({})->graph);
        } catch (const Error& error) {
            return {step, recording_.step(step).op->target() + ": " + error.message()};
        }
    }
    return {last, reason};
}

// ---- Elements

std::optional<Tensor> PieceGraphs::tensor_of(const Output& output) const {
    const TracedValue& value = recording_.value(output.value);
    if (output.order) return elements_.before(value.tensor, output.order);
    if (value.snapshot) return recording_.file.tensor(recording_.file.snapshots[*value.snapshot]);
    return std::nullopt;
}

/// ", a result of aten.empty.memory_format,".
std::string PieceGraphs::unrecorded(const Output& output) const {
    const std::int32_t step = recording_.value(output.value).step;
    return step < 0 ? "" : ", a result of " + recording_.step(step).op->target() + ",";
}

/// The values that LibTorch had, where all of them were written down.
void PieceGraphs::fill_values(CapturedGraph& captured, const Building& from, const std::vector<Output>& outputs) const {
    if (!recording_.file.with_data) return;
    const auto add = [&](const Output& output, const std::string& name, std::vector<Tensor>& to) {
        if (const auto tensor = tensor_of(output))
            to.push_back(*tensor);
        else if (captured.unrecorded.empty())
            captured.unrecorded = "the elements of " + name + unrecorded(output) + " were not written down";
    };
    for (const Source& source : captured.sources)
        add({from.inputs.at(source.text()), read_at(from.inputs.at(source.text()), from.piece)}, source.text(),
            captured.inputs);
    const std::vector<NodeId> results = captured.graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i)
        add(outputs[i], "%" + captured.graph.node({results[i]}).name, captured.outputs);
    if (captured.inputs.size() != captured.sources.size()) captured.inputs.clear();
    if (captured.outputs.size() != outputs.size()) captured.outputs.clear();
}

}  // namespace whittle::libtorch
