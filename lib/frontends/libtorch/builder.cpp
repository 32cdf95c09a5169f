#include "frontends/libtorch/builder.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "frontends/libtorch/bind.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/registry.h"

namespace whittle::libtorch {

namespace {

using capture::BreakKind;
using capture::GraphBreak;
using capture::Source;

constexpr std::int32_t kNoPiece = -1;

bool is_dynamic_shape(const OpName& op) {
    constexpr std::string_view kOps[] = {"aten::nonzero",  "aten::masked_select", "aten::unique_dim",
                                         "aten::_unique2", "aten::_unique",       "aten::unique_consecutive",
                                         "aten::argwhere", "aten::bincount"};
    return std::ranges::find(kOps, op.name) != std::end(kOps);
}

std::string statement(const std::vector<StackFrame>& stack) {
    for (const StackFrame& frame : stack)
        if (!frame.text.empty()) return frame.text;
    return {};
}

/// What a step is to a graph, before arguments are looked at: nothing, or the reason to stop.
std::optional<GraphBreak> break_of(const Step& step, const std::vector<StackFrame>& stack) {
    const auto with_text = [&](const std::string& what, const std::string& otherwise) {
        const std::string text = statement(stack);
        return what + ": " + (text.empty() ? otherwise : text);
    };
    switch (step.kind) {
        case StepKind::io:
            return GraphBreak{BreakKind::side_effect, with_text("print", step.begin->text), "", stack};
        case StepKind::print:
            return GraphBreak{BreakKind::side_effect, with_text("print of a tensor", "at::print"), "", stack};
        case StepKind::data_pointer:
            return GraphBreak{BreakKind::data_pointer, with_text("data_ptr<" + step.begin->text + ">()", "the program"),
                              "", stack};
        case StepKind::backward:
            return GraphBreak{BreakKind::unregistered_op,
                              with_text("the backward pass, which autograd runs", "backward()"), "", stack};
        case StepKind::blob:
            return std::nullopt;
        case StepKind::op:
            break;
    }
    const std::string target = step.op->target();
    if (is_dynamic_shape(*step.op))
        return GraphBreak{BreakKind::dynamic_shape, target + " has a result whose sizes depend on values", target,
                          stack};
    if (step.op->flags & kReturnsOnlyHost) {
        const TensorRef* operand = step.begin->values.empty() ? nullptr : step.begin->values[0].tensor();
        if (step.op->name == "aten::equal" || step.op->name == "aten::allclose")
            return GraphBreak{BreakKind::compare, target + " compares whole tensors on the host", target, stack};
        const bool branch = step.op->name == "aten::is_nonzero" || (operand && operand->dtype == DType::boolean);
        return GraphBreak{branch ? BreakKind::branch : BreakKind::item,
                          with_text(branch ? "branch on a tensor's value" : "a tensor's value as a host value", target),
                          target, stack};
    }
    if (step.threw()) return GraphBreak{BreakKind::exception, target + " threw an exception", target, stack};
    return std::nullopt;
}

bool separates_only(const GraphBreak& entry) {
    return entry.kind == BreakKind::side_effect && entry.reason.starts_with("print: ");
}

/// A run of ops of a frame that become one graph.
struct Piece {
    std::vector<std::int32_t> steps;
    std::optional<GraphBreak> ended_by;
};

/// One frame while it is cut into pieces.
struct FramePlan {
    const FrameSteps* steps = nullptr;
    std::vector<Piece> pieces;
    std::vector<GraphBreak> breaks;
};

class Builder {
  public:
    Builder(const EventFile& file, const BuildOptions& options)
        : file_(file),
          symbolizer_(file.mappings),
          steps_(fold_backward(file, steps_of(file, options.level), symbolizer_)),
          values_(trace_values(file, steps_)),
          frames_(frames_of(file, steps_, values_, symbolizer_, options.functions)) {}

    CapturedProgram build() {
        CapturedProgram program;
        for (const Step& step : steps_)
            program.op_count += step.kind == StepKind::op ? 1 : step.kind == StepKind::backward ? step.backward_ops : 0;
        place_of_.assign(steps_.size(), kNoPiece);
        bound_.resize(steps_.size());
        std::vector<FramePlan> plans;
        for (const FrameSteps& frame : frames_.frames) plans.push_back(plan(frame));
        std::vector<int> runs;
        for (const FramePlan& frame : plans) {
            std::optional<capture::CapturedFrame> captured = build(frame);
            if (!captured) continue;
            const auto same = std::ranges::find_if(
                program.frames, [&](const capture::CapturedFrame& other) { return same_frame(other, *captured); });
            if (same != program.frames.end()) {
                ++runs[static_cast<std::size_t>(same - program.frames.begin())];
                continue;
            }
            program.frames.push_back(std::move(*captured));
            runs.push_back(1);
        }
        name_frames(program.frames);
        for (std::size_t i = 0; i < runs.size(); ++i)
            if (runs[i] > 1)
                program.notes.push_back(program.frames[i].name + " ran " + std::to_string(runs[i]) +
                                        " times with the same graphs, which are told once");
        add_notes(program);
        return program;
    }

