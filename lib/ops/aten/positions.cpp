// What gather.cpp, scatter.cpp and index.cpp refuse when they run: places outside of a dimension.
#include "ops/core/positions.h"

#include <map>
#include <string_view>

#include "ops/core/elements.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// `index` along `dim` of self.
std::vector<Positions> along_dim(const Arguments<V>& a) {
    const Sizes self = at_least_1d(a.tensor("self").meta.sizes);
    const auto dim = static_cast<std::size_t>(wrap_dim(a.integer("dim"), self));
    return {{a.tensor("index").ref, self[dim], false}};
}

std::vector<Positions> embedding_rows(const Arguments<V>& a) {
    return {{a.tensor("indices").ref, a.tensor("weight").meta.sizes.at(0), false}};
}

std::vector<Positions> anywhere(const Arguments<V>& a) {
    return {{a.tensor("index").ref, a.tensor("self").meta.numel(), true}};
}

/// One tensor per dimension; masks are no positions.
std::vector<Positions> per_dim(const Arguments<V>& a) {
    const Sizes self = a.tensor("self").meta.sizes;
    const std::vector<std::optional<V>> indices = a.optional_tensors("indices");
    std::vector<Positions> result;
    for (std::size_t d = 0; d < indices.size() && d < self.size(); ++d)
        if (indices[d] && is_integer(indices[d]->meta.dtype)) result.push_back({indices[d]->ref, self[d], true});
    return result;
}

using PositionsRule = std::vector<Positions> (*)(const Arguments<V>&);

const std::map<std::string_view, PositionsRule>& rules() {
    static const std::map<std::string_view, PositionsRule> rules = {
        {"aten.gather.default", along_dim},
        {"aten.index_select.default", along_dim},
        {"aten.scatter.src", along_dim},
        {"aten.scatter.value", along_dim},
        {"aten.scatter_add.default", along_dim},
        {"aten.scatter_reduce.two", along_dim},
        {"aten.embedding.default", embedding_rows},
        {"aten.take.default", anywhere},
        {"aten.index.Tensor", per_dim},
        {"aten.index_put.default", per_dim},
    };
    return rules;
}

}  // namespace

std::vector<Positions> positions_of(const Graph& graph, const Node& call) {
    const auto rule = rules().find(call.target);
    if (rule == rules().end()) return {};
    const Arguments<V> arguments(
        Registry::instance().require(call.target).schema, call,
        [&](NodeRef ref) {
            return V{ref, graph.node(ref).meta()};
        },
        {}, &graph);
    return rule->second(arguments);
}

}  // namespace whittle
