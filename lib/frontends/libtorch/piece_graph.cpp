#include "frontends/libtorch/piece_graph.h"

#include <algorithm>
#include <set>

namespace whittle::libtorch {

using capture::CapturedGraph;
using capture::Source;

/// A piece while its graph is built: first as the program had it, with writes.
struct PieceGraphs::Building {
    const Piece& piece;
    capture::OutputGraph graph{"graph"};
    std::map<ValueId, NodeRef> nodes = {};
    std::map<std::string, ValueId> inputs = {};         ///< by the text of their source
    std::map<std::string, ValueId> parameters = {};     ///< by the name of their node
    std::map<std::string, std::uint64_t> written = {};  ///< inputs and parameters by name: order after the last write
    std::map<std::string, std::int32_t> writes = {};    ///< steps by the name of the call that writes
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
    } catch (const FunctionalizeError& error) {
        refusal = refusal_of(error, captured->graph, to);
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
    }
    bound.call.effect = true;  // what nobody reads was computed, too, and may be what fails
    const std::vector<NodeRef> made = to.graph.call(std::move(bound.call));
    const NodeId call =
        static_cast<NodeId>(to.graph.graph().nodes.size() - (numbers.count == 1 ? 1 : numbers.count + 1));
    for (std::size_t i = 0; i < results.size(); ++i)
        if (recording_.value(results[i]).step == index) to.nodes[results[i]] = made[numbers.defined[i]];
    node_names_[index] = to.graph.graph().nodes[static_cast<std::size_t>(call)].name;
    if (bound.writes) to.writes[node_names_[index]] = index;
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
    const capture::TensorKey key = key_of(id);
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

/// As the program calls it, where its probes told, else by what it is; the same in all graphs of the frame.
const Source& PieceGraphs::source_of(ValueId id) {
    const capture::TensorKey key = key_of(id);
    if (const Source* known = naming_.source(key)) return *known;
    naming_.know_origin(key, origin_of(id));
    if (const ProbedName* name = frame_.call ? frame_.call->name_of(recording_.value(id).tensor) : nullptr) {
        const Source variable = Source::local(name->name);
        naming_.know_variable(key, name->element < 0 ? variable : variable.item(name->element));
    }
    naming_.know(key, naming_.take(key));
    return *naming_.source(key);
}

capture::Origin PieceGraphs::origin_of(ValueId id) const {
    using capture::Origin;
    const std::int32_t step = recording_.value(id).step;
    if (step < 0 || !std::ranges::binary_search(frame_.steps, step)) return Origin::argument;
    const OpName& op = *recording_.step(step).op;
    if (is_random(op)) return Origin::random;
    if (recording_.is_filling(step)) return Origin::constant;
    return makes_memory(op) ? Origin::memory : Origin::live;
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

/// When the frame returned, as probes told. Nothing for main, whose variables live to the end of the program.
std::optional<std::uint64_t> PieceGraphs::returned() const {
    return frame_.call && !frame_.root ? frame_.call->left : std::nullopt;
}

/// Somebody held a tensor that was the value when the frame returned.
bool PieceGraphs::is_alive(ValueId id) const { return recording_.values.is_held(id, *returned(), recording_.file); }

/// The program still held the value when the frame returned. Something else may have held the tensor: autograd for a
/// backward, a view its base. Then only a variable of that name tells that the program did.
bool PieceGraphs::outlives_frame(ValueId id) const {
    if (!is_alive(id)) return false;
    const TracedValue& value = recording_.value(id);
    if (frame_.call->is_variable(value.tensor)) return true;
    const auto keeps = [&](ValueId made) {
        const TensorRef& tensor = recording_.value(made).tensor;
        if (tensor.has(kRequiresGrad)) return true;
        return made != id && tensor.has(kHasStorage) && tensor.storage == value.tensor.storage && is_alive(made);
    };
    return std::ranges::none_of(value.uses,
                                [&](std::int32_t use) { return std::ranges::any_of(recording_.results(use), keeps); });
}

/// A later step reads the value, or it outlives the frame. Where nobody tells when the frame returned, what nobody
/// reads may be its result; of several results of an op those that are not read are by-products then, such
/// as the statistics of batch norm.
bool PieceGraphs::is_wanted(ValueId id, const Piece& piece) const {
    const TracedValue& value = recording_.value(id);
    const bool read_later = std::ranges::any_of(
        value.uses, [&](std::int32_t use) { return !std::ranges::binary_search(piece.steps, use); });
    if (read_later) return true;
    if (returned()) return outlives_frame(id);
    return value.result >= 0 && std::ranges::all_of(recording_.results(value.step), [&](ValueId other) {
               return recording_.value(other).uses.empty();
           });
}

/// The value lost its elements to a write through another tensor, and what its own showed then is a value of its own.
bool PieceGraphs::is_told_later(ValueId id, std::int32_t writer) const {
    const auto later = recording_.values.rewritten.find(writer);
    if (later == recording_.values.rewritten.end()) return false;
    return std::ranges::any_of(later->second, [&](ValueId other) {
        return other != id && same_place(recording_.value(other).tensor, recording_.value(id).tensor);
    });
}

/// What is an input's new value is none: the input has it.
std::vector<PieceGraphs::Output> PieceGraphs::live_after(const Piece& piece) {
    std::vector<Output> live;
    std::set<ValueId> taken;
    const std::map<ValueId, std::int32_t> writes = last_writes(piece);
    const auto add = [&](ValueId id) {
        if (!is_wanted(id, piece) || taken.contains(id)) return;
        const TracedValue& value = recording_.value(id);
        const ValueId base = cutter_.root(id, piece.number);
        const auto write = writes.find(base);
        if (write == writes.end()) {
            taken.insert(id);
            return live.push_back({id});
        }
        if (base != id && !is_computed(base, piece) && same_place(value.tensor, recording_.value(base).tensor)) {
            if (const Source* source = naming_.source(key_of(base))) naming_.know(key_of(id), Source(*source));
            return;
        }
        if (is_told_later(id, write->second)) return;
        taken.insert(id);
        const bool own = write->second <= value.step && value.snapshot;
        live.push_back({id, own ? 0 : recording_.order_after(write->second)});
    };
    for (const std::int32_t index : piece.steps) {
        for (const ValueId id : recording_.results(index))
            if (recording_.value(id).step == index) add(id);
        const auto rewritten = recording_.values.rewritten.find(index);
        if (rewritten == recording_.values.rewritten.end()) continue;
        for (const ValueId id : rewritten->second)
            if (cutter_.shows_write(id, piece.number)) add(id);
    }
    // A tensor that was computed, then changed through a view, and that no op reads any more may be returned.
    for (const auto& write : writes) {
        const auto base = write.first;  // clang 14's lambdas cannot use a structured binding
        const auto& writer = write.second;
        const auto covers = [&](ValueId id) {
            return same_place(recording_.value(id).tensor, recording_.value(base).tensor);
        };
        if (!is_computed(base, piece) || is_told_later(base, writer)) continue;
        if (std::ranges::any_of(recording_.results(writer), covers)) continue;
        if (taken.contains(base) || (returned() && !is_alive(base))) continue;
        live.push_back({base, recording_.order_after(writer)});
    }
    return live;
}

bool PieceGraphs::is_computed(ValueId id, const Piece& piece) const {
    return cutter_.contains(piece.number, recording_.value(id).step);
}

void PieceGraphs::functionalize(CapturedGraph& captured, const Building& from, std::vector<Output>& outputs) const {
    Functionalized functional = whittle::functionalize(captured.graph);
    captured.graph = std::move(functional.graph);
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

/// The write that the pass failed at, or the last one before the read that it failed at.
Refusal PieceGraphs::refusal_of(const FunctionalizeError& error, const Graph& graph, const Building& from) const {
    for (NodeId id = error.node; id >= 0; --id)
        if (const auto step = from.writes.find(graph.node({id}).name); step != from.writes.end())
            return {step->second, recording_.step(step->second).op->target() + ": " + error.message()};
    throw error;
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
