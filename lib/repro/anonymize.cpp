#include "repro/steps.h"

#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "graph/short_program.h"
#include "judge/judge.h"
#include "ops/core/interpreter.h"

namespace whittle::repro {
namespace {

class Anonymizer {
  public:
    Anonymizer(Repro& repro, Backend& backend) : backend_(backend), repro_(repro), graph_(repro.graph) {}

    void run() {
        repro_.replaced = 0;
        graph_ = renamed(graph_);
        // Names that the user gave may be in the words of the failure.
        const std::optional<Outcome> outcome = fails_alike(graph_);
        if (!outcome) throw Error("it does not fail in the same way under other names", "leave --anonymize out");
        graph_.failure->message = outcome->message;
        for (std::size_t i = 0; i < graph_.failure->inputs.size(); i++)
            replace(graph_.node({graph_.placeholders().at(i)}).name, Role::input,
                    [i](Graph& graph) -> Tensor& { return graph.failure->inputs.at(i); });
        std::vector<std::string> names;
        for (const auto& [name, value] : graph_.attributes) names.push_back(name);
        for (const std::string& name : names)
            replace(name, Role::parameter, [&name](Graph& graph) -> Tensor& { return graph.attributes.at(name); });
        graph_.failure->message = fails_alike(graph_).value_or(*outcome).message;
    }

  private:
    static Graph renamed(const Graph& graph) {
        Graph other = with_short_names(graph);
        other.failure = graph.failure;
        // Directives name what they are for.
        std::map<std::string, std::string> names;
        for (std::size_t i = 0; i < graph.nodes.size(); i++) names[graph.nodes[i].name] = other.nodes[i].name;
        if (std::optional<Culprit>& culprit = other.failure->culprit) {
            culprit->directive = with_names(culprit->directive, names);
            for (std::string& text : culprit->together) text = with_names(text, names);
        }
        for (auto& [key, value] : other.failure->options)
            if (key == "disable") value = with_names(value, names);
        return other;
    }

    /// The text with other names for nodes; "conv_stage" is of conv.
    static std::string with_names(const std::string& text, const std::map<std::string, std::string>& names) {
        return with_words(text, [&](const std::string& word) {
            std::size_t stem = word.size();
            while (stem != std::string::npos && stem > 0 && !names.contains(word.substr(0, stem)))
                stem = word.rfind('_', stem - 1);
            const bool named = stem != std::string::npos && stem > 0;
            return named ? names.at(word.substr(0, stem)) + word.substr(stem) : word;
        });
    }

    /// How it fails, where that is as recorded.
    std::optional<Outcome> fails_alike(const Graph& graph) const {
        try {
            std::vector<Tensor> expected = evaluate(graph, graph.failure->inputs);
            expected.resize(graph.outputs().size());
            // The words of an exception may hold names.
            Answer answer = ask_again({.graph = graph, .expected = expected, .any_words = true}, backend_);
            if (answer.again == Again::fails) return std::move(answer.outcome);
        } catch (const Error&) {  // the reference refuses such values
        }
        return std::nullopt;
    }

    /// Puts made-up values into the place of a tensor, where it fails with them, too.
    template <class Place>
    void replace(const std::string& name, Role role, Place tensor_of) {
        const Tensor own = tensor_of(graph_);
        if (own.numel() == 0) return;
        for (const Data data : {Data::ones, Data::small, Data::random}) {
            Graph candidate = graph_;
            tensor_of(candidate) = made_up(own, data, seed_, role);
            if (!same_bits(tensor_of(candidate), own) && !fails_alike(candidate)) continue;
            graph_ = std::move(candidate);
            ++*repro_.replaced;
            seed_++;
            return;
        }
        log_info(LogChannel::repro, name + ": the failure needs its values");
        repro_.kept.push_back(name);
    }

    Backend& backend_;
    Repro& repro_;
    Graph& graph_;
    std::uint64_t seed_ = 1;
};

}  // namespace

void anonymize(Repro& repro, Backend& backend) {
    if (!repro.graph.subgraphs.empty())
        throw Error("found a graph with nested graphs, whose names --anonymize does not change",
                    "rename them in the model");
    Anonymizer(repro, backend).run();
}

}  // namespace whittle::repro
