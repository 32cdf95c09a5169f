// Sessions that issue what an earlier execution issued.
#define WHITTLE_API_IMPLEMENTATION
#include "api/tape.h"

#include <algorithm>

#include "base/error.h"

namespace whittle::api {

namespace {

bool same_call(const Node& a, const Node& b) {
    return a.target == b.target && a.args == b.args && a.kwargs == b.kwargs && a.module_path == b.module_path;
}

}  // namespace

bool Session::next_is(const std::string& target) const {
    return tape_ && cursor_ < tape_->steps.size() && tape_->steps[cursor_].call.target == target;
}

bool Session::began_alike(const Tape& other) const {
    if (other.steps.size() < cursor_) return false;
    const auto end = other.steps.begin() + static_cast<std::ptrdiff_t>(cursor_);
    if (!std::equal(other.steps.begin(), end, tape_->steps.begin())) return false;
    return std::all_of(input_impls_.begin(), input_impls_.end(), [&](const auto& input) {
        const auto found = other.inputs.find(input.first);
        return found != other.inputs.end() && found->second == tape_->inputs.at(input.first);
    });
}

const Step* Session::match(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands) {
    if (!tape_) return nullptr;
    const auto next = [&] { return cursor_ < tape_->steps.size() ? &tape_->steps[cursor_] : nullptr; };
    if (const Step* step = next(); step && fits(*step, call, functional, operands)) return step;
    for (const std::shared_ptr<const Tape>& other : tapes_) {
        if (other == tape_ || !began_alike(*other)) continue;
        tape_ = other;
        if (const Step* step = next(); step && fits(*step, call, functional, operands)) return step;
    }
    return nullptr;
}

bool Session::match_end(const std::vector<NodeRef>& live) {
    if (!tape_ || cursor_ == 0) return false;
    const auto ends = [&](const Tape& tape) { return tape.steps.size() == cursor_ && tape.live == live; };
    if (ends(*tape_)) return true;
    for (const std::shared_ptr<const Tape>& other : tapes_) {
        if (!ends(*other) || !began_alike(*other)) continue;
        tape_ = other;
        return true;
    }
    return false;
}

bool Session::fits(const Step& step, const Node& call, const std::string& functional,
                   const std::vector<ImplPtr>& operands) {
    if (step.operands.size() != operands.size() || step.functional != functional || !same_call(step.call, call) ||
        step.grad_enabled != grad_enabled())
        return false;
    bool has_new = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const TensorImpl& operand = *operands[i];
        if (operand.meta.requires_grad != step.operands[i].requires_grad) return false;
        if (operand.session) {
            if (operand.session.get() != this || operand.node.id != step.operands[i].node) return false;
            continue;
        }
        const auto known = known_.find(operand.key);
        if (known == known_.end())
            has_new = true;
        else if (known->second.id != step.operands[i].node)
            return false;
    }
    if (!has_new) return true;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (!operands[i]->session && !take_input(operands[i], step.operands[i].node)) return false;
    return true;
}

bool Session::take_input(const ImplPtr& operand, NodeId node) {
    if (const auto known = known_.find(operand->key); known != known_.end()) return known->second.id == node;
    if (node != taken_ || !operand->value) return false;
    const TapeInput& wanted = tape_->inputs.at(node);
    if (operand->meta != wanted.meta) return false;
    const std::string& parameter = parameter_name(*operand);
    if (parameter != wanted.parameter) return false;
    if (parameter.empty()) {
        Counters counters = counters_;
        const capture::Source source = source_of(*operand, counters);
        if (!(source == *wanted.source)) return false;
        counters_ = counters;
        taken_sources_.insert(source);
    }
    known_.emplace(operand->key, NodeRef{node});
    input_impls_.emplace(node, operand);
    ++taken_;
    return true;
}

void Session::advance() {
    ++cursor_;
    taken_ =
        cursor_ < tape_->steps.size() ? tape_->steps[cursor_].nodes : static_cast<NodeId>(tape_->graph.nodes.size());
}

TensorList Session::results_of(const Step& step, const std::vector<ImplPtr>& operands) {
    TensorList results;
    results.reserve(step.results.size());
    for (const Step::Result& result : step.results) {
        ImplPtr impl = pending(result.meta, result.node);
        if (result.view)
            show(*impl, *operands.at(static_cast<std::size_t>(step.call.args.front().node()->id)), result.offset);
        results.push_back(Tensor(std::move(impl)));
    }
    advance();
    return results;
}

void Session::leave_tape() {
    const std::shared_ptr<const Tape> tape = std::exchange(tape_, nullptr);
    if (!tape) return;
    const std::vector<Node>& nodes = tape->graph.nodes;
    std::size_t step = 0;
    for (NodeId id = 0; id < taken_; id = static_cast<NodeId>(graph_.graph().nodes.size())) {
        const Node& node = nodes[static_cast<std::size_t>(id)];
        if (node.kind == NodeKind::call) {
            graph_.call({.target = node.target,
                         .args = node.args,
                         .kwargs = node.kwargs,
                         .results = node.results,
                         .module_path = node.module_path,
                         .effect = !tape->steps.at(step++).functional.empty()});
            continue;
        }
        const ImplPtr& operand = input_impls_.at(id);
        const TapeInput& input = tape->inputs.at(id);
        const NodeRef made = input.source ? graph_.input(*input.source, operand->meta, operand->key)
                                          : graph_.parameter(input.parameter, *operand->value, operand->key);
        WHITTLE_CHECK(made.id == id, "a node of a known graph has moved");
    }
    steps_.assign(tape->steps.begin(), tape->steps.begin() + static_cast<std::ptrdiff_t>(cursor_));
}

}  // namespace whittle::api
