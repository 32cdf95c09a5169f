#include "fuzz/random_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/words.h"
#include "graph/value_ref.h"
#include "graph/verify.h"
#include "ops/core/draws.h"
#include "ops/samples/table.h"

namespace whittle::fuzz {
namespace {

constexpr std::int64_t kMostElements = 512;
constexpr std::size_t kMostSamples = 60;  // of one op and dtype
/// Ops whose results nobody says in full: what an empty tensor holds, and factors that depend on how a matrix lies in
/// memory.
constexpr std::string_view kUnspecified[] = {"aten.empty_like.default",  "aten.empty.memory_format",
                                             "aten.new_empty.default",   "aten.empty_strided.default",
                                             "aten._linalg_det.default", "aten._linalg_slogdet.default"};
constexpr DType kDTypes[] = {DType::f32, DType::f64, DType::i64, DType::i32, DType::u8, DType::boolean, DType::f16};

bool finite(const Tensor& tensor) {
    if (!is_floating(tensor.dtype())) return true;
    return std::ranges::all_of(tensor.values<double>(),
                               [](double v) { return std::isfinite(v) && std::fabs(v) < 1e4; });
}

bool fits(const Sample& sample, const ModelOptions& options) {
    if (!sample.subgraphs.empty()) return false;
    return std::ranges::all_of(sample.tensors, [&](const Tensor& tensor) {
        return tensor.numel() <= kMostElements && tensor.numel() > 0 && (options.special || finite(tensor));
    });
}

bool is_constant(const Sample& sample, std::size_t i) {
    return std::ranges::find(sample.constants, i) != sample.constants.end();
}

/// Throws Error for what is no op with samples: `Erf` for `onnx.Erf`.
void check_is_op(const std::string& name) {
    std::vector<std::string> known;
    for (const RegisteredOp& op : Registry::instance().all()) known.emplace_back(op.name);
    if (std::ranges::find(known, name) != known.end()) return;
    const auto dialect_left_out = std::ranges::find_if(known, [&](const std::string& op) {
        return op.ends_with("." + name) || op.find("." + name + ".") != std::string::npos;
    });
    const std::string close =
        dialect_left_out == known.end() ? did_you_mean(name, known) : "did you mean '" + *dialect_left_out + "'?";
    throw Error({"--without", {}}, "unknown op '" + name + "'", close);
}

/// The same graph with its placeholders first, as a graph has to have them.
Graph ordered(const Graph& graph) {
    Graph result = blank_graph(graph, graph.name);
    result.attributes = graph.attributes;
    std::vector<NodeRef> place(graph.nodes.size());
    for (const bool placeholders : {true, false})
        for (std::size_t i = 0; i < graph.nodes.size(); i++) {
            const Node& node = graph.nodes[i];
            if ((node.kind == NodeKind::placeholder) != placeholders) continue;
            place[i] =
                result.add(map_inputs(node, [&](NodeRef ref) { return Arg(place[static_cast<std::size_t>(ref.id)]); }));
        }
    return result;
}

}  // namespace

struct RandomModels::Draft {
    struct Value {
        NodeRef ref;
        std::string by;  ///< the op; empty: an input
        int uses = 0;
    };
    Model model;
    std::vector<Value> values;
    std::map<std::string, std::int64_t> opsets;
};

RandomModels::RandomModels(const ModelOptions& options) : options_(options) {
    for (const std::string& name : options_.without) check_is_op(name);
    for (const RegisteredOp& op : Registry::instance().all()) {
        const std::string name(op.name);
        if (!name.starts_with(options_.dialect + ".") || op.def->higher_order) continue;
        if (!op.same_as.empty()) continue;  // its record is there
        if (std::ranges::find(options_.without, name) != options_.without.end()) continue;
        if (std::ranges::find(kUnspecified, name) != std::end(kUnspecified)) continue;
        std::vector<Call> calls;
        for (const DType dtype :
             options_.dtypes.empty() ? std::vector(std::begin(kDTypes), std::end(kDTypes)) : options_.dtypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            std::size_t taken = 0;
            for (Sample& sample : samples_of(op, dtype)) {
                if (taken == kMostSamples) break;
                if (!fits(sample, options_)) continue;
                try {
                    if (draws_random_numbers(graph_of(op, sample))) break;
                } catch (const Error&) {  // refused on purpose
                    continue;
                }
                calls.push_back({&op, std::move(sample)});
                taken++;
            }
        }
        if (!calls.empty()) calls_by_op_.push_back(std::move(calls));
    }
    if (calls_by_op_.empty())
        throw Error("found no op of dialect '" + options_.dialect +
                        "' that --dtype and --without allow, expected at least one op",
                    "allow more ops with --dtype or --without");
}

const RandomModels::Call& RandomModels::some_call(Random& random) const {
    const auto& calls =
        calls_by_op_[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(calls_by_op_.size())))];
    return calls[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(calls.size())))];
}

