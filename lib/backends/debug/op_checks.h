// What happened at a call, held against what was declared, recorded or inferred of it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/debug/debug.h"
#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "graph/emitter.h"

namespace whittle {

/// A tensor that a call reads, with what it held before.
struct Operand {
    const Param* param;
    NodeId node;
    Tensor tensor, before;
};

/// A call as it ran.
struct CheckedCall {
    const Node& node;
    const RegisteredOp& op;
    const std::vector<Operand>& operands;
    const std::vector<Tensor>& results;

    bool in_place() const { return op.def->name != node.target; }
};

/// What the checks throw.
class WrongCall : public Error {
  public:
    /// Nothing is held where a call is wrong in a way that no program without Whittle shows.
    explicit WrongCall(const std::string& message, std::optional<Held> held = {}) : Error(message), held_(held) {}
    const std::optional<Held>& held() const { return held_; }

  private:
    std::optional<Held> held_;
};

/// Operands that the schema does not declare as written have the same bits.
void check_unwritten(const CheckedCall& call);

/// Results share memory with operands, and with each other, only where the schema says so. That our own kernels hand an
/// operand on as their result is no fault: only ops from outside are asked.
void check_unshared(const CheckedCall& call);

/// Results are of the dtypes, sizes and strides that were `said_is` ("recorded"). Of what is written in place the sizes
/// count: it keeps its dtype and strides.
void check_metas(const CheckedCall& call, const std::vector<ValueMeta>& said, const std::string& said_is);

/// Runs each call and holds it to something.
class HoldingInterpreter : public NamingInterpreter {
  public:
    /// The first that was wrong, where a program can show it.
    const std::optional<Held>& wrong() const { return wrong_; }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) final;

  private:
    /// Whether the call is looked at. Before it runs: what is said of it may be asked for.
    virtual bool holds(const Graph& graph, const Node& call) = 0;
    /// Throws WrongCall.
    virtual void check(const CheckedCall& call) = 0;

    std::optional<Held> wrong_;
};

/// What it finds wrong first, where a program can show it.
std::optional<Held> first_wrong(HoldingInterpreter& interpreter, const Graph& graph, std::span<const Tensor> inputs);

/// The part of a repro of it: the graph by calls of LibTorch, and what is asked of the one. `who` said otherwise, "what
/// Whittle infers". Throws Error where nothing is wrong, and what LibTorch's part throws.
SuspectCode held_code(const EmitRequest& request, std::optional<Held> wrong, const FindBackend& find,
                      const std::string& who);

}  // namespace whittle
