// The interpreter: one loop over the nodes with one overridable step. Eager execution, constant folding, exposing every
// value for accuracy comparison, and the debug backends are all this loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "ops/core/known.h"
#include "ops/core/registry.h"

namespace whittle {

/// What is the same at each run of a graph: kernels and bound arguments looked up, last uses found; what composites
/// without a kernel decompose into, and nested graphs, made when they first run. For graphs that run often.
class PreparedGraph {
  public:
    explicit PreparedGraph(Graph graph);
    const Graph& graph() const { return graph_; }

  private:
    friend class Interpreter;
    class Parts;
    struct Step {
        const RegisteredOp* op = nullptr;  ///< null: not a call, or one that cannot be bound, which tells when it runs
        ArgList bound = {};
        std::vector<NodeId> last_used = {};  ///< values that nothing behind this node reads
        std::shared_ptr<Parts> parts = {};   ///< null: a run has its own
    };
    static std::vector<Step> unbound(const Graph& graph);

    Graph graph_;
    std::vector<Step> steps_;
    bool writes_ = false;  ///< somewhere
};

class Interpreter {
  public:
    virtual ~Interpreter() = default;

    /// One tensor per placeholder in, one per output out. In-place calls write to memory, as in ATen, though never to
    /// that of `inputs` or of attributes: of a graph that writes to those, their values at the end follow the outputs,
    /// in the order of the nodes, as functionalize() has it. Throws Error naming node and op for an op without a kernel
    /// and for operands that do not fit. Values are freed after their last use.
    std::vector<Tensor> run(const Graph& graph, std::span<const Tensor> inputs);
    std::vector<Tensor> run(const PreparedGraph& prepared, std::span<const Tensor> inputs);
    /// The same of inputs that nobody else needs: they, too, are freed after their last use.
    std::vector<Tensor> run_boxed(const PreparedGraph& prepared, std::vector<Tensor>&& inputs);

  protected:
    /// Results of one call; of an in-place one, `op` is the op that computes what is written. The default evaluates the
    /// op's kernel, or its decomposition when it has none.
    virtual std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                                     const Arguments<Tensor>& arguments);
    /// Results of a call of an op that the registry does not know. The default throws the Error that says so.
    virtual std::vector<Tensor> unknown(const Graph& graph, const Node& call,
                                        const std::function<Tensor(NodeRef)>& value);
    /// Called after every node with its results.
    virtual void observe(const Graph& graph, NodeId node, std::span<const Tensor> results);

  private:
    using ResultsOf = std::function<const std::vector<Tensor>&(NodeRef)>;
    /// The whole graph, which writes.
    std::vector<Tensor> run_in_memory(const Graph& graph, const std::vector<PreparedGraph::Step>& steps,
                                      std::vector<Tensor> inputs);
    /// Placeholders and attributes are added to `given`, in memory of their own, unless it is null.
    std::vector<Tensor> run(const Graph& graph, const std::vector<PreparedGraph::Step>& steps,
                            std::vector<Tensor> inputs, std::vector<Tensor>* given);
    /// Binds the call's arguments, unless that is planned, and steps; an Error gets the node's place.
    std::vector<Tensor> call(const Graph& graph, const Node& node, const PreparedGraph::Step& planned,
                             const ResultsOf& results_of);
    static void unshare(const Schema& schema, const Node& call, const ResultsOf& results_of,
                        std::vector<Tensor>& results);
    /// What stands for an attribute of a nested graph, as long as the whole graph, which writes something, runs.
    Tensor own_attribute(const Tensor& value);
    /// The operand that the call has written `results` into.
    Tensor write(const Node& call, Tensor self, const std::vector<Tensor>& results);

    bool in_memory_ = false;  ///< what runs writes
    struct Running {
        const Node* call = nullptr;
        PreparedGraph::Parts* parts = nullptr;
    } running_ = {};  ///< what step() is given
    std::set<std::shared_ptr<Storage>> written_;
    std::map<std::tuple<std::shared_ptr<Storage>, std::int64_t, Sizes, Strides>, Tensor> attributes_;
};

/// Interpreter().run().
std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs);

/// The results of a call of `graph`. Empty where an operand is not known, where it has nested graphs, writes or draws
/// random numbers, and where it cannot be evaluated: whoever runs the graph meets the same error, with more to say.
std::vector<Tensor> constant_results(const Graph& graph, const Node& call, const KnownValue& known);
/// The same of a composite that has been expanded. Empty where the expansion has operands, too.
std::vector<Tensor> constant_results(const Expansion& expansion);

}  // namespace whittle
