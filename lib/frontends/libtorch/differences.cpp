#include "frontends/libtorch/differences.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "frontends/libtorch/frames.h"
#include "ops/aten/data_sizes.h"
#include "ops/core/registry.h"

namespace whittle::libtorch {

using capture::CapturedGraph;
using capture::Guard;
using capture::HostValue;
using capture::Source;

std::string places_of(std::span<const StackFrame> stack) {
    std::string text;
    for (const StackFrame& frame : stack)
        text += frame.file + ':' + std::to_string(frame.line) + ':' + std::to_string(frame.column) + ' ' +
                frame.function + '\n';
    return text;
}

namespace {

// ---- What has to be equal

/// Host values are left out: they are a recompile's reason.
void append(std::string& key, const Arg& arg) {
    if (const NodeRef* node = arg.node())
        key += '%' + std::to_string(node->id);
    else if (const ArgList* list = arg.list()) {
        const bool nodes = std::ranges::any_of(*list, [](const Arg& element) { return element.node() != nullptr; });
        key += '[';
        if (nodes)
            for (const Arg& element : *list) append(key, element);
        key += ']';
    } else
        key += std::to_string(arg.value.index());
    key += ',';
}

}  // namespace

std::string shape_of(const CapturedGraph& captured, const std::string& function) {
    std::string key;
    const Graph& graph = captured.graph;
    for (const Node& node : graph.nodes) {
        if (node.kind == NodeKind::output) continue;
        key += std::to_string(static_cast<int>(node.kind));
        if (node.kind == NodeKind::placeholder) continue;  // whatever its source is
        key += node.target + '(';
        for (const Arg& arg : node.args) append(key, arg);
        for (const auto& [name, arg] : node.kwargs) {
            key += name + '=';
            append(key, arg);
        }
        key += ')';
        key += places_of(inside(node.stack, function));
    }
    const std::vector<NodeId> outputs = graph.outputs();
    for (const capture::InputUpdate& update : captured.updates)
        key += "updates " + std::to_string(outputs.at(update.output)) + ' ';
    if (captured.ended_by) {
        key += captured.ended_by->reason;
        key += places_of(inside(captured.ended_by->stack, function));
    }
    return key;
}

namespace {

// ---- Numbers

const Arg& argument_at(const Node& call, std::size_t position) {
    return position < call.args.size() ? call.args[position] : call.kwargs.at(position - call.args.size()).second;
}

std::string parameter_at(const Node& call, std::size_t position) {
    if (position >= call.args.size()) return call.kwargs.at(position - call.args.size()).first;
    const Schema* schema = Registry::instance().find(call.target);
    return schema && position < schema->params.size() ? schema->params[position].name
                                                      : "argument " + std::to_string(position + 1);
}

HostValue host_value_of(const Arg& arg) {
    if (const auto* value = std::get_if<std::int64_t>(&arg.value)) return *value;
    if (const auto* value = std::get_if<double>(&arg.value)) return *value;
    if (const auto* value = std::get_if<bool>(&arg.value)) return *value;
    if (const auto* value = std::get_if<std::string>(&arg.value)) return *value;
    if (const auto* value = std::get_if<DType>(&arg.value)) return std::string(name(*value));
    return {};
}

void add_numbers(const Node& was, const Node& now, std::size_t node, std::vector<NumberPlace>& places) {
    const std::size_t count = std::min(was.args.size() + was.kwargs.size(), now.args.size() + now.kwargs.size());
    for (std::size_t k = 0; k < count; ++k) {
        const Arg &a = argument_at(was, k), &b = argument_at(now, k);
        const ArgList *before = a.list(), *after = b.list();
        if (a == b) continue;
        if (!before || !after || before->size() != after->size())
            places.push_back({node, k});
        else
            for (std::size_t i = 0; i < before->size(); ++i)
                if (!(before->at(i) == after->at(i))) places.push_back({node, k, i});
    }
}

// ---- Tensors

std::string advice_on(capture::TensorDifference::What what) {
    using What = capture::TensorDifference::What;
    switch (what) {
        case What::requires_grad:
            return "set requires_grad and the grad mode once, before the calls";
        case What::strides:
            return "pass this tensor with the same strides in every call, for example contiguous";
        case What::size:
            return "pad this tensor to one size, or let the compiler treat the size as dynamic";
        case What::placement:
            return "pass this tensor on the same device and in the same layout in every call";
        case What::dtype:
        case What::rank:
            break;
    }
    return "pass this tensor with the same dtype and rank in every call";
}

/// `shown`: the value that the nodes are.
std::optional<Difference> tensor_difference(const std::string& shown, const Node& was, const Node& now,
                                            std::size_t result) {
    const auto what = capture::first_difference(capture::TensorMatch::of(was.results[result]), now.results[result]);
    if (!what) return std::nullopt;
    return Difference{.guard = capture::failure(shown, *what),
                      .advice = advice_on(what->what),
                      .stack = now.stack,
                      .of_data = std::ranges::count(data_sized_results(was), result) != 0};
}

}  // namespace

HostValue number_at(const Graph& graph, const NumberPlace& place) {
    const Arg& arg = argument_at(graph.nodes.at(place.node), place.argument);
    const ArgList* list = arg.list();
    if (!list) return host_value_of(arg);
    if (!place.element) return std::int64_t(list->size());
    return *place.element < list->size() ? host_value_of(list->at(*place.element)) : HostValue{};
}

Source operand_at(const Graph& graph, const NumberPlace& place, bool with_call) {
    const Node& call = graph.nodes.at(place.node);
    const Source operand = Source::operand(call.target + (with_call ? " (%" + call.name + ") " : " ") +
                                           parameter_at(call, place.argument));
    if (place.element) return operand.item(static_cast<std::int64_t>(*place.element));
    return argument_at(call, place.argument).list() ? operand.attribute(std::string(capture::kLength)) : operand;
}

Comparison compare(const CapturedGraph& was, const CapturedGraph& now) {
    Comparison found;
    std::vector<NumberPlace> following;
    std::size_t input = 0;
    for (std::size_t i = 0; i < was.graph.nodes.size(); ++i) {
        const Node &a = was.graph.nodes[i], &b = now.graph.nodes[i];
        if (a.kind == NodeKind::output) break;
        add_numbers(a, b, i, was.added_calls.contains(a.name) ? following : found.numbers);
        const std::string shown = a.kind == NodeKind::placeholder ? was.sources.at(input++).text()
                                  : a.kind == NodeKind::get_attr  ? Source::local("self").attribute(a.target).text()
                                                                  : "%" + a.name;
        for (std::size_t k = 0; k < std::min(a.results.size(), b.results.size()); ++k) {
            std::optional<Difference> tensor = tensor_difference(shown, a, b, k);
            if (!tensor) continue;
            if (was.library_calls.contains(a.name)) tensor->advice.clear();  // the user does not write that code
            if (found.numbers.empty()) found.tensor = std::move(tensor);
            return found;
        }
    }
    if (found.numbers.empty()) found.numbers = std::move(following);
    return found;
}

bool tells_of_host(const Guard& guard) { return guard.as<capture::ScalarEqual>() || guard.as<capture::Outcomes>(); }

std::optional<Difference> host_difference(const CapturedGraph& was, const CapturedGraph& now) {
    std::optional<Difference> first;
    for (const Guard& guard : was.guards) {
        const Guard* other = tells_of_host(guard) ? capture::counterpart(guard, now.guards) : nullptr;
        if (!other || *other == guard) continue;
        if (first) {
            if (other->stack().empty()) continue;
            first->stack = other->stack();
            break;
        }
        const capture::Found found = capture::found_of(*other);
        first = Difference{.guard = guard.violated_by([&](const Source&) { return &found; }).value(),
                           .advice = capture::advice(guard, &found),
                           .stack = other->stack()};
        if (!first->stack.empty()) break;
    }
    return first;
}

namespace {

// ---- Identity

/// Which inputs of two graphs their calls read in each other's place.
class MatchedInputs {
  public:
    MatchedInputs(const Graph& was, const Graph& now, const std::string& function) : was_(was), now_(now) {
        const std::vector<NodeId> before = computed(was), after = computed(now);
        same_ = before.size() == after.size();
        for (std::size_t i = 0; same_ && i < before.size(); ++i) {
            const Node &a = was.node({before[i]}), &b = now.node({after[i]});
            same_ = a.kind == b.kind && a.target == b.target && a.args.size() == b.args.size() &&
                    a.kwargs.size() == b.kwargs.size() &&
                    places_of(inside(a.stack, function)) == places_of(inside(b.stack, function));
            for (std::size_t k = 0; same_ && k < a.args.size() + a.kwargs.size(); ++k)
                same_ = match(argument_at(a, k), argument_at(b, k));
            nodes_[before[i]] = after[i];
        }
    }
    bool same_calls() const { return same_; }
    const std::set<std::pair<NodeId, NodeId>>& pairs() const { return pairs_; }

