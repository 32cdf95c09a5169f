// A failing graph with the data that a repro shows it with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "repro/cpp_data.h"
#include "repro/repro.h"

namespace whittle::repro {

/// A graph with the data that it is shown to fail with.
struct Subject {
    Graph graph;
    std::vector<Tensor> expected;
    Data data = Data::real;
    std::map<std::size_t, std::uint64_t> seeds = {};
    std::vector<Data> passing = {};
};

/// The graph with such inputs and floating-point parameters; integers among the parameters stay, they may be sizes.
/// Throws Error when the reference cannot run it.
Subject with_data(const Graph& graph, Data data);

/// The smallest data that fails in the same way. What a program does not make up by itself is tried where it is little.
Subject smallest(const Graph& graph, Backend& backend, const Options& options);

/// "zeros", "the recorded values; it does not fail with zeros, ones".
std::string data_text(const Subject& subject);

}  // namespace whittle::repro
