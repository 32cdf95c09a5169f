// Calls of functions that only compute (.pure): what they were called with, so that a call like an earlier one runs
// that one's graph and none of the function's code. Each fact about the arguments is one comparison, without text.
#pragma once

#include <whittle/api/compile.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/impl.h"

namespace whittle::api {

struct CompiledGraph;

/// The kind of a tensor: what graphs are compiled for.
struct SeenTensor {
    whittle::DType dtype;
    bool requires_grad;
    Sizes sizes;
    Strides strides;
};
/// One that came before, by its position among the call's tensors.
struct SeenAgain {
    std::size_t position;
};
/// A fact about a call's arguments, in the order in which they are seen.
using Seen = std::variant<std::monostate, SeenTensor, SeenAgain, bool, std::int64_t, double, std::string>;

/// The global state that graphs are specialized by.
struct SeenState {
    bool grad = false, deterministic = false;
    ScalarType dtype = kFloat;

    static SeenState now();
    bool operator==(const SeenState&) const = default;
};

/// The one graph that a call ran.
struct PureRun {
    std::shared_ptr<CompiledGraph> compiled = {};
    std::vector<whittle::Tensor> inputs = {}, outputs = {};
};

/// What a call was like, and what it came to.
struct KnownCall {
    SeenState state = {};
    std::vector<Seen> seen = {};
    std::size_t tensors = 0;               ///< of the call, each once
    std::vector<std::size_t> inputs = {};  ///< of the graph, among those
    struct Result {
        bool is_argument = false;
        std::size_t position = 0;  ///< among the call's tensors, or the graph's outputs
    };
    std::vector<Result> results = {};
    std::shared_ptr<CompiledGraph> compiled = {};
    std::shared_ptr<const void> form = {};
};

/// Of one function, the latest first.
using KnownCalls = std::vector<std::shared_ptr<const KnownCall>>;

/// As run_frame(). Sets `ran` where the frame was one graph that can stand for it: without breaks, gradients and
/// writes.
void run_frame(FunctionState& function, const std::function<void(Visitor&)>& describe,
               const std::function<void()>& body, std::optional<PureRun>& ran);

}  // namespace whittle::api
