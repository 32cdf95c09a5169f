#include "backends/halide/plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "backends/halide/control_flow.h"
#include "base/error.h"
#include "base/log.h"
#include "expr/builder.h"
#include "graph/text.h"
#include "ops/core/registry.h"
#include "passes/decompose.h"

namespace whittle::halide {
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

bool is_empty(const Sizes& sizes) { return std::find(sizes.begin(), sizes.end(), 0) != sizes.end(); }

/// A tensor without elements: any expression will do, none is evaluated. Never an input, which a select could load
/// from.
expr::Value empty_value(DType dtype, const Sizes& sizes) {
    return expr::Value(dtype, sizes, [dtype](const expr::Index&) { return expr::constant(dtype, Scalar(0)); });
}

/// The first update with a loop that is long enough to race in; null stage when there is none.
struct Race {
    const expr::Stage* stage = nullptr;
    int update = 0;
    std::string loop = {};
};
Race find_race(const expr::Group& group) {
    for (const expr::Stage& stage : group.stages)
        for (std::size_t k = 0; k < stage.updates.size(); k++)
            for (const expr::LoopVar& var : stage.updates[k].domain)
                if (var.extent >= 8) return {&stage, static_cast<int>(k), var.name};
    return {};
}

/// The planted schedule bug: lanes of one vector race to update the same element.
void plant_race(const expr::Group& group, expr::Schedule& schedule) {
    using Kind = expr::Directive::Kind;
    const Race race = find_race(group);
    if (!race.stage) return;
    const std::string& stage = race.stage->name;
    std::vector<int> needs;  // as other directives on loops: a stage that is inlined has none
    for (std::size_t i = 0; i < schedule.size(); i++) {
        expr::Directive& other = schedule[i];
        if (other.stage != stage) continue;
        if (other.kind == Kind::compute_root) needs.push_back(static_cast<int>(i));
        if (other.kind == Kind::vectorize && other.update == race.update) other.enabled = false;
    }
    schedule.push_back({.kind = Kind::allow_race, .stage = stage, .update = race.update, .requires_ = needs});
    needs.push_back(static_cast<int>(schedule.size()) - 1);
    schedule.push_back({.kind = Kind::vectorize,
                        .stage = stage,
                        .update = race.update,
                        .args = {race.loop},
                        .factor = 8,
                        .tail = "GuardWithIf",
                        .requires_ = needs});
}

class Planner {
  public:
    Planner(Graph graph, const Planted& planted, PassLimits limits) : planted_(planted) {
        plan_.graph = std::move(graph);
        plan_.limits = std::move(limits);
    }

    Plan run() {
        find_uses();
        start_group();
        const Graph& graph = plan_.graph;
        for (position_ = 0; position_ < static_cast<NodeId>(graph.nodes.size()); position_++) {
            const Node& node = graph.nodes[static_cast<std::size_t>(position_)];
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
        for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); id++) {
            const Node& node = graph.nodes[static_cast<std::size_t>(id)];
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
        if (builder_->stage_count() >= kMaxStages || (started_ && !plan_.limits.apply("fuse"))) close_group();
        const bool wrong = started_ && is_planted("fuse");
        started_ = true;
        const std::size_t before = builder_->update_count();
        std::vector<expr::Value> results = lower(node);
        if (before > 0 && builder_->update_count() > before) {
            // A second anchor: what was added for it is dropped with the unused stages, and it starts the next group.
            close_group();
            started_ = true;
            results = lower(node);
        }
        if (wrong)
            for (expr::Value& result : results) result = one_more(result);
        for (std::size_t i = 0; i < results.size(); i++) {
            const ValueRef key{position_, static_cast<int>(i)};
            values_[key] = keep(results[i], key);
        }
    }

    std::vector<expr::Value> lower(const Node& node) {
        const RegisteredOp& op = Registry::instance().require(node.target);
        builder_->set_origin(node.name, print(plan_.graph, node));
        const Arguments<expr::Value> arguments(op.schema, node,
                                               [&](NodeRef ref) { return value(value_of(plan_.graph, ref)); });
        std::vector<expr::Value> results = op.def->lower(*builder_, arguments);
        if (planted_.lowering == node.target)
            for (expr::Value& result : results) result = one_more(result);
        return results;
    }

