#include "frontends/libtorch/cutter.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "frontends/libtorch/breaks.h"
#include "graph/text.h"
#include "ops/aten/capture.h"
#include "ops/aten/data_sizes.h"
#include "ops/core/registry.h"
#include "tensor/reach.h"

namespace whittle::libtorch {
namespace {

using capture::BreakKind;
using capture::GraphBreak;

constexpr std::int32_t kNoPiece = -1;

/// Every element of `view` is one of `whole`, which has them side by side.
bool covers(const TensorRef& whole, const TensorRef& view) {
    if (whole.dtype != view.dtype || whole.strides != contiguous_strides(whole.sizes)) return false;
    const std::optional<Reach> reached = reach(view.sizes, view.strides);
    return reached && element_count(view.sizes) > 0 && view.offset + reached->first >= whole.offset &&
           view.offset + reached->last < whole.offset + element_count(whole.sizes);
}

/// Output between ops matters only if ops follow.
bool separates_only(const Step& step) { return step.kind == StepKind::io; }

}  // namespace

Cutter::Cutter(const Recording& recording, bool dynamic_shapes)
    : recording_(recording), dynamic_shapes_(dynamic_shapes), piece_of_(recording.steps.size(), kNoPiece) {
    const auto count = static_cast<ValueId>(recording.values.values.size());
    for (ValueId id = 0; id < count; ++id)
        if (recording.value(id).tensor.has(kHasStorage)) of_storage_[recording.value(id).tensor.storage].push_back(id);
}

namespace {
constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();
}

/// A frame while it is cut.
struct Cutter::Cut {
    FramePlan plan;
    Piece piece;
    std::optional<GraphBreak> pending = {};  ///< output, until ops follow
    std::vector<StackFrame> pass = {};       ///< of the backward pass that runs: where it was called
    std::int32_t lent = kNever;              ///< the first step of another thread that reads what the piece made
    std::int32_t passes = 0;                 ///< that began
    std::set<std::int32_t> cut_passes = {}, through_passes = {};  ///< by Piece::pass

