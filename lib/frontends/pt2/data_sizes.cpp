#include "frontends/pt2/data_sizes.h"

#include <utility>

#include "base/error.h"
#include "frontends/pt2/codes.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"

namespace whittle::pt2 {

std::vector<Tensor> DataSizes::run(const Graph& graph, const Node& call, std::size_t count) const {
    if (!values_)
        throw Error("found a size that depends on the values of inputs, expected the values of all inputs",
                    "give the values with --input DIR or --input NAME=FILE");
    Graph part = graph;
    Node last = call;
    last.results.assign(count, ValueMeta());  // nobody asks for their sizes
    part.output(add_results(part, part.add(std::move(last))));
    const std::vector<Tensor> inputs = values_(part);
    return evaluate(part, inputs);
}

void DataSizes::decide(const std::string& expression, std::int64_t value) {
    const auto symbol = symbol_of(expression);
    if (!symbol) return;
    const auto [known, added] = sizes_.emplace(*symbol, value);
    if (added)
        decided_.push_back(*symbol + "=" + std::to_string(value));
    else if (known->second != value)
        throw Error("the size " + *symbol + " is " + std::to_string(value) + " with these inputs, but --dim requests " +
                        std::to_string(known->second),
                    "change --dim or the values of the inputs");
}

}  // namespace whittle::pt2
