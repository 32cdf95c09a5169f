// Modes: objects around each operation that this thread computes, as PyTorch's TorchDispatchMode:
//
//   struct Count : whittle::Mode {
//       std::map<std::string, int> calls;
//       whittle::TensorList call(const whittle::OpCall& op, const Compute& compute) override {
//           ++calls[op.target];
//           return compute();
//       }
//   };
//   Count count;
//   const whittle::ModeScope scope(count);
//   const whittle::ModeScope named("nan;time");  // those that --backend eager_with_modes has
//
// They see what runs eagerly, and graphs that are interpreted (backend eager and its like); what another backend
// compiled is not looked into, nor are the bodies of cond(), while_loop() and map(), and what an operation is made of.
#ifndef WHITTLE_API_MODES_H
#define WHITTLE_API_MODES_H

#include <whittle/api/tensor.h>

#include <functional>
#include <memory>
#include <string>

WHITTLE_API_BEGIN

/// One call of an operation.
struct OpCall {
    std::string target = {};   ///< "aten.relu.default"
    std::string name = {};     ///< in a graph: of its node
    TensorList operands = {};  ///< in the order of the arguments
};

class Mode {
  public:
    using Compute = std::function<TensorList()>;
    virtual ~Mode() = default;
    /// Returns what `compute` does, or other tensors of the same dtypes and sizes. What it throws fails the call.
    /// Operations of its own are seen by the modes below it only.
    virtual TensorList call(const OpCall& op, const Compute& compute) = 0;
};

/// As long as it lives, the mode, which outlives it, is around each operation on this thread; the mode of the scope
/// that was entered last is called first. A scope that ends before those above it leaves them.
class ModeScope {
  public:
    explicit ModeScope(Mode& mode);
    /// The shipped modes of these names, the first the outermost: log, nan, time, memory, as
    /// share/doc/reference/backends.md has them. Throws std::exception for another name.
    explicit ModeScope(const std::string& names);
    ~ModeScope();
    ModeScope(const ModeScope&) = delete;
    ModeScope& operator=(const ModeScope&) = delete;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

WHITTLE_API_END

#endif