    /// At a step that stands for so many.
    void stop(GraphBreak why, std::int64_t times, std::int32_t next) {
        why.count = times;
        plan.breaks.push_back(why);
        end(std::move(why), next);
    }
    void end(std::optional<GraphBreak> why, std::int32_t next) {
        if (!piece.steps.empty()) {
            piece.ended_by = std::move(why);
            plan.pieces.push_back(std::move(piece));
        }
        piece = {.number = next, .steps = {}, .ended_by = {}};
        lent = kNever;
    }
    /// The piece has a step of the last pass that began.
    void add_to_pass(bool through_pass) {
        piece.pass = passes;
        if (!plan.pieces.empty() && plan.pieces.back().pass == passes) cut_passes.insert(passes);
        if (through_pass) through_passes.insert(passes);
    }
    void tell_partial() {
        for (Piece& known : plan.pieces) {
            if (known.pass == 0) continue;
            if (through_passes.contains(known.pass))
                known.partial = "the backward pass differentiates an earlier backward pass";
            else if (cut_passes.contains(known.pass))
                known.partial = "the graph is a part of a backward pass";
        }
    }
};

/// "After the last operation" is no advice for what stands there, behind `last`. A value that is read in each iteration
/// of a loop can still be read behind the loop.
void Cutter::drop_late_hints(FramePlan& plan, std::int64_t last) const {
    const auto is_repeated = [&](const GraphBreak& why) {
        return why.count > 1 || has_others_like(*plan.steps) ||
               std::ranges::any_of(plan.breaks, [&](const GraphBreak& other) {
                   return other.order < why.order && other.stack == why.stack;
               });
    };
    const auto drop = [&](GraphBreak& why) {
        if (why.order <= last) return;
        const bool reads = why.kind == BreakKind::item && why.hint == capture::info(why.kind).hint;
        if (why.kind == BreakKind::data_pointer || why.kind == BreakKind::compare || (reads && !is_repeated(why)))
            why.hint = "";
    };
    std::ranges::for_each(plan.breaks, drop);
    if (!plan.pieces.empty() && plan.pieces.back().ended_by) drop(*plan.pieces.back().ended_by);
}

/// It is one of several executions of its function, or of several iterations of a loop.
bool Cutter::has_others_like(const FrameSteps& frame) const {
    return frame.times + frame.alike > 1 || std::ranges::any_of(recording_.frames.frames, [&](const FrameSteps& other) {
               return other.function == frame.function && other.file == frame.file &&
                      other.steps.front() != frame.steps.front();
           });
}

FramePlan Cutter::plan(const FrameSteps& frame) {
    Cut cut{.plan = {&frame, {}, {}}, .piece = {.number = next_piece_++, .steps = {}, .ended_by = {}}};
    for (const std::int32_t index : frame.steps) {
        piece_of_[static_cast<std::size_t>(index)] = kNoPiece;
        broken_.erase(index);
    }
    const auto with_hint = [&](GraphBreak why, std::int32_t index) {
        why.hint = hint_at(recording_, index, why);
        why.order = static_cast<std::int64_t>(recording_.step(index).order());
        return why;
    };
    std::int32_t last = -1;
    for (const std::int32_t index : frame.steps) {
        const Step& step = recording_.step(index);
        if (step.kind == StepKind::blob) continue;
        std::optional<GraphBreak> why = break_of(recording_, index, dynamic_shapes_);
        if (why && separates_only(step)) {
            if (cut.piece.steps.empty() || cut.pending) continue;
            cut.pending = with_hint(std::move(*why), index);
            cut.pending->count = step.times();
            continue;
        }
        if (const auto reason = refused_.find(index); !why && reason != refused_.end())
            why = GraphBreak{BreakKind::mutation, reason->second, step.op->target(), recording_.stack(index)};
        // What computes nothing that a graph could: its results are inputs of what follows.
        if (!why && step.kind == StepKind::op && !prepare(index, why) && !why) continue;
        if (cut.pending) {  // the statement it belongs to is a break of its own when that comes next
            if (!why) cut.stop(*cut.pending, cut.pending->count, next_piece_++);
            cut.pending.reset();
        }
        if (why) {
            broken_.insert(index);
            if (step.backward) cut.cut_passes.insert({cut.passes, cut.passes + 1});  // of this one or the next
            cut.stop(with_hint(std::move(*why), index), step.times(), next_piece_++);
            continue;
        }
        // The backward pass is a graph of its own.
        const bool in_pass = last >= 0 && recording_.step(last).backward;
        if (std::optional<GraphBreak> pass = backward_break(index, cut.pass, in_pass)) {
            cut.stop(with_hint(std::move(*pass), index), step.times(), next_piece_++);
            ++cut.passes;
        } else if (in_pass && !step.backward) {
            cut.end(std::nullopt, next_piece_++);
        }
        // Another frame ran in between: what it read has to be computed before, what it made after.
        if (frame.holes && last >= 0 && others_between(frame, last, index)) cut.end(std::nullopt, next_piece_++);
        // Another thread made what it reads, of what the piece made: neither graph could run before the other.
        if (!cut.piece.steps.empty() && cut.lent <= last_foreign(index)) cut.end(std::nullopt, next_piece_++);
        std::optional<GraphBreak> before = write_break(index, cut.piece);
        if (!before && !cut.piece.steps.empty()) before = unseen_write_break(index);
        if (const auto end = ends_.find(index); !before && end != ends_.end()) before = end->second;
        if (before) cut.stop(with_hint(std::move(*before), index), step.times(), next_piece_++);
        cut.piece.steps.push_back(index);
        if (step.backward) cut.add_to_pass(recording_.through_pass[static_cast<std::size_t>(index)]);
        cut.lent = std::min(cut.lent, first_foreign_use(index));
        piece_of_[static_cast<std::size_t>(index)] = cut.piece.number;
        last = index;
    }
    if (frame.raised)
        cut.stop(exception_of(recording_, *frame.raised), recording_.step(frame.steps.back()).times(), next_piece_++);
    else
        cut.end(std::nullopt, next_piece_++);
    if (last >= 0) drop_late_hints(cut.plan, static_cast<std::int64_t>(recording_.step(last).order()));
    cut.tell_partial();
    return std::move(cut.plan);
}

bool Cutter::writes_part(std::int32_t index) const {
    const Step& step = recording_.step(index);
    if (!writes_argument(*step.op) || step.begin->values.empty()) return false;
    const TensorRef* const written = step.begin->values.front().tensor();
    if (!written || !written->has(kHasStorage)) return false;
    const auto sharing = of_storage_.find(written->storage);
    return sharing != of_storage_.end() && std::ranges::any_of(sharing->second, [&](ValueId id) {
               return element_count(recording_.value(id).tensor.sizes) > element_count(written->sizes);
           });
}

/// False when the op does not enter a graph: because it computes nothing that a graph could (its results are inputs of
/// what follows), or for the reason that it gives.
bool Cutter::prepare(std::int32_t index, std::optional<GraphBreak>& why) const {
    const auto refuse = [&](BreakKind kind, std::string reason) {
        why = GraphBreak{kind, std::move(reason), recording_.step(index).op->target(), recording_.stack(index)};
        return false;
    };
    if (recording_.is_filling(index)) return false;
    Graph operands;  // the call alone, to ask whether Whittle's op is LibTorch's
    std::map<ValueId, NodeRef> nodes;
    const BoundCall bound = bind_call(recording_.step(index), [&](std::size_t n) {
        const ValueId id = recording_.reads(index).at(n);
        const auto known = nodes.find(id);
        if (known != nodes.end()) return known->second;
        return nodes[id] = operands.placeholder("operand", recording_.values.meta(id));
    });
    for (const ValueId id : recording_.results(index)) {
        const TensorRef& made = recording_.value(id).tensor;
        const bool says_more =
            bound.problem.empty() || made.has(kHasStorage);  // an op of its own marks a view by a flag
        if (const std::string obstacle = made.obstacle(); !obstacle.empty() && says_more)
            return refuse(BreakKind::foreign_value, obstacle);
    }
    if (!bound.problem.empty()) return refuse(bound.kind, bound.problem);
    if (is_random(*recording_.step(index).op) && writes_part(index))
        return refuse(BreakKind::mutation,
                      recording_.step(index).op->target() + " fills a part of a tensor with random numbers");
    if (bound.random) return false;
    // Nothing new: contiguous() of a contiguous tensor.
    const std::vector<ValueId>& results = recording_.results(index);
    if (std::ranges::none_of(results, [&](ValueId id) { return recording_.value(id).step == index; })) return false;
    if (bound.opaque || bound.statistics) return true;
    const std::string difference = disagreement(index, operands, bound);
    return difference.empty() || refuse(BreakKind::disagreement, difference);
}

/// Whittle's idea of the results against what LibTorch made; empty when they agree.
std::string Cutter::disagreement(std::int32_t index, const Graph& operands, const BoundCall& bound) const {
    const std::string target = recording_.step(index).op->target();
    const std::vector<ValueId>& results = recording_.results(index);
    try {
        const ResultNumbers numbers = result_numbers(*recording_.step(index).end);
        Node call{.target = bound.call.target, .args = bound.call.args, .kwargs = bound.call.kwargs};
        if (!data_sized_results(call).empty())  // whose sizes only LibTorch can tell
            for (const ValueId id : results) call.results.push_back(recording_.values.meta(id));
        const std::vector<ValueMeta> metas = infer(operands, call);
        if (metas.size() != numbers.count)
            return target + ": LibTorch returned " + std::to_string(numbers.count) + " results, Whittle expected " +
                   std::to_string(metas.size());
        for (std::size_t i = 0; i < results.size(); ++i) {
            const ValueMeta meta = recording_.values.meta(results[i]), &ours = metas[numbers.defined.at(i)];
            if (recording_.value(results[i]).uses.empty() && metas.size() > 1) continue;
            // What is written takes the dtype of the tensor that it is written to.
            if ((meta.dtype != ours.dtype && !bound.writes) || meta.sizes != ours.sizes)
                return target + ": LibTorch returned " + print(meta) + ", Whittle expected " + print(ours);
        }
    } catch (const Error& error) {
        return target + ": " + error.message();
    }
    return {};
}

/// By Whittle's schema: the results of unsafe_split and the like count as memory of their own, though they share it.
bool Cutter::shows_argument(const Step& step) const {
    if (writes_memory(step)) return true;
    const Schema* schema = Registry::instance().find(functional_target(*step.op));
    return schema && !schema->returns.empty() && !schema->returns.front().alias.empty();
}

ValueId Cutter::root(ValueId id, std::int32_t piece) const {
    for (;;) {
        const TracedValue& value = recording_.value(id);
        if (!contains(piece, value.step)) {
            const ValueId whole = base(id, piece);
            return whole >= 0 ? whole : id;
        }
        if (value.before >= 0) {
            id = value.before;
            continue;
        }
        if (!shows_argument(recording_.step(value.step))) return id;
        const std::vector<ValueId>& reads = recording_.reads(value.step);
        const auto same = std::ranges::find_if(reads, [&](ValueId read) {
            const TensorRef& other = recording_.value(read).tensor;
            return value.tensor.has(kHasStorage) ? other.storage == value.tensor.storage : other.id == value.tensor.id;
        });
        if (same == reads.end() || *same == id) return id;
        id = *same;
    }
}

ValueId Cutter::base(ValueId id, std::int32_t piece) const {
    const TensorRef& tensor = recording_.value(id).tensor;
    const auto found = bases_.find({piece, tensor.storage});
    return found == bases_.end() || !tensor.has(kHasStorage) ? -1 : found->second;
}

/// A step of the piece made it or read it, or it is a view of what the piece reads.
bool Cutter::is_present(ValueId id, std::int32_t piece) const {
    const TracedValue& value = recording_.value(id);
    if (!contains(piece, value.step) && base(id, piece) >= 0) return true;
    if (contains(piece, value.step)) return value.before < 0 || is_present(value.before, piece);
    return std::ranges::any_of(value.uses, [&](std::int32_t use) { return contains(piece, use); });
}

bool Cutter::shows_write(ValueId id, std::int32_t piece) const {
    const TracedValue& value = recording_.value(id);
    if (value.before < 0 || !contains(piece, value.step) || !is_present(value.before, piece)) return false;
    const ValueId memory = root(value.before, piece);
    return recording_.values.is_statistic(id) ||
           std::ranges::any_of(recording_.results(value.step),
                               [&](ValueId result) { return root(result, piece) == memory; });
}

/// The tensor was changed by that write and by no other that nobody saw.
bool Cutter::is_whole_version(ValueId id, std::int32_t writer) const {
    const Step& step = recording_.step(writer);
    const TensorRef& tensor = recording_.value(id).tensor;
    // Running statistics are written without a result that shows it.
    return step.end && std::ranges::any_of(step.end->values, [&](const EventValue& value) {
               const TensorRef* written = value.tensor();
               return written && written->storage == tensor.storage && written->version == tensor.version;
           });
}

/// Makes what the piece and the step read of one memory views of the tensor that shows all of it, if there is one.
bool Cutter::find_base(std::int32_t index, const Piece& piece, std::int32_t writer, ValueId read) {
    const TensorRef& tensor = recording_.value(read).tensor;
    const auto there = of_storage_.find(tensor.storage);
    if (there == of_storage_.end() || !tensor.has(kHasStorage) || !is_whole_version(read, writer)) return false;
    std::vector<std::int32_t> steps = piece.steps;
    steps.push_back(index);
    const auto covers_all = [&](ValueId candidate) {
        return std::ranges::all_of(steps, [&](std::int32_t step) {
            return std::ranges::all_of(recording_.reads(step), [&](ValueId id) {
                const TensorRef& other = recording_.value(id).tensor;
                return other.storage != tensor.storage || covers(recording_.value(candidate).tensor, other);
            });
        });
    };
    ValueId best = -1;
    for (const ValueId id : there->second) {
        const TracedValue& value = recording_.value(id);
        // It held memory before the piece began to write there.
        const bool before = value.step >= 0 ? value.step < piece.steps.front()
                                            : value.written_by < piece.steps.front() && value.first_use <= writer;
        if (!before || !value.tensor.has(kPlain) || !covers_all(id)) continue;
        if (best < 0 || element_count(value.tensor.sizes) >= element_count(recording_.value(best).tensor.sizes))
            best = id;
    }
    if (best < 0) return false;
    bases_[{piece.number, tensor.storage}] = best;
    return true;
}

/// The last step of another thread that made something that the step reads; -1: there is none.
std::int32_t Cutter::last_foreign(std::int32_t index) const {
    std::int32_t last = -1;
    for (const ValueId id : recording_.reads(index))
        if (const std::int32_t made = recording_.value(id).step; made >= 0 && is_foreign(made, index))
            last = std::max(last, made);
    return last;
}

/// The first step of another thread that reads a result of the step.
std::int32_t Cutter::first_foreign_use(std::int32_t index) const {
    std::int32_t first = kNever;
    for (const ValueId id : recording_.results(index))
        for (const std::int32_t use : recording_.value(id).uses)
            if (is_foreign(use, index)) first = std::min(first, use);
    return first;
}

/// The op is the first of a backward pass: it has a stack unlike that of the pass before it.
std::optional<GraphBreak> Cutter::backward_break(std::int32_t index, std::vector<StackFrame>& pass, bool within) const {
    if (!recording_.step(index).backward) return std::nullopt;
    // The user's part of a stack ends in the call of backward(); a backward function of the user's may lie above.
    const std::vector<StackFrame>& stack = recording_.stack(index);
    const auto common = static_cast<std::ptrdiff_t>(std::min(stack.size(), pass.size()));
    const bool same = within && std::equal(stack.end() - common, stack.end(), pass.end() - common);
    if (!same || stack.size() < pass.size()) pass = stack;
    if (same) return std::nullopt;
    GraphBreak why{.kind = BreakKind::backward, .reason = "backward pass", .stack = stack};
    if (const std::string text = statement(stack); !text.empty()) {
        why.brief = why.reason;
        why.reason += ": " + text;
    }
    return why;
}

/// The step reads memory that an op of the piece changed through another tensor, and the piece does not know that the
/// two share it: a graph of both would read the old value.
std::optional<GraphBreak> Cutter::write_break(std::int32_t index, const Piece& piece) {
    for (const ValueId id : recording_.reads(index)) {
        const TracedValue& value = recording_.value(id);
        const std::int32_t writer = value.before >= 0 ? value.step : value.written_by;
        const ValueId known = base(id, piece.number);
        const bool beyond =
            known >= 0 && !contains(piece.number, value.step) && !covers(recording_.value(known).tensor, value.tensor);
        if (!beyond) {
            if (!contains(piece.number, writer) || (value.before < 0 && (value.step >= 0 || value.first_use != index)))
                continue;
            if (shows_write(id, piece.number) || find_base(index, piece, writer, id)) continue;
        }
        if (writer < 0)
            return GraphBreak{BreakKind::mutation, "a tensor shares memory that the program wrote to", "",
                              recording_.stack(index)};
        const OpName& op = *recording_.step(writer).op;
        return GraphBreak{BreakKind::mutation,
                          op.target() + " wrote to memory that another tensor shares, and " +
                              recording_.step(index).op->target() + " then reads that tensor",
                          op.target(), recording_.stack(writer)};
    }
    return std::nullopt;
}

/// The step reads memory that the program wrote to through a pointer since the piece began.
std::optional<GraphBreak> Cutter::unseen_write_break(std::int32_t index) const {
    for (const ValueId id : recording_.reads(index))
        if (const TracedValue& value = recording_.value(id); value.unseen && value.first_use == index)
            return GraphBreak{BreakKind::data_pointer,
                              "the program wrote to a tensor through a pointer, and " +
                                  recording_.step(index).op->target() + " then reads this tensor",
                              recording_.step(index).op->target(), recording_.stack(index)};
    return std::nullopt;
}

bool Cutter::others_between(const FrameSteps& frame, std::int32_t from, std::int32_t to) const {
    for (std::int32_t i = from + 1; i < to; ++i)
        if (recording_.step(i).thread == frame.thread && recording_.step(i).kind == StepKind::op &&
            !std::ranges::binary_search(frame.steps, i))
            return true;
    return false;
}

}  // namespace whittle::libtorch
