// What happened at a call, held against what was declared, recorded or inferred of it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/eager/interpreted.h"
#include "base/error.h"
#include "graph/emitter.h"

namespace whittle {

/// What is thrown at a call that is not as it was said.
class WrongCall : public Error {
  public:
    /// Nothing is held where a call is wrong in a way that no program without Whittle shows.
    explicit WrongCall(const std::string& message, std::optional<Held> held = {}) : Error(message), held_(held) {}
    const std::optional<Held>& held() const { return held_; }

  private:
    std::optional<Held> held_;
};

/// Runs each call and holds it to its schema and to what was said of its results: operands that the schema does not
/// declare as written have the same bits; results share memory with operands, and with each other, only where it says
/// so (of ops from outside: our own kernels may hand an operand on); results are of the dtypes, sizes and strides that
/// were said. Of what is written in place the sizes count: it keeps its dtype and strides.
class HoldingInterpreter : public NamingInterpreter {
  public:
    /// The first that was wrong, where a program can show it.
    const std::optional<Held>& wrong() const { return wrong_; }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) final;

  private:
    /// What was said of the call's results before it runs; nothing where the call is not looked at.
    virtual std::optional<std::vector<ValueMeta>> said_of(const Graph& graph, const Node& call) = 0;
    /// What that is called: "recorded".
    virtual std::string said_is() const = 0;

    std::optional<Held> wrong_;
};

/// What the checks and the program say of a result: "f32[2, 3]".
std::string kind_text(ValueMeta meta);

/// What it finds wrong first, where a program can show it. It runs on copies: a kernel may write to what it is given.
std::optional<Held> first_wrong(HoldingInterpreter& interpreter, const Graph& graph, std::span<const Tensor> inputs);

/// The part of a repro of it: the graph by calls of LibTorch, and what is asked of the one. `who` said otherwise, "what
/// Whittle infers". Throws Error where nothing is wrong, and what LibTorch's part throws.
SuspectCode held_code(const EmitRequest& request, std::optional<Held> wrong, const FindBackend& find,
                      const std::string& who);

}  // namespace whittle
