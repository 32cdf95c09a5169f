#include "compile/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/words.h"
#include "compile/hooks.h"
#include "expr/builder.h"
#include "graph/text.h"
#include "ops/core/elements.h"
#include "ops/core/positions.h"
#include "ops/core/registry.h"

namespace whittle::program {
namespace {

constexpr std::size_t kMaxStages = 10;      // more make Halide's compile time grow faster than linearly
constexpr std::size_t kMaxInlined = 150;    // distinct expression nodes of one value before it is stored
constexpr std::size_t kCheapToRepeat = 12;  // a value with several users is recomputed below this, stored above

/// Indices that stand for any element, to look at a value's expression.
expr::Index sample_index(std::size_t rank) {
    expr::Index index;
    for (std::size_t d = 0; d < rank; d++) index.push_back(expr::variable('i' + std::to_string(d)));
    return index;
}

std::size_t cost(const expr::Value& value) { return expr::node_count(value(sample_index(value.sizes().size()))); }

bool is_empty(const Sizes& sizes) { return std::ranges::find(sizes, 0) != sizes.end(); }

class Planner {
  public:
    Planner(const Graph& graph, PassLimits& limits, Scheduler scheduler) : limits_(limits), scheduler_(scheduler) {
        plan_.graph = graph;
    }

    Plan run() {
        find_uses();
        start_group();
        const Graph& graph = plan_.graph;
        for (position_ = 0; position_ < static_cast<NodeId>(graph.nodes.size()); position_++) {
            const Node& node = graph.node({position_});
            if (is_op_call(node)) add(node);
        }
        position_ = static_cast<NodeId>(graph.nodes.size()) - 1;  // the output node: what it reads is still needed
        close_group();
        for (NodeId id : graph.outputs()) plan_.outputs.push_back(value_of(graph, {id}));
        return std::move(plan_);
    }

  private:
    void find_uses() {
        const Graph& graph = plan_.graph;
        for (NodeId id : graph.outputs()) stored_.insert(value_of(graph, {id}));
        for (const Node& node : graph.nodes)
            if (is_op_call(node))
                for (const Positions& positions : positions_of(graph, node))
                    stored_.insert(value_of(graph, positions.operand));
        for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
            const Node& node = graph.node({id});
            if (is_getitem(node)) continue;  // its users read the producer
            std::set<ValueRef> read;
            for_each_input(node, [&](NodeRef ref) { read.insert(value_of(graph, ref)); });
            for (const ValueRef& key : read) {
                last_use_[key] = id;
                use_count_[key]++;
            }
        }
    }

    void add(const Node& node) {
        const std::vector<PositionsCheck> checks = checks_of(node);
        const bool unchecked =
            std::ranges::any_of(checks, [&](const PositionsCheck& check) { return is_computed_here(check.value); });
        if (unchecked || builder_->stage_count() >= kMaxStages || (started_ && !limits_.apply(PassId::fuse)))
            close_group();
        const bool fused = started_;
        started_ = true;
        const std::size_t before = builder_->update_count();
        std::vector<expr::Value> results = lower(node);
        if (before > 0 && builder_->update_count() > before) {
            // A second anchor: what was added for it is dropped with the unused stages, and it starts the next group,
            // where it reads as inputs what it was lowered from here. Whether a call is an anchor its lowering decides;
            // to ask in this way costs a twentieth of planning, which is milliseconds of a compilation that takes
            // seconds.
            close_group();
            started_ = true;
            results = lower(node);
        }
        if (fused && after_pass())
            after_pass()({.pass = PassId::fuse, .nth = limits_.applications(PassId::fuse), .made = &results});
        kernel_.nodes.push_back(position_);
        append(kernel_.checks, checks);
        const bool lowers_anew = reads_what_stays(node);
        for (std::size_t i = 0; i < results.size(); i++) {
            const ValueRef key{position_, static_cast<int>(i)};
            if (lowers_anew && is_view(results[i]) && !stored_.contains(key)) views_.insert(key);
            values_[key] = keep(results[i], key);
        }
    }

    /// Elements of an input of the group, elsewhere: a kernel that reads them does better to look there than where they
    /// have been copied to.
    bool is_view(const expr::Value& value) const {
        if (is_empty(value.sizes())) return false;
        if (!value.stored_as().empty()) return inputs_.contains(value.stored_as());
        const expr::Expr element = value(sample_index(value.sizes().size()));
        return element->op == expr::Op::load && inputs_.contains(element->name);
    }