  private:
    const std::vector<StackFrame>& stack(std::int32_t step) const {
        return frames_.stacks[static_cast<std::size_t>(step)];
    }
    const Step& step_at(std::int32_t step) const { return steps_[static_cast<std::size_t>(step)]; }
    const TracedValue& value_at(ValueId id) const { return values_.values[static_cast<std::size_t>(id)]; }

    // ---- Cutting

    FramePlan plan(const FrameSteps& frame) {
        FramePlan result{&frame, {}, {}};
        Piece piece;
        std::int32_t number = next_piece_++;
        std::optional<GraphBreak> pending;  // output that matters only if ops follow
        const auto cut = [&](std::optional<GraphBreak> why) {
            if (!piece.steps.empty()) {
                piece.ended_by = std::move(why);
                result.pieces.push_back(std::move(piece));
            }
            piece = {};
            number = next_piece_++;
        };
        std::int32_t last = -1;
        for (const std::int32_t index : frame.steps) {
            const Step& step = step_at(index);
            if (step.kind == StepKind::blob) continue;
            std::optional<GraphBreak> why = break_of(step, stack(index));
            if (why && separates_only(*why)) {
                if (!piece.steps.empty() && !pending) pending = std::move(why);
                continue;
            }
            if (!why && step.kind == StepKind::op && !prepare(index)) {
                // It computes nothing that a graph could: its results are inputs of what follows.
                const BoundCall& bound = *bound_[static_cast<std::size_t>(index)];
                if (bound.problem.empty()) continue;
                why = GraphBreak{BreakKind::unregistered_op, bound.problem, step.op->target(), stack(index)};
            }
            if (!why && reads_changed_memory(index, number)) change_break(index, result, cut);
            if (pending) {  // the statement it belongs to is a break of its own when that comes next
                if (!why) {
                    result.breaks.push_back(*pending);
                    cut(std::move(pending));
                }
                pending.reset();
            }
            if (why) {
                result.breaks.push_back(*why);
                cut(std::move(why));
                continue;
            }
            // Another frame ran in between: what it read has to be computed before, what it made after.
            if (frame.root && last >= 0 && others_between(frame, last, index)) cut(std::nullopt);
            piece.steps.push_back(index);
            place_of_[static_cast<std::size_t>(index)] = number;
            last = index;
        }
        cut(std::nullopt);
        return result;
    }

    /// Binds the op; false when it does not enter a graph: because it computes nothing that a graph could (its results
    /// are inputs of what follows), or for the reason in `problem`.
    bool prepare(std::int32_t index) {
        std::optional<BoundCall>& bound = bound_[static_cast<std::size_t>(index)];
        const auto& reads = values_.inputs[static_cast<std::size_t>(index)];
        const auto& results = values_.results[static_cast<std::size_t>(index)];
        Graph operands;  // the call alone, to ask whether Whittle's op is LibTorch's
        std::map<ValueId, NodeRef> nodes;
        bound = bind_call(step_at(index), [&](std::size_t n) {
            const auto known = nodes.find(reads.at(n));
            if (known != nodes.end()) return known->second;
            return nodes[reads.at(n)] = operands.placeholder("operand", values_.meta(reads.at(n)));
        });
        if (bound->random || !bound->problem.empty()) return false;
        // Nothing new: contiguous() of a contiguous tensor.
        if (std::ranges::none_of(results, [&](ValueId id) { return value_at(id).step == index; })) return false;
        for (const ValueId id : results)
            if (!value_at(id).tensor.dtype || !value_at(id).tensor.has(kPlain)) {
                bound->problem =
                    step_at(index).op->target() + ": a result of a type or layout that Whittle does not have";
                return false;
            }
        bound->problem = disagreement(index, operands, *bound);
        return bound->problem.empty();
    }

