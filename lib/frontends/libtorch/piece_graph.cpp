#include "frontends/libtorch/piece_graph.h"

#include <algorithm>
#include <set>

#include "ops/aten/capture.h"
#include "tensor/reach.h"

namespace whittle::libtorch {

using capture::CapturedGraph;
using capture::GraphBreak;
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

void PieceGraphs::find_wanted(const Piece& piece) {
    piece_ = &piece;
    liveness_.begin(piece);
    WantedResults::Results& wanted = wanted_[wanted_.key(piece, frame_.function)];
    for (std::size_t at = 0; at < piece.steps.size(); ++at) {
        const std::vector<ValueId>& results = recording_.results(piece.steps[at]);
        for (std::size_t i = 0; i < results.size(); ++i)
            if (recording_.value(results[i]).step == piece.steps[at] && liveness_.is_wanted(results[i]))
                wanted.emplace(at, i);
    }
}

std::optional<CapturedGraph> PieceGraphs::build(const Piece& piece, std::optional<Refusal>& refusal) {
    piece_ = &piece;
    liveness_.begin(piece);
    wanted_elsewhere_ = &wanted_[wanted_.key(piece, frame_.function)];
    builder_.begin("graph");
    known_.clear();
    write_calls_.clear();
    library_calls_.clear();
    named_numbers_.clear();
    for (const std::int32_t index : piece.steps)
        if (std::optional<GraphBreak> why = add_call(index)) {
            refusal = {index, std::move(*why)};
            return std::nullopt;
        }
    const Writes writes = liveness_.last_writes();
    std::vector<Output> outputs = live_after(writes);
    std::vector<NodeRef> results;
    for (const Output& output : outputs) results.push_back(builder_.node_of(operand_of(output.value, -1)));
    std::optional<CapturedGraph> captured = builder_.close(results, piece.ended_by);
    if (!captured) return std::nullopt;
    const Inputs values = inputs(writes);
    try {
        functionalize(*captured, [&](const Source& written) { return is_update(values.at(written), writes); });
    } catch (const FunctionalizeError& error) {
        refusal = refusal_of(error, captured->graph);
        return std::nullopt;
    }
    for (const capture::InputUpdate& update : captured->updates) {
        const ValueId written = values.at(update.source);
        const auto last = writes.find(written);
        if (last == writes.end()) {
            refusal = contradiction();
            return std::nullopt;
        }
        outputs.push_back({written, recording_.order_after(last->second, written)});
    }
    fill_values(*captured, values, outputs);
    captured->library_calls = library_calls_;
    captured->named_numbers = named_numbers_;
    captured->number = piece.number;
    captured->differentiates = differentiated();
    captured->partial = piece.partial;
    if (!piece.partial.empty()) captured->partial_calls = partly_differentiated();
    return captured;
}

/// Why the graph has to end before the step.
std::optional<GraphBreak> PieceGraphs::add_call(std::int32_t index) {
    const std::vector<ValueId>&reads = recording_.reads(index), &results = recording_.results(index);
    std::vector<ValueId> values;
    std::vector<capture::Operand> operands;
    BoundCall bound = bind_call(recording_.step(index), [&](std::size_t n) {
        values.push_back(reads.at(n));
        operands.push_back(operand_of(reads.at(n), index));
        return NodeRef{static_cast<NodeId>(operands.size() - 1)};
    });
    Node& call = bound.call;
    const ResultNumbers numbers = result_numbers(*recording_.step(index).end);
    // What is undefined in LibTorch is an empty tensor here.
    call.results.assign(numbers.count, ValueMeta::contiguous(recording_.values.meta(results.front()).dtype, {0}));
    for (std::size_t i = 0; i < results.size(); ++i)
        call.results[numbers.defined[i]] = recording_.values.meta(results[i]);
    call.stack = recording_.stack(index);
    call.module_path = module_path(index);
    std::string functional;  // of a write
    if (!bound.in_place.empty()) functional = std::exchange(call.target, bound.in_place);
    if (bound.on_copies) copy_written(index, values, operands);
    // What nobody reads was computed, too, and may be what fails: it stays.
    std::variant<capture::Placed, GraphBreak> outcome =
        builder_.issue({.call = call, .functional = functional, .operands = operands, .nested = {}, .effect = true});
    std::vector<NodeRef> made, writers;  // the results; the calls that write
    if (const auto* placed = std::get_if<capture::Placed>(&outcome)) {
        for (const capture::Placed::Result& result : placed->results) made.push_back(result.node);
        writers = {placed->call};
        if (made.empty()) made = writers;
        add_numbers(index, builder_.graph().graph().node(placed->call).name);
        if (bound.writes && functional.empty()) outcome = write_outs(index, call, made, writers, values);
    }
    if (GraphBreak* why = std::get_if<GraphBreak>(&outcome)) {
        why->op = recording_.step(index).op->target();
        why->stack = recording_.stack(index);
        return std::move(*why);
    }
    for (std::size_t i = 0; i < results.size(); ++i)
        if (recording_.value(results[i]).step == index) add_result(results[i], made.at(numbers.defined[i]), values);
    const auto name = [&](NodeRef node) { return builder_.graph().graph().node(node).name; };
    node_names_[index] = name(writers.back());
    if (!recording_.library(index).empty())
        for (const NodeRef writer : writers) library_calls_.insert(name(writer));
    if (bound.statistics)
        for (const ValueId id : recording_.written_values(index)) builder_.write(operand_of(id, index), call.target);
    if (bound.writes || bound.statistics)
        for (const NodeRef writer : writers) write_calls_[name(writer)] = index;
    return std::nullopt;
}

/// Which of the frame's variables had the numbers that the call got.
void PieceGraphs::add_numbers(std::int32_t index, const std::string& call) {
    const auto known = recording_.file.numbers.find(recording_.step(index).stack);
    if (known == recording_.file.numbers.end()) return;
    const Words& words = recording_.file.words;
    for (const NumberName& one : known->second)
        if (const auto number = host_value(one.number); number && words.text(one.function) == frame_.function)
            named_numbers_.push_back({call, *number, words.text(one.name)});
}

/// Puts copies in the place of those `operands`, which are `values`, that the step writes to.
void PieceGraphs::copy_written(std::int32_t index, const std::vector<ValueId>& values,
                               std::vector<capture::Operand>& operands) {
    const Node copy{.target = "aten.clone.default", .args = {Arg(NodeRef{0})}, .stack = recording_.stack(index)};
    const std::vector<ValueId> written = recording_.written_values(index);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (std::ranges::find(written, values[i]) == written.end()) continue;
        const auto outcome =
            builder_.issue({.call = copy, .functional = {}, .operands = {&operands[i], 1}, .nested = {}});
        // What ends the graph before the copy does so before the step, too, which is issued next.
        if (const auto* placed = std::get_if<capture::Placed>(&outcome))
            operands[i] = {.meta = operands[i].meta, .node = placed->results.front().node};
    }
}

