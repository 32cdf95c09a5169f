// CaptureCheck: does a captured graph compute what was observed? That it replays does not show it: where capture took a
// wrong tensor for an operand, or missed an operation, the record holds what the program had, and a wrong graph runs,
// too. So the reference runs each graph on the inputs that were observed, and must get the outputs that were observed.
// A graph that computes something else is a capture fault: ours, or a kernel's that is not what its op's name says.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "judge/gradient_check.h"
#include "tensor/compare.h"

namespace whittle {

enum class CheckPolicy {
    always,
    budget,  ///< until a time is spent; of several runs of a graph the first alone
    never
};

class CaptureCheck {
  public:
    /// `seconds`: what all checks may take together under CheckPolicy::budget.
    explicit CaptureCheck(CheckPolicy policy, double seconds = 0) : policy_(policy), left_(seconds) {}

    /// It checks anything.
    bool checks() const { return policy_ != CheckPolicy::never; }

    struct Finding {
        enum class Kind {
            unchecked,  ///< by the policy, or for want of time
            good,
            fault,  ///< it computes something else
            failed  ///< the reference cannot run it
        };
        Kind kind = Kind::unchecked;
        std::string text = {};  ///< of a fault: what differs; of a failure: "exception at run: …"
        /// Good, though what was observed is not close: it is noise, or rounds otherwise in half types, as chains in
        /// those do where values cancel. Unchecked, of a graph that computes in half types. To be judged by how near it
        /// is to f64.
        bool noisy = false;
    };
    /// `inputs`: one per placeholder, `observed`: one per output. `again`: the graph was checked in another run.
    Finding check(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> observed,
                  bool again = false);

    /// The same of a frame's gradients; see run/gradient_check.h.
    std::vector<GradientVerdict> check_gradients(const capture::CapturedFrame& frame);

  private:
    Finding run(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> observed) const;

    CheckPolicy policy_;
    double left_;  ///< seconds
};

/// How results of the graph are to be judged when other kernels compute them: a result of a wide dtype that comes from
/// calls of a narrower one (a product in bf16, then a cast) is as exact as those.
Accuracy accuracy_of(const Graph& graph);

}  // namespace whittle