    /// Whittle's idea of the results against what LibTorch made; empty when they agree.
    std::string disagreement(std::int32_t index, const Graph& operands, const BoundCall& bound) const {
        const std::string target = step_at(index).op->target();
        const auto& results = values_.results[static_cast<std::size_t>(index)];
        try {
            const std::vector<ValueMeta> metas =
                infer(operands, {.target = bound.call.target, .args = bound.call.args, .kwargs = bound.call.kwargs});
            if (metas.size() != results.size())
                return target + ": Whittle knows " + std::to_string(metas.size()) + " results, LibTorch gave " +
                       std::to_string(results.size());
            for (std::size_t i = 0; i < metas.size(); ++i) {
                const ValueMeta meta = values_.meta(results[i]);
                if (value_at(results[i]).uses.empty() && metas.size() > 1) continue;
                if (meta.dtype != metas[i].dtype || meta.sizes != metas[i].sizes)
                    return target + ": Whittle infers " + print(metas[i]) + ", LibTorch gave " + print(meta);
            }
        } catch (const Error& error) {
            return target + ": " + error.message();
        }
        return {};
    }

    /// An argument's memory was changed through another tensor by an op of the piece: the graph cannot say that.
    bool reads_changed_memory(std::int32_t index, std::int32_t piece) const {
        return std::ranges::any_of(values_.inputs[static_cast<std::size_t>(index)], [&](ValueId id) {
            const TracedValue& value = value_at(id);
            return value.step < 0 && value.first_use == index && value.written_by >= 0 &&
                   place_of_[static_cast<std::size_t>(value.written_by)] == piece;
        });
    }
    template <class Cut>
    void change_break(std::int32_t index, FramePlan& result, Cut& cut) {
        for (const ValueId id : values_.inputs[static_cast<std::size_t>(index)]) {
            const TracedValue& value = value_at(id);
            if (value.step >= 0 || value.first_use != index || value.written_by < 0) continue;
            const OpName& writer = *step_at(value.written_by).op;
            GraphBreak why{BreakKind::mutation,
                           writer.target() + " wrote to memory that another tensor shares, which " +
                               step_at(index).op->target() + " then reads",
                           writer.target(), stack(value.written_by)};
            result.breaks.push_back(why);
            return cut(std::move(why));
        }
    }

    bool others_between(const FrameSteps& frame, std::int32_t from, std::int32_t to) const {
        for (std::int32_t i = from + 1; i < to; ++i)
            if (step_at(i).thread == frame.thread && step_at(i).kind == StepKind::op &&
                !std::ranges::binary_search(frame.steps, i))
                return true;
        return false;
    }

    // ---- Graphs

    /// The state of a frame while its graphs are built.
    struct FrameState {
        std::map<ValueId, Source> sources = {};
        std::int64_t live = 0, random = 0, arguments = 0;
        const FrameSteps* steps = nullptr;
    };

    std::optional<capture::CapturedFrame> build(const FramePlan& plan) {
        capture::CapturedFrame frame{
            .function = plan.steps->function, .file = plan.steps->file, .line = plan.steps->line};
        FrameState state{.steps = plan.steps};
        std::vector<capture::CapturedGraph> graphs;
        for (const Piece& piece : plan.pieces) {
            if (makes_only(piece)) {
                made_ += static_cast<std::int64_t>(piece.steps.size());
                for (const std::int32_t step : piece.steps) place_of_[static_cast<std::size_t>(step)] = kNoPiece;
                continue;
            }
            if (auto graph = build_piece(piece, state)) graphs.push_back(std::move(*graph));
        }
        if (graphs.empty()) return std::nullopt;
        frame.graphs = std::move(graphs);
        frame.breaks = plan.breaks;
        return frame;
    }

    /// Another execution of the same function that did the same.
    static bool same_frame(const capture::CapturedFrame& a, const capture::CapturedFrame& b) {
        return a.function == b.function && a.breaks == b.breaks &&
               std::ranges::equal(a.graphs, b.graphs,
                                  [](const capture::CapturedGraph& x, const capture::CapturedGraph& y) {
                                      return same_structure(x.graph, y.graph);
                                  });
    }

