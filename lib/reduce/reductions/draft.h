// A draft: a case being edited. Its nodes keep their positions, so that edits found in the case can be applied
// together, in any number; finish() makes a case of it: everything downstream inferred anew, what nobody reads any more
// gone, and run on the reference. A draft that is no legal case gives none.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "reduce/reductions/case.h"

namespace whittle::reduce {

class Draft {
  public:
    explicit Draft(const Case& from);

    /// As it was; positions are those of this graph.
    const Graph& from() const { return *from_; }
    /// A nested graph of it, by its name.
    Draft& nested(const std::string& name);

    /// Whoever reads `value` reads `by` from now on, which lies before it or is a leaf. The first replacement counts.
    void replace(NodeId value, NodeRef by);
    /// Whether the value, or a getitem of it, was replaced.
    bool replaced(NodeId value) const;
    /// A new constant.
    NodeRef constant(const Tensor& value, const std::string& name);
    /// A new node that comes before node `before` and after what was inserted there so far. Its metas are inferred.
    NodeRef insert(Node node, NodeId before);
    /// Another nested graph; returns the name that it gets.
    std::string adopt(const std::string& name, std::shared_ptr<const Graph> nested);
    /// To change the arguments of a call.
    Node& node(NodeId id) { return work_.nodes.at(static_cast<std::size_t>(id)); }

    /// What a placeholder (of the outermost graph) or a get_attr holds.
    const Tensor& data(NodeId leaf) const;
    void set_data(NodeId leaf, const Tensor& value);
    /// Which elements along a dimension stay.
    enum class Keep { first, last };
    /// A leaf of the same rank and smaller sizes: of what it holds, the first or the last along each dimension.
    void cut(NodeId leaf, const Sizes& sizes, Keep keep = Keep::first);

    void drop_output(std::size_t position) { dropped_outputs_.push_back(position); }

    /// Nothing when inference, the verifier or the reference refuses it, or no call is left.
    std::optional<Case> finish() const;

    /// Inference only, without data: whether sizes and dtypes fit. A necessary condition of finish(), and cheap.
    bool infers() const;

  private:
    explicit Draft(const Graph& nested);
    NodeRef placed(NodeRef added, double order);
    NodeRef resolved(NodeRef ref) const;
    std::optional<Graph> assemble() const;
    void set_outputs(Node& output) const;
    bool infer_again(Graph& graph) const;

    const Graph* from_;
    bool outermost_;
    Graph work_;
    std::vector<double> order_;             ///< of each node of work_, within its kind
    std::vector<NodeRef> replacement_;      ///< of each node of work_; -1: itself
    std::map<std::string, Tensor> inputs_;  ///< by the placeholder's name
    std::map<std::string, Draft> nested_;
    std::vector<std::size_t> dropped_outputs_;
};

}  // namespace whittle::reduce
