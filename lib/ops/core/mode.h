// Modes: interceptors around each call that is computed on this thread, by the interpreter or, of a program, eagerly.
// They stack: the one that was entered last is called first, and what computes is, for it, the one below.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// Computes a call's results.
using Compute = std::function<std::vector<Tensor>()>;

struct ModeCall {
    const Node& node;
    const std::function<Tensor(NodeRef)>& value;  ///< of what the node reads
};

class Mode {
  public:
    virtual ~Mode() = default;
    /// Returns what `compute` does, or other tensors of the same kinds; throws what fails the call. What it computes
    /// itself, only the modes below see.
    virtual std::vector<Tensor> call(const ModeCall& call, const Compute& compute) = 0;
};

/// As long as it lives, the mode, which outlives it, is around each call on this thread.
class ModeScope {
  public:
    explicit ModeScope(Mode& mode);
    ~ModeScope();
    ModeScope(const ModeScope&) = delete;
    ModeScope& operator=(const ModeScope&) = delete;

  private:
    friend std::vector<Tensor> under_modes(const ModeCall& call, const Compute& compute);
    Mode& mode_;
    ModeScope* below_;
};

/// As long as it lives, this thread computes outside of all modes: what is no call of the program's.
class WithoutModes {
  public:
    WithoutModes();
    ~WithoutModes();
    WithoutModes(const WithoutModes&) = delete;
    WithoutModes& operator=(const WithoutModes&) = delete;

  private:
    ModeScope* const before_;
};

/// When it is left, this thread has the modes that it had before: scopes that were left open are forgotten.
class SameModes {
  public:
    SameModes();
    ~SameModes();
    SameModes(const SameModes&) = delete;
    SameModes& operator=(const SameModes&) = delete;

  private:
    ModeScope* const before_;
};

/// Whether a mode is around the calls of this thread.
bool in_mode();

/// What `compute` gives, under the modes of this thread. What it computes on the way is part of the call: nested
/// graphs, the parts of a composite.
std::vector<Tensor> under_modes(const ModeCall& call, const Compute& compute);

}  // namespace whittle