    /// "f", then "f_1", "f_2" …; a frame's graphs "f_0", "f_1" … where there are several. No two are called the same.
    static void name_frames(std::vector<capture::CapturedFrame>& frames) {
        std::set<std::string> taken;
        const auto graph_name = [](const capture::CapturedFrame& frame, const std::string& name, std::size_t i) {
            return frame.graphs.size() > 1 ? name + "_" + std::to_string(i) : name;
        };
        for (capture::CapturedFrame& frame : frames) {
            const std::string base = identifier(short_name(frame.function));
            const auto is_free = [&](const std::string& name) {
                if (taken.contains(name)) return false;
                for (std::size_t i = 0; i < frame.graphs.size(); ++i)
                    if (taken.contains(graph_name(frame, name, i))) return false;
                return true;
            };
            frame.name = base;
            for (int i = 1; !is_free(frame.name); ++i) frame.name = base + "_" + std::to_string(i);
            for (std::size_t i = 0; i < frame.graphs.size(); ++i) {
                Graph& graph = frame.graphs[i].graph;
                graph.name = graph_name(frame, frame.name, i);
                taken.insert(graph.name);
                verify(graph, Stage::captured, Registry::instance());
            }
            taken.insert(frame.name);
        }
    }

    static std::string short_name(const std::string& function) {
        const auto angle = function.find('<');
        const std::string plain = angle == std::string::npos || angle == 0 ? function : function.substr(0, angle);
        return plain.empty() ? "frame" : plain;
    }

    /// Ops without tensor arguments, and those that fill a tensor with one number.
    bool makes_only(const Piece& piece) const {
        return std::ranges::all_of(piece.steps, [&](std::int32_t step) {
            const std::string& name = step_at(step).op->name;
            return values_.inputs[static_cast<std::size_t>(step)].empty() || name == "aten::fill_" ||
                   name == "aten::zero_";
        });
    }

    std::optional<capture::CapturedGraph> build_piece(const Piece& piece, FrameState& state) {
        capture::OutputGraph graph("graph");
        std::map<ValueId, NodeRef> nodes;
        std::map<NodeId, ValueId> inputs;
        for (const std::int32_t index : piece.steps) add_call(index, graph, nodes, inputs, state);
        std::vector<ValueId> live = live_after(piece);
        std::vector<NodeRef> results;
        for (const ValueId id : live) results.push_back(nodes.at(id));
        auto captured = graph.finish(results, piece.ended_by);
        if (!captured) return std::nullopt;
        fill_values(*captured, graph, live, inputs);
        return captured;
    }

    void add_call(std::int32_t index, capture::OutputGraph& graph, std::map<ValueId, NodeRef>& nodes,
                  std::map<NodeId, ValueId>& inputs, FrameState& state) {
        const auto& reads = values_.inputs[static_cast<std::size_t>(index)];
        BoundCall bound = bind_call(
            step_at(index), [&](std::size_t n) { return node_of(reads.at(n), index, graph, nodes, inputs, state); });
        const auto& results = values_.results[static_cast<std::size_t>(index)];
        for (const ValueId id : results) bound.call.results.push_back(values_.meta(id));
        bound.call.stack = stack(index);
        const std::vector<NodeRef> made = graph.call(std::move(bound.call));
        for (std::size_t i = 0; i < results.size(); ++i)
            if (value_at(results[i]).step == index) nodes[results[i]] = made[i];
    }

    NodeRef node_of(ValueId id, std::int32_t reader, capture::OutputGraph& graph, std::map<ValueId, NodeRef>& nodes,
                    std::map<NodeId, ValueId>& inputs, FrameState& state) {
        if (const auto known = nodes.find(id); known != nodes.end()) return known->second;
        const TracedValue& value = value_at(id);
        const auto key = static_cast<capture::TensorKey>(id) + 1;
        NodeRef node;
        if (value.name) {
            const Tensor tensor = value.snapshot ? file_.tensor(file_.snapshots[*value.snapshot]) : blank(value.tensor);
            node = graph.parameter(value.name->path, tensor, key);
        } else {
            node = graph.input(source_of(id, state), values_.meta(id), key, stack(reader));
            inputs[node.id] = id;
        }
        nodes[id] = node;
        return node;
    }

    /// Elements nobody asks for: explain needs what they are, not what they hold.
    static Tensor blank(const TensorRef& tensor) {
        return Tensor(*tensor.dtype, tensor.sizes).with_requires_grad(tensor.has(kRequiresGrad));
    }

    const Source& source_of(ValueId id, FrameState& state) {
        const auto known = state.sources.find(id);
        if (known != state.sources.end()) return known->second;
        const TracedValue& value = value_at(id);
        const auto make = [&] {
            if (value.step >= 0 && in_same_frame(value.step, state)) {
                if (is_random(*step_at(value.step).op)) return Source::random(state.random++);
                return Source::live(state.live++);
            }
            return Source::local("arg" + std::to_string(state.arguments++));
        };
        return state.sources.emplace(id, make()).first->second;
    }
    bool in_same_frame(std::int32_t step, const FrameState& state) const {
        return std::ranges::binary_search(state.steps->steps, step);
    }

