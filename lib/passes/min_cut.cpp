#include "passes/min_cut.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace whittle {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS,
    boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor,
                    boost::property<boost::vertex_color_t, boost::default_color_type,
                                    boost::property<boost::vertex_distance_t, std::int64_t>>>,
    boost::property<boost::edge_capacity_t, std::int64_t,
                    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

}  // namespace

std::vector<bool> FlowNetwork::sink_side(int source, int sink) const {
    Network network(static_cast<std::size_t>(nodes_));
    const auto capacity = boost::get(boost::edge_capacity, network);
    const auto reverse = boost::get(boost::edge_reverse, network);
    for (const Edge& edge : edges_) {
        const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
        const auto there = boost::add_edge(from, to, network).first, back = boost::add_edge(to, from, network).first;
        capacity[there] = edge.capacity;
        capacity[back] = 0;
        reverse[there] = back;
        reverse[back] = there;
    }
    boost::boykov_kolmogorov_max_flow(network, static_cast<std::size_t>(source), static_cast<std::size_t>(sink));

    // What can still reach the sink is the least that any cheapest cut leaves on its side.
    const auto residual = boost::get(boost::edge_residual_capacity, network);
    std::vector<bool> reaches(static_cast<std::size_t>(nodes_), false);
    std::vector<std::size_t> work = {static_cast<std::size_t>(sink)};
    reaches[work.front()] = true;
    while (!work.empty()) {
        const std::size_t node = work.back();
        work.pop_back();
        for (const auto& out : boost::make_iterator_range(boost::out_edges(node, network))) {
            const std::size_t before = boost::target(out, network);
            if (reaches[before] || residual[reverse[out]] == 0) continue;
            reaches[before] = true;
            work.push_back(before);
        }
    }
    return reaches;
}

}  // namespace whittle