    static expr::Value one_more(const expr::Value& value) {
        return expr::Value(value.dtype(), value.sizes(), [value](const expr::Index& index) {
            return expr::cast(value.dtype(),
                              expr::cast(DType::f32, value(index)) + expr::constant(DType::f32, Scalar(1.0)));
        });
    }

    /// Stores what would be recomputed too often or has grown too large; leaves the rest to substitution.
    expr::Value keep(const expr::Value& value, const ValueRef& key) {
        if (is_empty(value.sizes())) return value;
        const std::size_t nodes = cost(value);
        const bool repeated = use_count_[key] > 1 && nodes > kCheapToRepeat;
        if (repeated || nodes > kMaxInlined) return builder_->materialize(value);
        if (!value.stored_as().empty()) return value;
        if (!plan_.limits.apply("inline")) return builder_->materialize(value);
        return is_planted("inline") ? one_more(value) : value;
    }

    /// The bug that is planted in the pass strikes now.
    bool is_planted(const std::string& pass) const {
        return planted_.pass == pass && plan_.limits.applications(pass) == 2;
    }

    /// The value in the current group: computed here, or an input of the group.
    expr::Value value(const ValueRef& key) {
        if (const auto found = values_.find(key); found != values_.end()) return found->second;
        const Node& node = plan_.graph.nodes[static_cast<std::size_t>(key.node)];
        const ValueMeta& meta = node.results.at(static_cast<std::size_t>(key.index));
        if (is_empty(meta.sizes)) return values_[key] = empty_value(meta.dtype, meta.sizes);
        // Kernels write contiguous results; only what comes from outside has strides of its own.
        const bool stored_here = node.kind == NodeKind::call;
        const std::string name = key.index ? node.name + "_" + std::to_string(key.index) : node.name;
        expr::Value input =
            builder_->input(name, meta.dtype, meta.sizes, stored_here ? contiguous_strides(meta.sizes) : meta.strides);
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
            const bool input = inputs_.contains(value.stored_as()) && inputs_.at(value.stored_as()) == key;
            if (input || is_empty(value.sizes()) || last == last_use_.end() || last->second < position_) continue;
            builder_->output(value, plan_.graph.nodes[static_cast<std::size_t>(key.node)].name);
            kernel_.outputs.push_back(key);
        }
        if (!kernel_.outputs.empty()) {
            kernel_.group = builder_->finish();
            for (const expr::Input& input : kernel_.group.inputs) kernel_.inputs.push_back(inputs_.at(input.name));
            kernel_.schedule = schedule(kernel_.group);
            if (planted_.schedule) plant_race(kernel_.group, kernel_.schedule);
            plan_.kernels.push_back(std::move(kernel_));
        }
        start_group();
    }

    Plan plan_;
    const Planted& planted_;
    NodeId position_ = 0;
    std::optional<expr::GroupBuilder> builder_;
    Kernel kernel_;
    bool started_ = false;                    // a call was lowered into the current group
    std::map<std::string, ValueRef> inputs_;  // of the current group, by name there
    std::map<ValueRef, expr::Value> values_;  // available in the current group
    std::map<ValueRef, NodeId> last_use_;
    std::map<ValueRef, int> use_count_;
};

/// Sizes that indices of 32 bits cannot address.
std::optional<BackendFailure> too_large(const Graph& graph) {
    for (const Node& node : graph.nodes)
        for (const ValueMeta& meta : node.results)
            if (meta.numel() > std::numeric_limits<std::int32_t>::max())
                return BackendFailure{.stage = "compile",
                                      .op = node.target,
                                      .message = "%" + node.name + " has " + to_string(meta.sizes) +
                                                 " elements, and Halide's indices have 32 bits",
                                      .unsupported = true};
    return std::nullopt;
}

}  // namespace

