// The interpreter of crossref: each call is run, and inferred anew, and both are compared.
#pragma once

#include <memory>
#include <optional>

#include "backends/eager/interpreted.h"
#include "graph/emitter.h"

namespace whittle {

/// Holds what is inferred of a call (dtype, sizes and strides of its results) and what its schema says of writes and
/// shared memory against what happens. `all`: of every op; else of ops from outside (ops/core/custom.h) alone. That our
/// own kernels hand an operand on as their result is no fault.
std::unique_ptr<NamingInterpreter> make_crossref_interpreter(bool all);

/// The first result, as the graph runs so, that is not as it was inferred; nothing where all are or something else
/// fails before.
std::optional<InferredResult> first_inferred_wrongly(const Graph& graph, std::span<const Tensor> inputs, bool all);

/// The part of a repro for it: the graph by the calls that `by` writes, which hold the result against what was
/// inferred. Throws Error where no result was inferred wrongly, and what `by` throws.
SuspectCode crossref_code(const EmitRequest& request, Emitter& by, bool all);

}  // namespace whittle
