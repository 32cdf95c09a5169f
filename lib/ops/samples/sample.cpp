#include "ops/samples/sample.h"

#include <algorithm>

#include "graph/value_ref.h"

namespace whittle {

std::vector<Tensor> Sample::inputs() const {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (std::find(constants.begin(), constants.end(), i) == constants.end()) result.push_back(tensors[i]);
    return result;
}

Graph graph_of(const RegisteredOp& op, const Sample& sample) {
    Graph graph;
    graph.name = identifier(op.name);
    if (op.name.starts_with("onnx.")) graph.dialect = "onnx";
    graph.opset_imports = sample.opset_imports;
    graph.subgraphs = sample.subgraphs;

    std::vector<NodeRef> tensors(sample.tensors.size());
    const auto is_constant = [&](std::size_t i) {
        return std::find(sample.constants.begin(), sample.constants.end(), i) != sample.constants.end();
    };
    for (const bool constants : {false, true})  // placeholders come first in a graph
        for (std::size_t i = 0; i < sample.tensors.size(); ++i) {
            if (is_constant(i) != constants) continue;
            const std::string name = (constants ? "constant" : "input") + std::to_string(i);
            tensors[i] = constants ? graph.get_attr(name, sample.tensors[i])
                                   : graph.placeholder(name, ValueMeta::of(sample.tensors[i]));
        }

    Node call;
    call.target = std::string(op.name);
    call.args = sample.args;
    call.kwargs = sample.kwargs;
    call = map_inputs(call, [&](NodeRef ref) { return Arg(tensors.at(static_cast<std::size_t>(ref.id))); });
    call.results = infer(graph, call);
    graph.output(add_results(graph, graph.add(std::move(call))));
    return graph;
}

}  // namespace whittle