    /// Values of the piece that somebody reads later, or that nobody reads: those the program may return or keep.
    std::vector<ValueId> live_after(const Piece& piece) const {
        std::vector<ValueId> live;
        for (const std::int32_t index : piece.steps)
            for (const ValueId id : values_.results[static_cast<std::size_t>(index)]) {
                const TracedValue& value = value_at(id);
                if (value.step != index || std::ranges::find(live, id) != live.end()) continue;
                const bool read_later = std::ranges::any_of(
                    value.uses, [&](std::int32_t use) { return !std::ranges::binary_search(piece.steps, use); });
                if (read_later || (value.uses.empty() && nothing_read(index))) live.push_back(id);
            }
        return live;
    }

    /// No result of the step is read by anybody: the program may return them all. Else those that are not read are
    /// by-products, such as the statistics of batch norm.
    bool nothing_read(std::int32_t index) const {
        return std::ranges::all_of(values_.results[static_cast<std::size_t>(index)],
                                   [&](ValueId id) { return value_at(id).uses.empty(); });
    }

    /// The values that LibTorch had, where all of them were written down.
    void fill_values(capture::CapturedGraph& captured, const capture::OutputGraph& graph,
                     const std::vector<ValueId>& live, const std::map<NodeId, ValueId>& inputs) const {
        if (!file_.with_data) return;
        const auto tensor_of = [&](ValueId id) -> std::optional<Tensor> {
            const TracedValue& value = value_at(id);
            if (!value.snapshot) return std::nullopt;
            return file_.tensor(file_.snapshots[*value.snapshot]);
        };
        std::map<std::string, ValueId> by_source;
        for (const auto& [node, id] : inputs)
            if (const Source* source = graph.source_of({node})) by_source.emplace(source->text(), id);
        for (const Source& source : captured.sources)
            if (const auto tensor = tensor_of(by_source.at(source.text()))) captured.inputs.push_back(*tensor);
        for (const ValueId id : live)
            if (const auto tensor = tensor_of(id)) captured.outputs.push_back(*tensor);
        if (captured.inputs.size() != captured.sources.size()) captured.inputs.clear();
        if (captured.outputs.size() != live.size()) captured.outputs.clear();
    }

    // ---- Notes

    void add_notes(CapturedProgram& program) const {
        std::vector<std::string>& notes = program.notes;
        switch (file_.cut) {
            case kNotCut:
                break;
            case kCutSize:
                notes.push_back("the capture was cut at its size limit; what came later is missing");
                break;
            case kCutTime:
                notes.push_back("the capture was cut at its time limit; what came later is missing");
                break;
            case kCutDisk:
                notes.push_back("the capture was cut where the disk was full; what came later is missing");
                break;
            case kCutError:
                notes.push_back("the capture was cut by an error of its own; what came later is missing");
                break;
        }
        if (!file_.finished && file_.cut == kNotCut)
            notes.push_back("the program did not come to its normal end; the graphs end where it did");
        if (!frames_.names && !steps_.empty())
            notes.push_back(
                "the program has no symbols (stripped): functions are told by address; build it with -g for names, "
                "files and lines");
        else if (!frames_.lines && !steps_.empty())
            notes.push_back("the program has no debug information: no files and lines; build it with -g");
        const auto escapes =
            std::ranges::count_if(steps_, [](const Step& step) { return step.kind == StepKind::blob; });
        if (escapes)
            notes.push_back("possible escape: " + std::to_string(escapes) + " tensor" + (escapes == 1 ? "" : "s") +
                            " made by from_blob share memory that the program can write to unseen");
        if (made_)
            notes.push_back(std::to_string(made_) +
                            " operations that only make tensors (ones, arange ...) are counted in no graph: what they "
                            "make are inputs");
        notes.push_back(
            "untyped data_ptr(), and sizes that the program reads; calls of one function from one line are told "
            "apart by their operations alone");
    }

    const EventFile& file_;
    Symbolizer symbolizer_;
    std::vector<Step> steps_;
    Values values_;
    Frames frames_;
    std::vector<std::int32_t> place_of_;  ///< per step: the number of its piece
    std::vector<std::optional<BoundCall>> bound_;
    std::int32_t next_piece_ = 0;
    std::int64_t made_ = 0;
};

}  // namespace

CapturedProgram build_frames(const EventFile& file, const BuildOptions& options) {
    return Builder(file, options).build();
}

}  // namespace whittle::libtorch
