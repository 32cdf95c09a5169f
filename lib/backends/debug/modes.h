// Modes: interceptors around each call of a graph that is interpreted, which stack.
#pragma once

#include "backends/eager/interpreted.h"

namespace whittle {

/// Computes a call's results.
using Compute = std::function<std::vector<Tensor>()>;

/// Is around each call of one run, calls in nested graphs left out; what it has to say at the end, its destructor says.
class Mode {
  public:
    virtual ~Mode() = default;
    /// Returns what `compute` does; throws the Error that fails the run.
    virtual std::vector<Tensor> call(const Node& call, const Compute& compute) = 0;
};

/// An interpreter under the modes of these names, the first of which is the outermost:
///   log     says each call and what it gives
///   nan     fails at the first call that gives NaN
///   time    says at the end how long the calls of each op took
///   memory  says at the end how many bytes results held at most, and at which call
/// What is said goes to stderr. Throws Error, which names the option `key`, for a name that there is not and for none.
MakeInterpreter under_modes(const std::string& key, const std::vector<std::string>& names);

}  // namespace whittle
