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

void TapeReader::begin(std::vector<std::shared_ptr<const Tape>> tapes) {
    tapes_ = std::move(tapes);
    at_ = {.tape = tapes_.empty() ? nullptr : tapes_.front()};
    steps_.clear();
}

const TapeStep* TapeReader::next() const {
    return at_.cursor < at_.tape->steps.size() ? &at_.tape->steps[at_.cursor] : nullptr;
}

bool TapeReader::next_is(const std::string& target) const {
    const TapeStep* const step = at_.tape ? next() : nullptr;
    return step && step->call.target == target;
}

bool TapeReader::began_alike(const Tape& other) const {
    const Tape& tape = *at_.tape;
    const auto begin_equal = [](const auto& a, const auto& b, std::size_t count) {
        const auto end = static_cast<std::ptrdiff_t>(count);
        return a.size() >= count && std::equal(a.begin(), a.begin() + end, b.begin());
    };
    return begin_equal(other.steps, tape.steps, at_.cursor) && begin_equal(other.inputs, tape.inputs, inputs_.size());
}

const TapeStep* TapeReader::match(const Node& call, const std::string& functional,
                                  const std::vector<ImplPtr>& operands) {
    if (!at_.tape) return nullptr;
    if (const TapeStep* step = next(); step && fits(*step, call, functional, operands)) return step;
    for (const std::shared_ptr<const Tape>& other : tapes_) {
        if (other == at_.tape || !began_alike(*other)) continue;
        at_.tape = other;
        if (const TapeStep* step = next(); step && fits(*step, call, functional, operands)) return step;
    }
    return nullptr;
}

bool TapeReader::match_end(const std::vector<NodeRef>& live) {
    if (!at_.tape || at_.cursor == 0) return false;
    const auto ends = [&](const Tape& tape) { return tape.steps.size() == at_.cursor && tape.live == live; };
    if (ends(*at_.tape)) return true;
    for (const std::shared_ptr<const Tape>& other : tapes_) {
        if (!ends(*other) || !began_alike(*other)) continue;
        at_.tape = other;
        return true;
    }
    return false;
}

bool TapeReader::fits(const TapeStep& step, const Node& call, const std::string& functional,
                      const std::vector<ImplPtr>& operands) {
    if (step.operands.size() != operands.size() || step.functional != functional || !same_call(step.call, call) ||
        step.grad_enabled != grad_enabled())
        return false;
    bool has_new = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const TensorImpl& operand = *operands[i];
        if (operand.meta.requires_grad != step.operands[i].requires_grad) return false;
        if (operand.session) {
            if (operand.node.id != step.operands[i].node) return false;
            continue;
        }
        const NodeRef* const known = builder_.input(operand.key);
        has_new |= !known;
        if (known && known->id != step.operands[i].node) return false;
    }
    if (!has_new) return true;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (!operands[i]->session && !take_input(operands[i], step.operands[i].node)) return false;
    return true;
}

bool TapeReader::take_input(const ImplPtr& operand, NodeId node) {
    if (const NodeRef* const known = builder_.input(operand->key)) return known->id == node;
    if (node != at_.taken || !operand->value) return false;
    const TapeInput& wanted = at_.tape->inputs.at(inputs_.size());
    if (operand->meta != wanted.meta) return false;
    const std::string& parameter = builder_.parameter_name(operand->key, operand->qualified_name);
    if (parameter != wanted.parameter) return false;
    if (parameter.empty() && !builder_.naming().take_if(operand->key, *wanted.source)) return false;
    builder_.take({{node}, operand->key, storage_key(*operand->value)});
    inputs_.push_back(operand);
    ++at_.taken;
    return true;
}

void TapeReader::advance() {
    ++at_.cursor;
    const TapeStep* const step = next();
    at_.taken = step ? step->nodes : static_cast<NodeId>(at_.tape->graph.nodes.size());
}

void TapeReader::leave() {
    const std::shared_ptr<const Tape> tape = std::exchange(at_.tape, nullptr);
    if (!tape) return;
    capture::OutputGraph& graph = builder_.graph();
    std::size_t step = 0, next_input = 0;
    for (NodeId id = 0; id < at_.taken; id = static_cast<NodeId>(graph.graph().nodes.size())) {
        const Node& node = tape->graph.nodes[static_cast<std::size_t>(id)];
        if (node.kind == NodeKind::call) {
            graph.call({.target = node.target,
                        .args = node.args,
                        .kwargs = node.kwargs,
                        .results = node.results,
                        .module_path = node.module_path},
                       !tape->steps.at(step++).functional.empty());
            continue;
        }
        const TapeInput& input = tape->inputs.at(next_input);
        const ImplPtr& operand = inputs_.at(next_input++);
        const NodeRef made = input.source ? graph.input(*input.source, operand->meta, operand->key)
                                          : graph.parameter(input.parameter, *operand->value, operand->key);
        WHITTLE_CHECK(made.id == id && input.node == id, "a node of a known graph has moved");
    }
    steps_.assign(tape->steps.begin(), tape->steps.begin() + static_cast<std::ptrdiff_t>(at_.cursor));
}

TapeReader::Position TapeReader::position() const {
    Position position = at_;
    position.steps = steps_.size();
    return position;
}

void TapeReader::roll_back(const Position& to) {
    at_ = to;
    steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(to.steps), steps_.end());
}

}  // namespace whittle::api
