// Three deliberately buggy backends, to have something to minify: everything is computed by the interpreter, but a
// relu makes them fail, in every dialect. After torch/_dynamo/backends/debugging.py.
// Also an example of a backend in C++ that uses Whittle's library behind the C interface.
#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backends/eager/eager.h"
#include "backends/plugin/exchange.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "ops/core/interpreter.h"

namespace {

using namespace whittle;

/// "aten.relu.default", "aten.relu_.default", "onnx.Relu", "com.example.Relu": the op's own name is relu.
bool is_relu(std::string_view target) {
    const auto equal = [](std::string_view word) {
        if (word.ends_with('_')) word.remove_suffix(1);
        return word.size() == 4 && std::equal(word.begin(), word.end(), "relu",
                                              [](unsigned char a, char b) { return std::tolower(a) == b; });
    };
    for (std::size_t begin = 0; begin <= target.size();) {
        const std::size_t end = std::min(target.find('.', begin), target.size());
        if (equal(target.substr(begin, end - begin))) return true;
        begin = end + 1;
    }
    return false;
}

/// Calls f on every call of a relu, those in nested graphs included.
template <class F>
void for_each_relu(Graph& graph, F&& f) {
    for (Node& node : graph.nodes)
        if (node.kind == NodeKind::call && is_relu(node.target)) f(node);
    for (auto& [name, nested] : graph.subgraphs) {
        Graph copy = *nested;
        for_each_relu(copy, f);
        nested = std::make_shared<const Graph>(std::move(copy));
    }
}

/// Thrown in place of a result.
struct ReluRuntimeError {
    std::string node;
};

class RefusesRelu final : public Interpreter {
  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        if (is_relu(call.target)) throw ReluRuntimeError{call.name};
        return Interpreter::step(graph, call, op, arguments);
    }
};

struct Compiled {
    Graph graph;
    bool refuses_relu = false;
    std::map<std::string, std::string> relus = {};  ///< original targets by node, when they are refused
};

/// Targets that the interpreter has no kernel for. A relu is never one: these backends answer for it themselves.
std::vector<std::string> unknown_ops(const Graph& graph) {
    std::vector<std::string> targets = unsupported_by(*make_eager_backend(), graph);
    std::erase_if(targets, is_relu);
    return targets;
}

/// Receives the graph, lets `change` make it buggy, and keeps it. Errors become statuses.
template <class Change>
whittle_status compile(const whittle_graph* graph, const whittle_host* host, void** handle, Change&& change) {
    try {
        for (std::size_t i = 0; i < graph->option_count; ++i)  // they have none
            host->say(host->context, ("unknown option " + std::string(graph->options[i].key)).c_str(), nullptr,
                      nullptr);
        auto compiled = std::make_unique<Compiled>();
        compiled->graph = receive(*graph);
        for (const std::string& op : unknown_ops(compiled->graph)) {
            host->say(host->context, ("no kernel for " + op).c_str(), op.c_str(), nullptr);
            return WHITTLE_UNSUPPORTED;
        }
        const whittle_status status = change(*compiled);
        if (status == WHITTLE_OK) *handle = compiled.release();
        return status;
    } catch (const Error& error) {
        host->say(host->context, error.what(), nullptr, nullptr);
        return WHITTLE_ERROR;
    }
}

whittle_status compile_error(const whittle_graph* graph, const whittle_host* host, void** handle) {
    return compile(graph, host, handle, [&](Compiled& compiled) {
        whittle_status status = WHITTLE_OK;
        for_each_relu(compiled.graph, [&](Node& relu) {
            if (status == WHITTLE_OK)
                host->say(host->context, "ReluCompileError", relu.target.c_str(), relu.name.c_str());
            status = WHITTLE_ERROR;
        });
        return status;
    });
}

whittle_status runtime_error(const whittle_graph* graph, const whittle_host* host, void** handle) {
    return compile(graph, host, handle, [](Compiled& compiled) {
        compiled.refuses_relu = true;
        // In one dialect, so that the interpreter comes as far as the relu in any.
        for_each_relu(compiled.graph, [&](Node& relu) {
            compiled.relus[relu.name] = relu.target;
            relu.target = "aten.relu.default";
            relu.args = {relu.args.at(0)};
            relu.kwargs.clear();
        });
        return WHITTLE_OK;
    });
}

/// relu(x) becomes x + 1.
whittle_status accuracy_error(const whittle_graph* graph, const whittle_host* host, void** handle) {
    return compile(graph, host, handle, [](Compiled& compiled) {
        for_each_relu(compiled.graph, [](Node& relu) {
            relu.target = "aten.add.Tensor";
            relu.args = {relu.args.at(0), Arg(1)};
            relu.kwargs.clear();
        });
        return WHITTLE_OK;
    });
}

whittle_status run(void* handle, const whittle_tensor* inputs, size_t input_count, const whittle_host* host) {
    const Compiled& compiled = *static_cast<const Compiled*>(handle);
    try {
        std::vector<Tensor> values;
        for (std::size_t i = 0; i < input_count; ++i) values.push_back(receive(inputs[i]));
        const std::unique_ptr<Interpreter> interpreter =
            compiled.refuses_relu ? std::make_unique<RefusesRelu>() : std::make_unique<Interpreter>();
        const std::vector<Tensor> outputs = interpreter->run(compiled.graph, values);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const whittle_tensor output = offer(outputs[i]);
            host->output(host->context, i, &output);
        }
        return WHITTLE_OK;
    } catch (const ReluRuntimeError& error) {
        host->say(host->context, "ReluRuntimeError", compiled.relus.at(error.node).c_str(), error.node.c_str());
    } catch (const Error& error) {
        host->say(host->context, error.what(), nullptr, nullptr);
    }
    return WHITTLE_ERROR;
}

whittle_status unsupported(const whittle_graph* graph, const whittle_host* host) {
    try {
        for (const std::string& op : unknown_ops(receive(*graph)))
            host->say(host->context, ("no kernel for " + op).c_str(), op.c_str(), nullptr);
        return WHITTLE_OK;
    } catch (const Error& error) {
        host->say(host->context, error.what(), nullptr, nullptr);
        return WHITTLE_ERROR;
    }
}

void destroy(void* handle) { delete static_cast<Compiled*>(handle); }

constexpr whittle_backend backend(const char* name, const char* description,
                                  decltype(whittle_backend::compile) compile) {
    return {sizeof(whittle_backend),
            WHITTLE_BACKEND_ABI_MAJOR,
            WHITTLE_BACKEND_ABI_MINOR,
            name,
            description,
            compile,
            run,
            destroy,
            unsupported};
}

constexpr whittle_backend kCompileError =
    backend("relu_compile_error_TESTING_ONLY", "for tests: refuses to compile a relu", compile_error);
constexpr whittle_backend kRuntimeError =
    backend("relu_runtime_error_TESTING_ONLY", "for tests: fails when a relu runs", runtime_error);
constexpr whittle_backend kAccuracyError =
    backend("relu_accuracy_error_TESTING_ONLY", "for tests: computes relu(x) as x + 1", accuracy_error);

}  // namespace

const whittle_backend* const whittle_backends[] = {&kCompileError, &kRuntimeError, &kAccuracyError, nullptr};
