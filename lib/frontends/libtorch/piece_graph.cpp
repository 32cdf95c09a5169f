#include "frontends/libtorch/piece_graph.h"

#include <algorithm>

namespace whittle::libtorch {

using capture::CapturedGraph;
using capture::GraphBreak;
using capture::Source;

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
    captured->order = static_cast<std::int64_t>(recording_.step(piece.steps.front()).order());
    captured->number = piece.number;
    captured->differentiates = differentiated();
    captured->partial = piece.partial;
    if (!piece.partial.empty()) captured->partial_calls = partly_differentiated();
    return captured;
}

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

}  // namespace whittle::libtorch
