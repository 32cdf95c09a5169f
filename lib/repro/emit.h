// The text of a repro.cpp, from a failing graph.
#pragma once

#include <string>
#include <vector>

#include "repro/cpp_data.h"
#include "repro/repro.h"

namespace whittle::repro {

struct Emission {
    std::string text;
    std::vector<Sidecar> sidecars;
    std::vector<std::string> compile_flags;  ///< what follows "g++ -std=c++17 -O1 repro.cpp -o repro"
};

/// `expected`: one tensor per output, from the reference. `verified`: the header's claim, e.g. "3 of 3 runs fail".
Emission emit_halide(const Graph& graph, const std::vector<Tensor>& expected, const Options& options,
                     const std::string& verified);
Emission emit_plugin(const Graph& graph, const std::vector<Tensor>& expected, const Options& options,
                     const std::string& verified);

}  // namespace whittle::repro
