// Deletion: the fewest calls of a case that still fail. A value that is read and no longer computed becomes an input
// that holds what the reference computed, so every subset of the calls is a legal case.
#pragma once

#include <functional>
#include <optional>

#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/core/recorder.h"
#include "reduce/judge.h"

namespace whittle::reduce {

/// The reference cannot run a case, of which no candidate can be made then.
class CannotRun final : public Error {
  public:
    using Error::Error;
};

/// Every value of a case, computed once by the reference, and the cases that some of its calls make.
class Deletion {
  public:
    /// Throws CannotRun. What opaque calls (ops/core/opaque.h) give is made up.
    Deletion(const Graph& graph, std::span<const Tensor> inputs);

    /// The calls that may be dropped are the items of the search.
    int count() const { return static_cast<int>(items_.size()); }
    Case candidate(const Set& kept) const;
    Case whole() const;
    /// The case as it was given: whole() leaves inputs out that nothing reads, and gives results that nothing reads.
    /// Nothing where that is the same, or where a call draws random numbers.
    std::optional<Case> original() const;

    /// The whole is known to fail. `improved` is called for each smaller case, which is judge.last_failing(). `likely`:
    /// names of nodes that may well fail alone.
    Result search(Judge& judge, const Options& options, const std::vector<std::string>& likely = {}) const;

  private:
    std::vector<std::vector<int>> neighbours() const;
    void record();

    const Graph graph_;
    const std::vector<Tensor> inputs_;
    std::vector<NodeId> items_;
    std::map<ValueRef, Tensor> values_;
};

}  // namespace whittle::reduce