    /// Another group can read its operands: none is computed here, as the place of a view's elements may be.
    bool reads_what_stays(const Node& node) const {
        bool stays = true;
        for_each_input(node, [&](NodeRef ref) {
            const ValueRef key = value_of(plan_.graph, ref);
            stays = stays && (views_.contains(key) || !is_computed_here(key));
        });
        return stays;
    }

    /// Of the call's positions; a kernel that has them checked finds them computed by one before it.
    std::vector<PositionsCheck> checks_of(const Node& node) const {
        std::vector<PositionsCheck> checks;
        for (const Positions& positions : positions_of(plan_.graph, node))
            if (!is_empty(plan_.graph.node(positions.operand).meta().sizes))
                checks.push_back({.value = value_of(plan_.graph, positions.operand),
                                  .node = position_,
                                  .size = positions.size,
                                  .negatives = positions.negatives});
        return checks;
    }

    bool is_input(const ValueRef& key, const expr::Value& value) const {
        const auto input = inputs_.find(value.stored_as());
        return input != inputs_.end() && input->second == key;
    }
    bool is_computed_here(const ValueRef& key) const {
        const auto found = values_.find(key);
        return found != values_.end() && !is_input(key, found->second);
    }

    std::vector<expr::Value> lower(const Node& node) {
        const RegisteredOp& op = Registry::instance().require(node.target);
        const Node* const outer = std::exchange(lowering_, &node);  // a view is lowered where another call reads it
        builder_->set_origin(node.name, print(plan_.graph, node));
        const Arguments<expr::Value> arguments(op.schema, node,
                                               [&](NodeRef ref) { return value(value_of(plan_.graph, ref)); });
        std::vector<expr::Value> results = lower(*op.def, arguments);
        if (after_pass()) after_pass()({.pass = PassId::lower, .call = &node, .made = &results});
        for (const expr::Value& result : results) builder_->set_result(result);
        lowering_ = outer;
        if (outer) builder_->set_origin(outer->name, print(plan_.graph, *outer));
        return results;
    }

    std::vector<expr::Value> lower(const OpDef& op, const Arguments<expr::Value>& arguments) {
        try {
            return op.lower(*builder_, arguments);
        } catch (const Error& error) {
            throw LoweringError(error);
        }
    }

    /// Stores what would be recomputed too often or has grown too large; leaves the rest to substitution.
    expr::Value keep(const expr::Value& value, const ValueRef& key) {
        if (is_empty(value.sizes())) return value;
        const std::size_t nodes = cost(value);
        const bool repeated = use_count_[key] > 1 && nodes > kCheapToRepeat;
        if (repeated || nodes > kMaxInlined) return builder_->materialize(value);
        if (!value.stored_as().empty()) return value;
        const PassId pass = PassId::inline_value;
        if (!limits_.apply(pass)) return builder_->materialize(value);
        if (!after_pass()) return value;
        expr::Value inlined = value;
        after_pass()({.pass = pass, .nth = limits_.applications(pass), .made = &inlined});
        return inlined;
    }

    /// The value in the current group: computed here, or an input of the group.
    expr::Value value(const ValueRef& key) {
        if (const auto found = values_.find(key); found != values_.end()) return found->second;
        const Node& node = plan_.graph.node({key.node});
        const ValueMeta& meta = node.results.at(static_cast<std::size_t>(key.index));
        if (views_.contains(key)) return values_[key] = lower(node).at(static_cast<std::size_t>(key.index));
        // Never an input, which a select could load from.
        if (is_empty(meta.sizes)) return values_[key] = empty_value(meta.dtype, meta.sizes);
        // Kernels write contiguous results; only what comes from outside has strides of its own.
        const bool stored_here = node.kind == NodeKind::call;
        const std::string name = key.index ? node.name + "_" + std::to_string(key.index) : node.name;
        expr::Value input =
            builder_->input(name, meta.dtype, meta.sizes, stored_here ? contiguous_strides(meta.sizes) : meta.strides);
        if (node.kind == NodeKind::get_attr) builder_->set_constant(input);
        inputs_[input.stored_as()] = key;
        return values_[key] = input;
    }

    void start_group() {
        builder_.emplace("kernel_" + std::to_string(plan_.kernels.size()));
        kernel_ = {};
        started_ = false;
        values_.clear();
        inputs_.clear();
    }

