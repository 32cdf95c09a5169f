// Random models: valid graphs of ops that the registry knows, made of its own samples, after the idea of NNSmith
// (Liu et al., "NNSmith: Generating Diverse and Valid Test Cases for Deep Learning Compilers", arXiv 2207.13066): what
// fits together is found, not guessed.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/core/registry.h"
#include "ops/samples/sample.h"
#include "tensor/random.h"

namespace whittle::fuzz {

struct ModelOptions {
    std::string dialect = "aten";           ///< or "onnx"
    std::int64_t least = 1, most = 8;       ///< calls
    bool special = false;                   ///< NaN, infinities and the like among the data
    std::vector<std::string> without = {};  ///< ops that are not to occur
    std::vector<DType> dtypes = {};         ///< of the main operands of calls; none: the usual ones
};

struct Model {
    Graph graph;
    std::vector<Tensor> inputs;  ///< one per placeholder
};

/// The same seed gives the same models.
class RandomModels {
  public:
    explicit RandomModels(const ModelOptions& options);

    /// The model of a number: calls that take what earlier ones give, as far as dtypes and sizes fit, and are chosen so
    /// that pairs of ops come that were not there yet. What no call reads is an output.
    Model model(std::uint64_t seed);

    std::size_t ops() const { return calls_by_op_.size(); }
    /// Pairs of a call and one that reads it, so far.
    std::size_t pairs() const { return pairs_.size(); }

  private:
    struct Call {
        const RegisteredOp* op = nullptr;
        Sample sample = {};
    };
    struct Draft;

    const Call& some_call(Random& random) const;
    bool append(Draft& draft, const Call& call, Random& random);
    int novelty(const Draft& draft, const Call& call) const;

    const ModelOptions options_;
    std::vector<std::vector<Call>> calls_by_op_;
    std::map<std::pair<std::string, std::string>, int> pairs_;
};

}  // namespace whittle::fuzz
