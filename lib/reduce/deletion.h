// Deletion: the fewest parts of a model that still fail.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "judge/frame.h"
#include "reduce/queries.h"

namespace whittle::reduce {

/// The reference cannot run a case, of which no candidate can be made then.
class CannotRun final : public Error {
  public:
    using Error::Error;
};

/// What may be dropped of a model, the items of the search, and the cases that are left.
class Deletion {
  public:
    virtual ~Deletion() = default;
    virtual int count() const = 0;
    virtual Case candidate(const Set& kept) const = 0;
    virtual std::vector<std::vector<int>> neighbours() const = 0;
    /// See Problem::legal.
    virtual Set legal(const Set& wish) const { return wish; }
    /// Items that have these names.
    virtual std::vector<int> named(const std::vector<std::string>&) const { return {}; }
    /// The case as it was given: whole() leaves inputs out that nothing reads, and gives results that nothing reads.
    /// Nothing where that is the same, or where a call draws random numbers.
    virtual std::optional<Case> original() const { return std::nullopt; }

    Case whole() const;
    /// The whole is known to fail. `improved` is called for each smaller case, which is queries.last_failing().
    /// `likely`: names of what may well fail alone.
    Result search(Queries& queries, const Options& options, const std::vector<std::string>& likely = {}) const;
};

/// Calls of a graph, every value of which is computed once by the reference: one that is read and no longer computed
/// becomes an input that holds what the reference computed, so every subset of the calls is a legal case. Throws
/// CannotRun. What opaque calls (ops/core/opaque.h) give is made up.
std::unique_ptr<Deletion> deletion_of_calls(const Graph& graph, std::span<const Tensor> inputs);

/// Nodes of the ONNX file that the frame was read from, as they stand there (frontends/onnx/file_parts.h). What they
/// read of other nodes is random. Throws Error as FileParts does.
std::unique_ptr<Deletion> deletion_of_nodes(const LoadedFrame& frame);

}  // namespace whittle::reduce