    /// Ends the current group; what later nodes or the caller read of it becomes its outputs.
    void close_group() {
        for (const auto& [key, value] : values_) {
            const auto last = last_use_.find(key);
            if (is_input(key, value) || views_.contains(key) || is_empty(value.sizes()) || last == last_use_.end() ||
                last->second < position_)
                continue;
            const Node& node = plan_.graph.node({key.node});
            builder_->set_origin(node.name, print(plan_.graph, node));
            builder_->output(value, node.name);
            kernel_.outputs.push_back(key);
        }
        if (!kernel_.outputs.empty()) {
            kernel_.group = builder_->finish();
            for (const expr::Input& input : kernel_.group.inputs) {
                const ValueRef key = inputs_.at(input.name);
                WHITTLE_CHECK(!is_op_call(plan_.graph.node({key.node})) || written_.contains(key),
                              "each value that a kernel reads is an input, or is written by an earlier kernel");
                kernel_.inputs.push_back(key);
            }
            written_.insert(kernel_.outputs.begin(), kernel_.outputs.end());
            kernel_.schedule = scheduler_(kernel_.group);
            if (after_pass())
                after_pass()({.pass = PassId::schedule, .group = &kernel_.group, .made = &kernel_.schedule});
            plan_.kernels.push_back(std::move(kernel_));
            kernel_.checks.clear();
        }
        // Of views alone no kernel is made: the next one, which may read them, has their positions checked.
        std::vector<PositionsCheck> checks = std::move(kernel_.checks);
        start_group();
        kernel_.checks = std::move(checks);
    }

    Plan plan_;
    PassLimits& limits_;
    const Scheduler scheduler_;
    NodeId position_ = 0;
    std::optional<expr::GroupBuilder> builder_;
    Kernel kernel_;
    const Node* lowering_ = nullptr;
    bool started_ = false;                    // a call was lowered into the current group
    std::map<std::string, ValueRef> inputs_;  // of the current group, by name there
    std::map<ValueRef, expr::Value> values_;  // available in the current group
    std::map<ValueRef, NodeId> last_use_;
    std::map<ValueRef, int> use_count_;
    std::set<ValueRef> written_;  // by the kernels that are planned
    std::set<ValueRef> stored_;   // what is read from outside of kernels
    std::set<ValueRef> views_;    // lowered anew in each group that reads them
};

}  // namespace

Plan plan(const Graph& core, PassLimits& limits, Scheduler scheduler) { return Planner(core, limits, scheduler).run(); }

std::vector<DirectiveText> directives(const Plan& plan) {
    std::vector<DirectiveText> all;
    const auto position = [&](const std::string& text) {
        return std::ranges::find_if(all, [&](const DirectiveText& d) { return d.text == text; }) - all.begin();
    };
    for (const Kernel& kernel : plan.kernels)
        for (const expr::Directive* directive : expr::active(kernel.schedule)) {
            const std::string text = expr::print(*directive);
            if (position(text) < static_cast<std::ptrdiff_t>(all.size())) continue;
            DirectiveText entry{text, {}};
            for (const int required : directive->requires_)
                entry.needs.push_back(
                    static_cast<int>(position(expr::print(kernel.schedule[static_cast<std::size_t>(required)]))));
            all.push_back(std::move(entry));
        }
    return all;
}

std::string print(const Plan& plan, const Kernel& kernel) {
    const auto called = [&](ValueRef value) {
        const Node& node = plan.graph.node({value.node});
        const std::string item = node.results.size() > 1 ? "[" + std::to_string(value.index) + "]" : "";
        return "%" + node.name + item;
    };
    const auto maker = [&](ValueRef value) -> std::string {
        for (const Kernel& other : plan.kernels)
            if (std::ranges::find(other.outputs, value) != other.outputs.end()) return other.group.name;
        return std::string(name(plan.graph.node({value.node}).kind));
    };
    std::string text = kernel.group.name + "\n  computes:";
    for (const NodeId id : kernel.nodes) text += " %" + plan.graph.node({id}).name;
    for (const ValueRef value : kernel.inputs) text += "\n  reads:    " + called(value) + " of " + maker(value);
    for (const ValueRef value : kernel.outputs)
        text += "\n  writes:   " + called(value) + " : " +
                whittle::print(plan.graph.node({value.node}).results.at(value.index));
    return text + "\n" + expr::print(kernel.group);
}

}  // namespace whittle::program
