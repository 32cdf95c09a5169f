// Modes: objects that intercept each operation that this thread computes, as PyTorch's TorchDispatchMode does:
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
//   const whittle::ModeScope named("nan;time");  // the modes of --backend eager_with_modes
//
// A mode sees operations that run eagerly, and those of graphs that a backend interprets (eager and the debug
// backends). It does not see inside graphs that another backend compiled, bodies of cond(), while_loop() and map(), or
// operations.
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
    /// Returns the results of `compute`, or other tensors of the same dtypes and sizes. An exception fails the call.
    /// Only the modes below see operations that it computes itself.
    virtual TensorList call(const OpCall& op, const Compute& compute) = 0;
};

/// While it lives, the mode intercepts each operation on this thread; the mode must outlive it. The mode of the newest
/// scope is called first. Scopes may end in any order.
class ModeScope {
  public:
    explicit ModeScope(Mode& mode);
    /// The built-in modes of these names, the first one outermost: log, nan, time, memory;
    /// share/doc/reference/backends.md describes them. Throws std::exception for another name.
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
