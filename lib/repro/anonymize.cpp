#include "repro/steps.h"

#include <functional>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "judge/judge.h"
#include "ops/core/interpreter.h"
#include "printers/short_program.h"

namespace whittle::repro {
namespace {

/// The text with other names for nodes; "conv_stage" is of conv.
std::string with_names(const std::string& text, const std::map<std::string, std::string>& names) {
    return with_words(text, [&](const std::string& word) {
        std::size_t stem = word.size();
        while (stem != std::string::npos && stem > 0 && !names.contains(word.substr(0, stem)))
            stem = word.rfind('_', stem - 1);
        const bool named = stem != std::string::npos && stem > 0;
        return named ? names.at(word.substr(0, stem)) + word.substr(stem) : word;
    });
}

Graph renamed(const Graph& graph) {
    Graph other = with_short_names(graph);
    other.failure = graph.failure;
    other.failure->python.clear();
    // Directives name what they are for.
    std::map<std::string, std::string> names;
    for (std::size_t i = 0; i < graph.nodes.size(); i++) names[graph.nodes[i].name] = other.nodes[i].name;
    if (std::optional<Culprit>& culprit = other.failure->culprit) {
        culprit->directive = with_names(culprit->directive, names);
        culprit->application = with_names(culprit->application, names);
        for (std::vector<std::string>* const others : {&culprit->together, &culprit->dependents})
            for (std::string& text : *others) text = with_names(text, names);
    }
    for (auto& [key, value] : other.failure->options)
        if (key == "disable") value = with_names(value, names);
    return other;
}

/// The words with which it fails, where it does as recorded.
std::optional<std::string> fails_alike(const Graph& graph, Backend& backend) {
    try {
        std::vector<Tensor> expected = evaluate(graph, graph.failure->inputs);
        expected.resize(graph.outputs().size());
        // The words of an exception may hold names.
        const Answer answer = ask_again({.graph = graph, .expected = expected, .any_words = true}, backend);
        if (answer.again == Again::fails) return answer.outcome.message;
    } catch (const Error&) {  // the reference refuses such values
    }
    return std::nullopt;
}

}  // namespace

void anonymize(Repro& repro, Backend& backend) {
    Graph& graph = repro.graph;
    if (!graph.subgraphs.empty())
        throw Error("found a graph with nested graphs, whose names --anonymize cannot change",
                    "rename the values of the nested graphs in the model, or run without --anonymize");
    graph = renamed(graph);
    // Names that the user gave may be in the words of the failure.
    const std::optional<std::string> words = fails_alike(graph, backend);
    if (!words) throw Error("with other names, the graph does not fail in the same way", "run without --anonymize");
    graph.failure->message = *words;

    repro.replaced = 0;
    const auto replace = [&](const std::string& name, Role role, const std::function<Tensor&(Graph&)>& tensor_of) {
        const Tensor own = tensor_of(graph);
        if (own.numel() == 0) return;
        for (const Data data : {Data::ones, Data::small, Data::random}) {
            Graph candidate = graph;
            tensor_of(candidate) = made_up(own, data, *repro.replaced + 1, role);
            if (!same_bits(tensor_of(candidate), own) && !fails_alike(candidate, backend)) continue;
            graph = std::move(candidate);
            ++*repro.replaced;
            return;
        }
        log_info(LogChannel::repro, name + ": the failure needs the values of this tensor");
        repro.kept.push_back(name);
    };
    for (std::size_t i = 0; i < graph.failure->inputs.size(); i++)
        replace(graph.node({graph.placeholders().at(i)}).name, Role::input,
                [i](Graph& of) -> Tensor& { return of.failure->inputs.at(i); });
    std::vector<std::string> names;
    for (const auto& [name, value] : graph.attributes) names.push_back(name);
    for (const std::string& name : names)
        replace(name, Role::parameter, [&name](Graph& of) -> Tensor& { return of.attributes.at(name); });
    graph.failure->message = fails_alike(graph, backend).value_or(*words);
}

}  // namespace whittle::repro
