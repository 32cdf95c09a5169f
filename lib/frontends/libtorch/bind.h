// bind_call(): an op of LibTorch as a call in Whittle's terms: its name in the registry, its arguments by the
// registry's schema, in-place ops as the functional ones that compute what they write.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "capture/graph_break.h"
#include "frontends/libtorch/steps.h"
#include "graph/graph.h"

namespace whittle::libtorch {

struct BoundCall {
    Node call;                  ///< target and arguments
    bool random = false;        ///< its results are no function of its arguments: they are recorded, not computed
    bool opaque = false;        ///< of an op or tensor that Whittle does not compute with, as LibTorch was called
    bool writes = false;        ///< the call's result is written to its first argument
    bool on_copies = false;     ///< of an opaque call: it gets copies of what it writes to, and returns those
    bool statistics = false;    ///< it moves the running statistics among its arguments: see written_statistics()
    std::string in_place = {};  ///< the registry's op that does so; when empty it is computed, then copied there
    std::string problem = {};   ///< why it cannot enter a graph; then only that and its kind mean anything
    capture::BreakKind kind = capture::BreakKind::unregistered_op;
};

/// The registry's name of the op that computes what `op` computes, without writing to an argument; empty when there is
/// none. An in-place op's first argument stands for the tensor's old value.
std::string functional_target(const OpName& op);
/// The running statistics that a batch norm in training writes, which neither its schema nor a version counter tells.
std::vector<const TensorRef*> written_statistics(const Step& step);
/// Whether it may write running statistics: not so a batch norm that says that it does not train.
bool may_write_statistics(const Step& step);
/// Its results are no function of its arguments.
bool is_random(const OpName& op);
/// Memory without contents: empty() and the like, and resize_() of a tensor without elements.
bool makes_memory(const Step& step);
/// Whether Whittle has the op as the program calls it, composite or not. Else a composite one is what it is made of.
bool is_known(const OpName& op, const Event& begin);

/// `node_of` gives the node of the n-th tensor among the step's arguments.
BoundCall bind_call(const Step& step, const std::function<NodeRef(std::size_t)>& node_of);

}  // namespace whittle::libtorch