namespace {

/// A dtype that Halide does not have, of the call's results or operands.
std::optional<DType> foreign_dtype(const Graph& graph, const Node& call) {
    std::optional<DType> found;
    const auto look = [&](const ValueMeta& meta) {
        if (info_of(meta.dtype).halide.empty()) found = meta.dtype;
    };
    for (const ValueMeta& meta : call.results) look(meta);
    for_each_input(call, [&](NodeRef ref) {
        for (const ValueMeta& meta : graph.node(ref).results) look(meta);
    });
    return found;
}

void add_not_lowered(const Graph& graph, std::vector<std::string>& targets) {
    const Graph core = decompose(graph);
    for (const Node& node : core.nodes) {
        if (!is_op_call(node)) continue;
        const RegisteredOp* op = Registry::instance().op(node.target);
        if (op && (op->def->lower || op->def->higher_order) && !foreign_dtype(core, node)) continue;
        if (std::find(targets.begin(), targets.end(), node.target) == targets.end()) targets.push_back(node.target);
    }
    if (has_higher_order(graph))
        for (const auto& [name, nested] : graph.subgraphs) add_not_lowered(*nested, targets);
}

}  // namespace

std::vector<std::string> not_lowered(const Graph& graph) {
    std::vector<std::string> targets;
    add_not_lowered(graph, targets);
    return targets;
}

std::variant<Plan, BackendFailure> plan(const Graph& graph, const Planted& planted, PassLimits limits) {
    for (const Node& node : graph.nodes)
        if (const auto dtype = foreign_dtype(graph, node))
            return BackendFailure{.stage = "compile",
                                  .op = node.target,
                                  .message = "halide has no element type " + std::string(name(*dtype)) + ", which %" +
                                             node.name + " computes or reads",
                                  .unsupported = true};
    std::vector<std::string> missing = not_lowered(graph);
    for (const Node& node : graph.nodes)  // run by compile_control_flow()
        if (const RegisteredOp* op = Registry::instance().op(node.target); op && op->def->higher_order)
            missing.push_back(node.target);
    if (!missing.empty()) {
        std::string list;
        for (const std::string& target : missing) list += (list.empty() ? "" : ", ") + target;
        return BackendFailure{.stage = "compile",
                              .op = missing.front(),
                              .message = "halide does not implement " + list,
                              .unsupported = true};
    }
    Graph core = decompose(graph);
    if (auto failure = too_large(core)) return *failure;
    try {
        return Planner(std::move(core), planted, std::move(limits)).run();
    } catch (const Error& error) {  // an op refuses these operands by name
        return BackendFailure{.stage = "compile", .op = {}, .message = error.what(), .unsupported = true};
    }
}

std::variant<Plan, BackendFailure> plan(const Graph& graph, const BackendOptions& options) {
    auto planned = plan(graph, planted_from(options), PassLimits(options));
    const auto disable = options.find("disable");
    Plan* plan = std::get_if<Plan>(&planned);
    if (!plan || disable == options.end()) return planned;
    std::set<std::string> off;
    std::istringstream texts(disable->second);
    for (std::string text; std::getline(texts, text, ';');)
        if (!text.empty()) off.insert(text);
    std::set<std::string> unknown = off;
    for (const Pass& pass : passes()) unknown.erase(std::string(pass.name));
    for (Kernel& kernel : plan->kernels)
        for (expr::Directive& directive : kernel.schedule) {
            const std::string text = expr::print(directive);
            if (!off.contains(text)) continue;
            directive.enabled = false;
            unknown.erase(text);
        }
    for (const std::string& text : unknown) log_warning("backend", "halide: disable: no kernel has " + text);
    return planned;
}

std::vector<DirectiveText> directives(const Plan& plan) {
    std::vector<DirectiveText> all;
    const auto position = [&](const std::string& text) {
        return std::find_if(all.begin(), all.end(), [&](const DirectiveText& d) { return d.text == text; }) -
               all.begin();
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

Planted planted_from(const BackendOptions& options) {
    Planted planted;
    const auto found = options.find("plant_TESTING_ONLY");
    if (found == options.end()) return planted;
    const std::string prefix = "lowering=", pass = "pass=";
    if (found->second == "schedule")
        planted.schedule = true;
    else if (found->second.starts_with(prefix))
        planted.lowering = found->second.substr(prefix.size());
    else if (found->second == pass + "fuse" || found->second == pass + "inline")
        planted.pass = found->second.substr(pass.size());
    else
        throw Error({"plant_TESTING_ONLY", {}},
                    "found '" + found->second + "', expected schedule, lowering=OP, pass=fuse or pass=inline");
    return planted;
}

}  // namespace whittle::halide
