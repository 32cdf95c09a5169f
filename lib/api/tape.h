// What a frame issued while a graph was recorded, operation by operation. A later execution that issues the same takes
// the graph, the metas of its values and the compiled code from here: nothing is inferred, named or built again.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/session.h"

namespace whittle::api {

/// One operation as it was issued, and what came of it.
struct Step {
    Node call = {};               ///< target, arguments, module path; NodeRefs are positions in `operands`
    std::string functional = {};  ///< of a write: the target that computes what is written
    bool grad_enabled = true;

    struct Operand {
        NodeId node = 0;
        bool requires_grad = false;
        bool operator==(const Operand&) const = default;
    };
    std::vector<Operand> operands = {};

    struct Result {
        NodeRef node = {};
        ValueMeta meta = {};
        bool view = false;        ///< of the first operand …
        std::int64_t offset = 0;  ///< … this far into it, in elements
        bool operator==(const Result&) const = default;
    };
    std::vector<Result> results = {};  ///< none of a write
    NodeId nodes = 0;                  ///< of the graph, before this step's own inputs

    bool operator==(const Step&) const = default;
};

/// An input of the graph: a parameter with its qualified name, or what has a source.
struct TapeInput {
    std::string parameter = {};
    std::optional<capture::Source> source = {};
    ValueMeta meta = {};
    bool operator==(const TapeInput&) const = default;
};

struct Tape {
    std::vector<Step> steps = {};
    std::unordered_map<NodeId, TapeInput> inputs = {};  ///< by node of `graph`
    Graph graph = {};                                   ///< as recorded, before it was finished
    std::vector<NodeRef> live = {};                     ///< what the program still held at the end
    Recorded recorded = {};                             ///< the finished graph
    std::vector<NodeId> placeholders = {};              ///< of the finished graph, as nodes of `graph`
    std::vector<NodeId> parameters = {};                ///< its get_attrs
    std::shared_ptr<CompiledGraph> compiled = {};       ///< once it has run
};

}  // namespace whittle::api
