// FrameFolder: the executions of a program's functions, told as TorchDynamo tells its code caches. A function is one
// frame however often it was called; graphs of it that are equal are one graph that ran so many times; a graph that
// differs from an earlier one in a host number, a size, strides or requires_grad alone is a recompile of that one, and
// so is the graph of a call that, as the probes of `trace cc` tell, had another number or went another way, and one
// with the same calls that had one tensor in the place of two, or two in the place of one.
//
// Equal are graphs with the same operations, issued at the same places of the function, with the same parameters, and
// ended by the same break; where the function was called from, where inputs came from and which results were read later
// does not matter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/output_graph.h"
#include "frontends/libtorch/varying_numbers.h"

namespace whittle::libtorch {

inline constexpr std::size_t kMostRuns = 4;      ///< of one graph whose values are kept
inline constexpr std::size_t kMostVariants = 8;  ///< of one graph that are kept: TorchDynamo's cache limit

class FrameFolder {
  public:
    explicit FrameFolder(std::size_t most_variants = kMostVariants) : most_variants_(most_variants) {}

    void add(capture::CapturedFrame execution);

    /// In order of first execution, without names.
    std::vector<capture::CapturedFrame> finish();
    /// Recompiles whose graph is kept nowhere, for they were too many.
    std::int64_t dropped() const { return dropped_; }

  private:
    struct Shape {
        std::vector<std::size_t> graphs = {};
        VaryingNumbers numbers = {};
    };
    struct Function {
        capture::CapturedFrame frame;
        std::map<std::string, Shape> shapes = {};        ///< by shape_of()
        std::map<std::string, std::size_t> breaks = {};  ///< position in frame.breaks, by what they say
        std::vector<std::size_t> latest = {};            ///< by position in an execution: its graph the last time
    };

    void add_graphs(Function& to, std::vector<capture::CapturedGraph> graphs);
    /// Where it is kept: a position in to.frame.graphs. Nothing where an equal one was, or too many.
    std::optional<std::size_t> add(Function& to, capture::CapturedGraph graph, std::size_t position);
    static void add(Function& to, const capture::GraphBreak& entry);

    std::size_t most_variants_;
    std::vector<Function> functions_;
    std::map<std::pair<std::string, std::string>, std::size_t> by_name_;  ///< and file
    std::int64_t dropped_ = 0;
};

}  // namespace whittle::libtorch
