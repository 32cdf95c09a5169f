// The registry: every op Whittle knows, in every dialect. The families are concatenated in visible lines in
// ops/families.cpp.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/schema.h"
#include "ops/core/inplace.h"
#include "ops/core/op.h"
#include "ops/core/other_names.h"

namespace whittle {

/// Sets the strides of a call's results, which come contiguous.
using LayoutFn = void (*)(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results);

/// An op with its parsed schema.
struct RegisteredOp {
    const OpDef* def = nullptr;
    Schema schema;
    std::string text;           ///< of the schema
    std::string name;           ///< target in graphs: "aten.relu.default", "onnx.Conv"
    LayoutFn layout = nullptr;  ///< see ops/core/layout.h; null: results are contiguous, or views
    std::string same_as = {};   ///< the op that this is another name of; empty for one with a record of its own

    /// The op whose record this one has.
    std::string_view record() const { return same_as.empty() ? name : same_as; }
    /// One of PyTorch's or of its packages', not of ONNX's.
    bool of_torch() const {
        constexpr std::string_view kDialects[] = {"aten.", "quantized_decomposed.", "torchvision.", "transformers."};
        return std::ranges::any_of(kDialects, [this](std::string_view dialect) { return name.starts_with(dialect); });
    }
    /// Of "aten.squeeze_.dim": PyTorch's operand is the result from then on. Here it stays what it is, and who reads
    /// such a call has its record's instead.
    bool replaces_operand() const;
};

/// In ATen's dialect an op without an overload is the default one: "relu" -> "aten.relu.default".
std::string target_of(std::string_view dialect, const std::string& name);

/// Records of ops of one dialect, which their names begin with.
struct OpFamily {
    std::string_view dialect;
    std::span<const OpDef> ops;
};
/// The families of all dialects. Defined above this folder, in ops/families.cpp, which knows them.
std::vector<OpFamily> op_families();
/// The ops that have a layout, by name: one rule of ATen's is that of ops in many families, and of all members of few.
/// Defined above this folder, in ops/aten/layout.cpp, which knows them.
std::vector<std::pair<std::string, LayoutFn>> op_layouts();

class Registry final : public SchemaSource {
  public:
    /// All ops of all families, built once.
    static const Registry& instance();

    /// Of ops, and of the in-place forms derived from them.
    const Schema* find(std::string_view target) const override;
    const RegisteredOp* op(std::string_view target) const;
    /// nullptr for a target that is no in-place form.
    const InPlaceForm* in_place(std::string_view target) const;
    /// As op(), but an Error that names the target and close spellings.
    const RegisteredOp& require(std::string_view target) const;
    /// In order of name.
    std::span<const RegisteredOp> all() const { return ops_; }

  private:
    Registry();
    std::deque<DerivedRecord> derived_records_;
    std::vector<RegisteredOp> ops_;
    std::unordered_map<std::string_view, const RegisteredOp*> by_name_;
    mutable std::once_flag derived_;  ///< in_place_ is made when somebody first asks for one
    mutable std::map<std::string, InPlaceForm, std::less<>> in_place_;
};

/// Throws Error when the dtype of the main operand ("self" or "input", else the first tensor, or the first of the first
/// list) is none of the op's. infer() and the interpreter check this, so that no family has to.
template <class T>
void check_main_dtype(const RegisteredOp& op, const Arguments<T>& arguments);

/// Metas of a call's results, from the metas of its operands; through decompose for composites without infer.
std::vector<ValueMeta> infer(const Graph& graph, const Node& call);

/// Recomputes the metas of all calls in order, after placeholders or attributes changed. Throws Error naming the node.
void infer_all(Graph& graph);

/// A graph that is one call's decomposition: a placeholder per distinct operand (a get_attr where the operand is one in
/// `graph`) and the decomposed calls; its outputs are the call's results. `operands` are the nodes of `graph` whose
/// values the placeholders take, in order. The op must be a composite.
struct Expansion {
    Graph graph;
    std::vector<NodeRef> operands;
};
Expansion expand(const Graph& graph, const Node& call);

}  // namespace whittle