/// How many values that are there the call could take, those of pairs not seen yet counting more.
int RandomModels::novelty(const Draft& draft, const Call& call) const {
    int score = 0;
    for (std::size_t i = 0; i < call.sample.tensors.size(); i++) {
        const Tensor& tensor = call.sample.tensors[i];
        if (is_constant(call.sample, i)) continue;
        for (const Draft::Value& value : draft.values) {
            const ValueMeta& meta = draft.model.graph.node(value.ref).meta();
            if (value.by.empty() || meta.dtype != tensor.dtype() || meta.sizes != tensor.sizes()) continue;
            const auto seen = pairs_.find({value.by, std::string(call.op->name)});
            score = std::max(score, seen == pairs_.end() ? 100 : std::max(1, 50 / (1 + seen->second)));
        }
    }
    return score;
}

bool RandomModels::append(Draft& draft, const Call& call, Random& random) {
    Graph& graph = draft.model.graph;
    const Sample& sample = call.sample;
    for (const auto& [domain, version] : sample.opset_imports)
        if (draft.opsets.contains(domain) && draft.opsets.at(domain) != version) return false;
    Draft before = draft;
    std::vector<NodeRef> tensors(sample.tensors.size());
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < sample.tensors.size(); i++) {
        const Tensor& tensor = sample.tensors[i];
        const std::string fresh = (is_constant(sample, i) ? "c" : "x") + std::to_string(graph.nodes.size());
        if (is_constant(sample, i)) {
            tensors[i] = graph.get_attr(fresh, tensor);
            continue;
        }
        std::vector<std::size_t> fitting;
        for (std::size_t v = 0; v < draft.values.size(); v++) {
            const ValueMeta& meta = graph.node(draft.values[v].ref).meta();
            if (meta.dtype == tensor.dtype() && meta.sizes == tensor.sizes()) fitting.push_back(v);
        }
        // Positions and the like must be what the sample says; three of four others are connected.
        const bool connect = !fitting.empty() && (is_floating(tensor.dtype()) || random.below(2)) && random.below(4);
        if (connect) {
            taken.push_back(fitting[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(fitting.size())))]);
            tensors[i] = draft.values[taken.back()].ref;
            continue;
        }
        tensors[i] = graph.placeholder(fresh, ValueMeta::of(tensor));
        draft.model.inputs.push_back(tensor);
        draft.values.push_back({tensors[i], "", 1});
    }
    try {
        Node node;
        node.target = std::string(call.op->name);
        node.args = sample.args;
        node.kwargs = sample.kwargs;
        node = map_inputs(node, [&](NodeRef ref) { return Arg(tensors.at(static_cast<std::size_t>(ref.id))); });
        node.results = infer(graph, node);
        for (const ValueMeta& meta : node.results)
            if (meta.numel() > kMostElements) throw Error("too large");
        for (const NodeRef& result : add_results(graph, graph.add(std::move(node))))
            draft.values.push_back({result, std::string(call.op->name)});
    } catch (const Error&) {  // the op takes this operand of its sample, and not that one
        draft = std::move(before);
        return false;
    }
    for (const std::size_t v : taken) draft.values[v].uses++;
    for (const auto& [domain, version] : sample.opset_imports) draft.opsets[domain] = version;
    for (const std::size_t v : taken)
        if (!draft.values[v].by.empty()) pairs_[{draft.values[v].by, std::string(call.op->name)}]++;
    return true;
}

Model RandomModels::model(std::uint64_t seed) {
    Random random(seed * 0x9e3779b97f4a7c15u + 1);
    const std::int64_t calls = options_.least + random.below(options_.most - options_.least + 1);
    Draft draft;
    draft.model.graph.name = "model_" + std::to_string(seed);
    draft.model.graph.dialect = options_.dialect;
    std::int64_t made = 0;
    for (int tries = 0; made < calls && tries < 200; tries++) {
        const Call* best = &some_call(random);
        if (made > 0) {
            int score = novelty(draft, *best);
            for (int more = 0; more < 40; more++) {
                const Call& other = some_call(random);
                if (const int its = novelty(draft, other); its > score) best = &other, score = its;
            }
            if (score == 0 && tries < 150) continue;  // it would stand beside the others
        }
        made += append(draft, *best, random);
    }
    Graph& graph = draft.model.graph;
    graph.opset_imports = draft.opsets;
    std::vector<NodeRef> outputs;
    for (const Draft::Value& value : draft.values)
        if (!value.by.empty() && value.uses == 0) outputs.push_back(value.ref);
    graph.output(outputs);
    graph = ordered(graph);
    verify(graph, Stage::captured, Registry::instance());
    return std::move(draft.model);
}

}  // namespace whittle::fuzz
