#include "ops/aten/hidden_writes.h"
#include "ops/aten/formulas.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/builder.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

using namespace aten;

bool is_instance_norm(const Node& call) { return call.target == "aten.instance_norm.default"; }

/// Copies a graph, call by call.
class Revealer {
  public:
    explicit Revealer(const Graph& from) : from_(from), to_(from), builder_(to_), map_(from.nodes.size()) {
        to_.nodes.clear();
    }

    Graph run(std::vector<NodeId>* stands_for) {
        for (NodeId id = 0; id < static_cast<NodeId>(from_.nodes.size()); ++id) {
            visit(id, from_.node({id}));
            if (stands_for) stands_for->resize(to_.nodes.size(), id);
        }
        return std::move(to_);
    }

  private:
    NodeRef mapped(NodeRef ref) const { return map_.at(static_cast<std::size_t>(ref.id)); }

    void visit(NodeId id, const Node& node) {
        NodeRef& to = map_[static_cast<std::size_t>(id)];
        if (hides_writes(node)) {
            try {
                results_[id] = normalize(node);
            } catch (Error& error) {
                error.locate({error.where().file, place_of(from_, node)});
                throw;
            }
            to = results_[id].front();
        } else if (const auto read = item_read(node); read && results_.contains(read->node)) {
            to = results_.at(read->node).at(static_cast<std::size_t>(read->index));
        } else {
            to = to_.add(map_inputs(node, [&](NodeRef ref) { return Arg(mapped(ref)); }));
        }
    }

    /// The call with what it writes told behind it.
    std::vector<NodeRef> normalize(const Node& call) {
        const Node now = map_inputs(call, [&](NodeRef ref) { return Arg(mapped(ref)); });
        const auto resolve = [&](NodeRef ref) { return builder_.value(ref); };
        const Call arguments(builder_, Registry::instance().require(call.target).schema, now, resolve, Call::RunGraph(),
                             &to_);
        const V input = arguments.tensor("input");
        const double momentum = arguments.number("momentum"), eps = arguments.number("eps");
        const OptionalV weight = arguments.optional_tensor("weight"), bias = arguments.optional_tensor("bias");
        const auto mean = arguments.optional_tensor("running_mean"),
                   variance = arguments.optional_tensor("running_var");
        builder_.set_origin(call);
        if (is_instance_norm(call)) {
            const V result =
                instance_norm(input, weight, bias, {}, {}, true, momentum, eps, arguments.boolean("cudnn_enabled"));
            // By ATen's definition the channels of all samples are normalized as one batch, and then averaged.
            if (mean) move(*mean, average(mean_of(input, positions(input))), momentum);
            if (variance) move(*variance, average(variance_of(input, positions(input))), momentum);
            keep_gradients(call, {result.ref});
            return {result.ref};
        }
        const Vs results = CallResults(_native_batch_norm_legit(input, weight, bias, true, momentum, eps));
        if (mean) move(*mean, results[1], momentum);
        if (variance) {
            Ints all_but_channels = positions(input);
            all_but_channels.insert(all_but_channels.begin(), 0);
            move(*variance, variance_of(input, all_but_channels), momentum);
        }
        const std::vector<NodeRef> refs = refs_of(results);
        keep_gradients(call, refs);
        return refs;
    }

    /// What is inferred knows of no gradients.
    void keep_gradients(const Node& call, const std::vector<NodeRef>& results) {
        for (std::size_t i = 0; i < std::min(results.size(), call.results.size()); ++i) {
            Node& result = to_.nodes[static_cast<std::size_t>(results[i].id)];
            result.results.front().requires_grad = call.results[i].requires_grad;
            if (const auto read = item_read(result))
                to_.nodes[static_cast<std::size_t>(read->node)].results[i].requires_grad =
                    call.results[i].requires_grad;
        }
    }

    void move(const V& running, const V& batch, double momentum) {
        builder_.call("aten.lerp_.Scalar", {running, batch, momentum});
    }
    /// Dimensions behind samples and channels.
    static Ints positions(const V& input) {
        Ints dims;
        for (std::size_t d = 2; d < input.sizes().size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
        return dims;
    }
    static V mean_of(const V& input, const Ints& dims) { return mean(input, dims); }
    /// With the correction spelled out, which PyTorch before 2 wants.
    static V variance_of(const V& input, const Ints& dims) {
        return input.builder->call("aten.var.correction", {input, Arg::ints(dims)}, {{"correction", Arg(1)}});
    }
    /// Of each channel of each sample, over samples.
    static V average(const V& each) { return mean_of(each, {0}); }

    const Graph& from_;
    Graph to_;
    GraphBuilder builder_;
    std::vector<NodeRef> map_;
    std::map<NodeId, std::vector<NodeRef>> results_;  ///< of calls that hid writes
};

}  // namespace

bool hides_writes(const Node& call) {
    if (call.target != "aten.native_batch_norm.default" && call.target != "aten.batch_norm.default" &&
        !is_instance_norm(call))
        return false;
    const Schema& schema = Registry::instance().require(call.target).schema;
    const auto given = [&](const char* name) {
        const Arg* by_name = call.kwarg(name);
        const auto param =
            std::ranges::find(schema.params, name, [](const Param& p) { return std::string_view(p.name); });
        const auto position = static_cast<std::size_t>(param - schema.params.begin());
        return by_name ? *by_name : position < call.args.size() ? call.args[position] : Arg();
    };
    return given(is_instance_norm(call) ? "use_input_stats" : "training") == Arg(true) &&
           (!given("running_mean").is_none() || !given("running_var").is_none());
}

Graph with_visible_writes(const Graph& graph, std::vector<NodeId>* stands_for) {
    if (std::ranges::none_of(graph.nodes, hides_writes)) {
        for (std::size_t i = 0; stands_for && i < graph.nodes.size(); ++i)
            stands_for->push_back(static_cast<NodeId>(i));
        return graph;
    }
    return Revealer(graph).run(stands_for);
}

}  // namespace whittle