/// What was computed is copied to each `out`, which then is the result, and one of `operands`: the call that computes
/// does not read it.
std::variant<capture::Placed, GraphBreak> PieceGraphs::write_outs(std::int32_t index, Node call,
                                                                  std::vector<NodeRef>& made,
                                                                  std::vector<NodeRef>& writers,
                                                                  std::vector<ValueId>& operands) {
    const std::vector<ValueMeta> metas = std::move(call.results);
    const std::string target = "aten.copy_.default";
    call.target = target;
    call.args = {Arg(NodeRef{0}), Arg(NodeRef{1})};
    call.kwargs.clear();
    writers.clear();
    std::variant<capture::Placed, GraphBreak> outcome;
    for (const ValueId out : recording_.written_values(index)) {
        const std::size_t i = writers.size();
        call.results = {metas.at(i)};
        const capture::Operand copied[] = {operand_of(out, index), {.meta = &metas[i], .node = made.at(i)}};
        outcome =
            builder_.issue({.call = call, .functional = target, .operands = copied, .nested = {}, .effect = true});
        if (std::holds_alternative<GraphBreak>(outcome)) return outcome;
        operands.push_back(out);
        writers.push_back(made[i] = std::get<capture::Placed>(outcome).call);
    }
    return outcome;
}

/// It lies where the operand does whose memory it shows.
void PieceGraphs::add_result(ValueId id, NodeRef node, const std::vector<ValueId>& operands) {
    const TensorRef& tensor = recording_.value(id).tensor;
    Known result{.value = id, .meta = recording_.values.meta(id), .node = node};
    const auto shown = std::ranges::find_if(operands, [&](ValueId operand) {
        return tensor.has(kHasStorage) && recording_.value(operand).tensor.storage == tensor.storage;
    });
    if (shown != operands.end()) {  // an offset is in the tensor's own elements
        const auto width = [](const ValueMeta& meta) { return static_cast<std::int64_t>(size_of(meta.dtype)); };
        const std::int64_t begin = recording_.value(*shown).tensor.offset * width(recording_.values.meta(*shown));
        result.place =
            builder_.view(operand_of(*shown, -1), tensor.offset - begin / width(result.meta), result.meta.dtype);
    }
    known_.insert_or_assign(id, std::move(result));
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

/// The pieces whose calls' gradients this one computes; see CapturedGraph::differentiates.
std::vector<std::int64_t> PieceGraphs::differentiated() const {
    std::vector<std::int64_t> pieces;
    for (const std::int32_t index : piece_->steps) {
        const std::int32_t forward = recording_.forward[static_cast<std::size_t>(index)];
        const std::int64_t number = forward < 0 ? -1 : cutter_.piece_of(forward);
        if (forward >= 0 && std::ranges::find(pieces, number) == pieces.end()) pieces.push_back(number);
    }
    return pieces;
}

/// The calls, by name, whose gradients this piece and other steps of the frame compute together.
std::set<std::string> PieceGraphs::partly_differentiated() const {
    std::set<const Event*> elsewhere;
    for (const std::int32_t index : frame_.steps) {
        const std::int32_t number = cutter_.piece_of(index);
        const bool other = number >= 0 ? number != piece_->number : cutter_.is_break(index);
        if (const Event* node = recording_.step(index).node; node && other) elsewhere.insert(node);
    }
    std::set<std::string> calls;
    for (const std::int32_t index : piece_->steps) {
        const auto name = node_names_.find(recording_.forward[static_cast<std::size_t>(index)]);
        if (name != node_names_.end() && elsewhere.contains(recording_.step(index).node)) calls.insert(name->second);
    }
    return calls;
}

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
    } else if (const std::string* variable = recording_.file.variable_of(
                   recording_.value(id).tensor.id, frame_.function, recording_.step(frame_.steps.back()).order())) {
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

// ---- Results

/// What the piece wrote to the input stays there for somebody: the input is a parameter or buffer, or no memory that
/// the frame made itself, or its new value is wanted.
bool PieceGraphs::is_update(ValueId input, const Writes& writes) const {
    using capture::Origin;
    const auto last = writes.find(input);
    const TracedValue& value = recording_.value(input);
    if (value.step < 0 || value.name || last == writes.end()) return true;
    const Origin origin = origin_of(input);
    return origin == Origin::argument || origin == Origin::live || liveness_.is_wanted_after(input, last->second);
}

/// An equal piece has such a result, and somebody wants it.
bool PieceGraphs::is_wanted_elsewhere(ValueId id) const {
    const std::int32_t step = recording_.value(id).step;
    if (wanted_elsewhere_->empty() || step < 0) return false;
    const auto at = std::ranges::lower_bound(piece_->steps, step);
    const std::vector<ValueId>& results = recording_.results(step);
    const auto result = std::ranges::find(results, id);
    if (at == piece_->steps.end() || *at != step || result == results.end()) return false;
    return wanted_elsewhere_->contains(
        {static_cast<std::size_t>(at - piece_->steps.begin()), static_cast<std::size_t>(result - results.begin())});
}

/// What is an input's new value is none: the input has it.
std::vector<PieceGraphs::Output> PieceGraphs::live_after(const Writes& writes) {
    std::vector<Output> live;
    std::set<ValueId> taken;
    const auto add = [&](ValueId id) {
        if (taken.contains(id) || !(liveness_.is_wanted(id) || is_wanted_elsewhere(id))) return;
        const TracedValue& value = recording_.value(id);
        const ValueId base = cutter_.root(id, piece_->number);
        const auto write = writes.find(base);
        if (write == writes.end()) {
            taken.insert(id);
            return live.push_back({id});
        }
        if (base != id && !is_computed(base) && same_place(value.tensor, recording_.value(base).tensor)) {
            if (const Source* source = naming_.source(key_of(base))) naming_.know(key_of(id), Source(*source));
            return;
        }
        if (liveness_.is_told_later(id, write->second)) return;
        taken.insert(id);
        const bool own = write->second <= value.step && value.snapshot;
        live.push_back({id, own ? 0 : recording_.order_after(write->second, base)});
    };
    for (const std::int32_t index : piece_->steps) {
        for (const ValueId id : recording_.results(index))
            if (recording_.value(id).step == index) add(id);
        const auto rewritten = recording_.values.rewritten.find(index);
        if (rewritten == recording_.values.rewritten.end()) continue;
        for (const ValueId id : rewritten->second)
            if (cutter_.shows_write(id, piece_->number)) add(id);
    }
    // A tensor that was computed, then changed through a view, and that no op reads any more may be returned.
    for (const auto& write : writes) {
        const auto base = write.first;  // clang 14's lambdas cannot use a structured binding
        const auto& writer = write.second;
        const auto covers = [&](ValueId id) {
            return same_place(recording_.value(id).tensor, recording_.value(base).tensor);
        };
        if (!is_computed(base) || liveness_.is_told_later(base, writer)) continue;
        if (std::ranges::any_of(recording_.results(writer), covers)) continue;
        if (taken.contains(base) || !liveness_.may_be_held(base)) continue;
        live.push_back({base, recording_.order_after(writer, base)});
    }
    return live;
}

/// The write that the pass failed at, or the last one before the read that it failed at.
Refusal PieceGraphs::refusal_of(const FunctionalizeError& error, const Graph& graph) const {
    for (NodeId id = error.node; id >= 0; --id)
        if (const auto step = write_calls_.find(graph.node({id}).name); step != write_calls_.end())
            return {step->second, recording_.step(step->second).op->target() + ": " + error.message()};
    throw error;
}

/// The graph writes to an input that no operation of the program wrote, by what was recorded of their tensors: only a
/// damaged record says so. The last write is none of a graph's then.
Refusal PieceGraphs::contradiction() const {
    const auto step = [](const auto& entry) { return entry.second; };
    const std::int32_t last = std::ranges::max_element(write_calls_, {}, step)->second;
    return {last, recording_.step(last).op->target() + " writes to memory that belongs to none of the arguments"};
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
