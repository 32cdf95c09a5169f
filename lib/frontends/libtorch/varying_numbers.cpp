#include "frontends/libtorch/varying_numbers.h"

#include <algorithm>
#include <utility>

#include "frontends/libtorch/frames.h"

namespace whittle::libtorch {

using capture::CapturedFrame;
using capture::CapturedGraph;
using capture::Guard;
using capture::HostValue;
using capture::Source;

namespace {

/// The number 2 of the program may have become the 2.0 of an operation.
bool same_number(const HostValue& a, const HostValue& b) {
    const auto real = [](const HostValue& value) -> std::optional<double> {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
        if (const auto* number = std::get_if<double>(&value)) return *number;
        return std::nullopt;
    };
    const auto x = real(a), y = real(b);
    return x && y && a.index() != b.index() ? *x == *y : a == b;
}

/// Those that had the number: as the interpreter's frames or the program's probes told.
std::vector<Source> variables_with(const CapturedGraph& graph, const NumberPlace& place) {
    const HostValue number = number_at(graph.graph, place);
    const std::string& call = graph.graph.nodes.at(place.node).name;
    std::vector<Source> variables;
    const auto add = [&](const Source& variable, const HostValue& value) {
        if (same_number(value, number) && std::ranges::find(variables, variable) == variables.end())
            variables.push_back(variable);
    };
    for (const capture::NamedNumber& named : graph.named_numbers)
        if (named.call == call) add(Source::local(named.variable), named.number);
    for (const Guard& guard : graph.guards)
        if (const auto* equal = guard.as<capture::ScalarEqual>()) add(guard.source(), equal->value);
    return variables;
}

void keep_common(std::vector<Source>& variables, const std::vector<Source>& others) {
    std::erase_if(variables, [&](const Source& one) { return std::ranges::find(others, one) == others.end(); });
}

/// Equal for operands of one line that have the same values in all graphs, as in a loop over parameters.
std::string key_of_operand(const Source& operand, const NumberPlace& place, const CapturedFrame& frame,
                           std::span<const std::size_t> graphs) {
    const Node& call = frame.graphs.at(graphs.front()).graph.nodes.at(place.node);
    std::string key = operand.text() + places_of(inside(call.stack, frame.function));
    for (const std::size_t i : graphs) key += '\n' + capture::text_of(number_at(frame.graphs.at(i).graph, place));
    return key;
}

}  // namespace

void VaryingNumbers::add(const CapturedGraph& was, const CapturedGraph& now, std::vector<NumberPlace> places,
                         std::int64_t times) {
    for (const NumberPlace& place : places) {
        const std::vector<Source> before = variables_with(was, place);
        const auto [known, fresh] =
            numbers_.try_emplace(place, Number{number_at(was.graph, place), number_at(now.graph, place), before});
        keep_common(known->second.variables, before);
        keep_common(known->second.variables, variables_with(now, place));
    }
    std::optional<Difference> host = host_difference(was, now);
    const auto about = [](const std::optional<Difference>& one) { return one ? one->guard.about : std::string(); };
    const auto known = std::ranges::find_if(recompiles_, [&](const Recompiles& other) {
        return other.places == places && about(other.host) == about(host);
    });
    if (known == recompiles_.end())
        recompiles_.push_back({std::move(places), std::move(host), times});
    else
        known->times += times;
}

VaryingNumbers::Causes VaryingNumbers::causes(const CapturedFrame& frame, std::span<const std::size_t> graphs) const {
    const Graph& first = frame.graphs.at(graphs.front()).graph;
    Causes found;
    std::map<std::string, std::size_t> known;
    std::map<std::string, int> called;  // so many operands
    for (const auto& [place, number] : numbers_) {
        const bool variable = number.variables.size() == 1;
        const Source source = variable ? number.variables.front() : operand_at(first, place, false);
        const std::string key = variable ? source.text() : key_of_operand(source, place, frame, graphs);
        const auto [cause, fresh] = known.try_emplace(key, found.all.size());
        found.of[place] = cause->second;
        if (!fresh) continue;
        found.all.push_back({place, source, variable});
        if (!variable) ++called[source.text()];
    }
    for (Cause& cause : found.all)
        if (!cause.variable && called.at(cause.source.text()) > 1) cause.source = operand_at(first, cause.place, true);
    return found;
}

Difference VaryingNumbers::difference(const Cause& cause, const HostValue& was, const HostValue& now,
                                      const CapturedGraph& graph) const {
    const Node& call = graph.graph.nodes.at(cause.place.node);
    const Guard guard = Guard::scalar(cause.source, was);
    Difference result{.guard = {guard.text(), capture::text_of(now), cause.source.text()},
                      .stack = call.stack,
                      .of_operand = !cause.variable};
    const capture::Found found = now;
    if (cause.variable)
        result.advice = capture::advice(guard, &found);
    else if (!graph.library_calls.contains(call.name))  // whose code the user does not write
        result.advice =
            "each value of this number needs a separate graph: pass the number as a 0-d tensor, or compute the number "
            "with tensor operations";
    return result;
}

std::vector<Difference> VaryingNumbers::differences(const Recompiles& recompiles, const Causes& causes,
                                                    const CapturedGraph& graph) const {
    std::vector<Difference> all;
    for (const NumberPlace& place : recompiles.places) {
        const Cause& cause = causes.all.at(causes.of.at(place));
        const Number& number = numbers_.at(place);
        Difference one = difference(cause, number.was, number.now, graph);
        if (!cause.variable && recompiles.host) {  // in the terms of the program
            std::vector<StackFrame> stack = std::move(one.stack);
            one = *recompiles.host;
            if (one.stack.empty()) one.stack = std::move(stack);
        }
        const auto is_it = [&](const Difference& other) { return other.guard.about == one.guard.about; };
        if (std::ranges::none_of(all, is_it)) all.push_back(std::move(one));
    }
    return all;
}

/// "L['a'] == 1, now 2; L['b'] == 3, now 4".
std::string VaryingNumbers::text(const CapturedGraph& was, const CapturedGraph& now, const Causes& causes) const {
    constexpr std::size_t kShown = 3;
    const std::optional<Difference> host = host_difference(was, now);
    std::vector<std::string> parts;
    for (const Cause& cause : causes.all) {
        const HostValue before = number_at(was.graph, cause.place), after = number_at(now.graph, cause.place);
        if (capture::text_of(before) == capture::text_of(after)) continue;
        std::string part =
            !cause.variable && host ? host->guard.text() : difference(cause, before, after, was).guard.text();
        if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(parts.size(), kShown); ++i) text += (i ? "; " : "") + parts[i];
    return parts.size() > kShown ? text + "; and " + std::to_string(parts.size() - kShown) + " more" : text;
}

void VaryingNumbers::finish(CapturedFrame& frame, std::span<const std::size_t> graphs) const {
    if (numbers_.empty()) return;
    const Causes found = causes(frame, graphs);
    const CapturedGraph& first = frame.graphs.at(graphs.front());
    for (const Recompiles& one : recompiles_) count_recompiles(frame, differences(one, found, first), one.times);
    for (const std::size_t i : graphs.subspan(1))
        if (CapturedGraph& graph = frame.graphs.at(i); graph.difference.empty())
            graph.difference = text(first, graph, found);
    for (const std::size_t i : graphs) {
        CapturedGraph& graph = frame.graphs.at(i);
        const bool probed = std::ranges::any_of(graph.guards, tells_of_host);  // those guards decide the operands
        for (const Cause& cause : found.all) {
            if (!cause.variable && probed) continue;
            Guard guard = Guard::scalar(cause.source, number_at(graph.graph, cause.place),
                                        graph.graph.nodes.at(cause.place.node).stack);
            if (!capture::counterpart(guard, graph.guards)) graph.guards.push_back(std::move(guard));
        }
    }
}

void count_recompiles(CapturedFrame& frame, std::span<const Difference> causes, std::int64_t times) {
    for (std::size_t i = 0; i < causes.size(); ++i) {
        const Difference& cause = causes[i];
        auto known = std::ranges::find_if(frame.recompiles, [&](const capture::Recompile& other) {
            return other.guard.about == cause.guard.about && (!cause.of_operand || other.stack == cause.stack);
        });
        if (known == frame.recompiles.end())
            known = frame.recompiles.insert(
                known, capture::Recompile{.guard = cause.guard, .stack = cause.stack, .advice = cause.advice});
        known->count += times;
        if (i > 0) known->shared += times;
    }
}

}  // namespace whittle::libtorch