  private:
    static std::vector<NodeId> computed(const Graph& graph) {
        std::vector<NodeId> ids;
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
            if (graph.nodes[i].kind != NodeKind::placeholder && graph.nodes[i].kind != NodeKind::output)
                ids.push_back(static_cast<NodeId>(i));
        return ids;
    }
    bool match(const Arg& a, const Arg& b) {
        const ArgList *before = a.list(), *after = b.list();
        if (before && after)
            return std::ranges::equal(*before, *after, [&](const Arg& x, const Arg& y) { return match(x, y); });
        const NodeRef *read = a.node(), *reads = b.node();
        if (!read || !reads) return a == b;
        if (was_.node(*read).kind != NodeKind::placeholder)
            return nodes_.contains(read->id) && nodes_[read->id] == reads->id;
        pairs_.emplace(read->id, reads->id);
        return now_.node(*reads).kind == NodeKind::placeholder;
    }

    const Graph &was_, &now_;
    bool same_ = false;
    std::map<NodeId, NodeId> nodes_;
    std::set<std::pair<NodeId, NodeId>> pairs_;
};

const Source& source_at(const CapturedGraph& captured, NodeId input) {
    const std::vector<NodeId> inputs = captured.graph.placeholders();
    return captured.sources.at(static_cast<std::size_t>(std::ranges::find(inputs, input) - inputs.begin()));
}

Difference failed(const Guard& guard, const capture::Found& found, const std::vector<StackFrame>& stack) {
    return {.guard = guard.violated_by([&](const Source&) { return &found; }).value(),
            .advice = capture::advice(guard, &found),
            .stack = stack};
}

}  // namespace

std::optional<Difference> identity_difference(const CapturedGraph& was, const CapturedGraph& now,
                                              const std::string& function) {
    const MatchedInputs inputs(was.graph, now.graph, function);
    if (!inputs.same_calls()) return std::nullopt;
    const auto& pairs = inputs.pairs();
    for (auto one = pairs.begin(); one != pairs.end(); ++one)
        for (auto other = std::next(one); other != pairs.end(); ++other) {
            if (one->first == other->first) {  // one tensor became two
                const Source& as = source_at(was, one->first);
                const NodeId split = source_at(now, other->second) == as ? one->second : other->second;
                const Node& input = now.graph.node({split});
                return failed(Guard(source_at(now, split), capture::SameTensor{as}), input.meta(), input.stack);
            }
            if (one->second == other->second) {
                const Node& input = was.graph.node({other->first});
                return failed(Guard::tensor(source_at(was, other->first), input.meta()),
                              capture::SameTensor{source_at(was, one->first)}, input.stack);
            }
        }
    return std::nullopt;
}

}  // namespace whittle::libtorch
