// PieceGraphs: the calls of a piece, issued to the builder.
#include <algorithm>
#include <set>

#include "frontends/libtorch/piece_graph.h"

namespace whittle::libtorch {

using capture::GraphBreak;

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
        if (const auto number = host_value(one.number); number && words.text(one.function) == code_of(frame_.function))
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

}  // namespace whittle::libtorch
