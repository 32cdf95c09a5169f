#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/backends.h>
#include <whittle/api/compile.h>

#include <atomic>

#include "api/function_executable.h"
#include "api/session.h"
#include "api/stack.h"
#include "backends/registry.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "ops/aten/random.h"
#include "ops/core/interpreter.h"
#include "symbolize/text.h"

namespace whittle::api {
namespace {

/// What the program's function is shown of a graph.
BackendGraph shown_graph(const Graph& graph) {
    BackendGraph view{.name = graph.name, .text = print(graph)};
    for (const Node& node : graph.nodes) {
        view.nodes.push_back({std::string(name(node.kind)), node.name, node.target});
        if (node.kind == NodeKind::placeholder)
            view.inputs.push_back({node.name, to_api(node.meta().dtype), node.meta().sizes});
    }
    const auto shared = std::make_shared<const Graph>(graph);
    view.run = [shared](const TensorList& inputs) {
        return wrapped(evaluate(*shared, values_of(inputs, "the graph's inputs")));
    };
    return view;
}

class FunctionBackend final : public Backend, public Support {
  public:
    FunctionBackend(std::string name, std::shared_ptr<const BackendFunction> function)
        : name_(std::move(name)), function_(std::move(function)) {}

    std::string name() const override { return name_; }
    std::string description() const override { return "a function of this program"; }
    std::vector<std::string> unsupported(const Graph&) const override { return {}; }  // it is asked itself

    CompileResult compile(const Graph& graph, const BackendOptions&) override {
        return guarded(name_, "compile", graph.name, [&]() -> CompileResult {
            const RandomApart draws;  // or the first call of a function would disturb what it draws
            const BackendAnswer answer = (*function_)(shown_graph(graph));
            auto callable = answer.callable();
            if (!answer.text().empty()) callable = shown_graph(rewritten(graph, answer.text())).run;
            if (!callable) callable = shown_graph(graph).run;
            return function_executable(name_, graph, std::move(callable));
        });
    }

  private:
    /// The graph of the text, with the original's constants.
    static Graph rewritten(const Graph& graph, const std::string& text) {
        Graph other = parse(text);
        for (const Node& node : other.nodes)
            if (const auto found = graph.attributes.find(node.target);
                node.kind == NodeKind::get_attr && found != graph.attributes.end())
                other.attributes.insert_or_assign(node.target, found->second);
        if (other.placeholders().size() != graph.placeholders().size() ||
            other.outputs().size() != graph.outputs().size())
            throw Error("found a rewritten graph with " + std::to_string(other.placeholders().size()) + " inputs and " +
                        std::to_string(other.outputs().size()) + " outputs, expected " +
                        std::to_string(graph.placeholders().size()) + " inputs and " +
                        std::to_string(graph.outputs().size()) + " outputs, the numbers of the original graph");
        return other;
    }

    const std::string name_;
    const std::shared_ptr<const BackendFunction> function_;
};

}  // namespace

void register_backend(const std::string& name, BackendFunction function) {
    if (!function)
        throw Error("register_backend: found an empty function for '" + name + "', expected a function to call");
    const auto shared = std::make_shared<const BackendFunction>(std::move(function));
    add_backend(name, [name, shared] { return std::make_unique<FunctionBackend>(name, shared); });
}

std::string detail::backend_of(BackendFunction function, const void* address) {
    static std::atomic<int> lambdas{0};
    const std::string known = address ? readable_function(function_at(address)) : "";
    const std::string name =
        known.empty() || known.find('/') != known.npos ? "lambda " + std::to_string(++lambdas) : known;
    api::register_backend(name, std::move(function));
    return name;
}

}  // namespace whittle::api
