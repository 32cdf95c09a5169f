// Assertions in graphs: calls that refuse values. Their results are what they were given, so that a graph computes the
// same without them; they stay in it although nobody reads them.
#pragma once

#include <string>

#include "base/error.h"
#include "graph/backend.h"

namespace whittle {

/// What capture records for a condition that is to hold once its value is there.
inline constexpr std::string_view kAssertion = "aten._functional_assert_async.msg";

/// Whether it is a call of an op that refuses values: one with a message for that.
bool asserts(const Node& node);
/// Whether a call of the graph is one; those of nested graphs, which run with them, do not count.
bool has_assertions(const Graph& graph);

/// Why an assertion with this message fails, of the value that it is about: "the number is at most 8: found 9".
std::string failed_assertion(const std::string& message, const Tensor& about);
/// Where an assertion is: its graph, node, op, and the user's line where that is known.
std::string place_of_assertion(const Graph& graph, const Node& call);

/// What the interpreter throws where an assertion of the graph refuses a value, whose own error is `why`.
class RefusedError final : public Error {
  public:
    RefusedError(const Graph& graph, const Node& assertion, const Error& why);
    const Refusal& refusal() const { return refusal_; }

  private:
    Refusal refusal_;
};

}  // namespace whittle
