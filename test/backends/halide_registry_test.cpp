// Every op of the registry, on samples of every dtype it allows (samples.h): what Halide computes is what eager
// computes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "backends/halide/halide_backend.h"
#include "backends/halide/planned.h"
#include "base/error.h"
#include "base/files.h"
#include "base/sanitizer.h"
#include "differing.h"
#include "ops/core/interpreter.h"
#include "ops/core/sparse.h"
#include "ops/samples/table.h"
#include "run_on.h"

using namespace whittle;

namespace {

constexpr std::size_t kShards = 8;
constexpr DType kAsserted = DType::f32;

// The sanitizers see nothing of Halide's machine code; one dtype exercises our side of it.
bool is_tested(const RegisteredOp& op, DType dtype) {
    return (op.def->dtypes & set_of(dtype)) != 0 && (!kAddressSanitizer || dtype == DType::f32);
}

/// All samples of one op and dtype as one graph, so that they share compilations: `outputs[i]` belongs to sample i.
struct Batch {
    Graph graph;
    std::vector<Tensor> inputs;
    std::vector<std::string> labels;  ///< of each output
};

Batch batch(const RegisteredOp& op, const std::vector<Sample>& samples) {
    Batch all;
    std::vector<Arg> outputs;
    std::vector<Graph> parts;
    for (const Sample& sample : samples) parts.push_back(graph_of(op, sample));
    std::vector<std::vector<NodeRef>> map(parts.size());
    all.graph.dialect = parts.empty() ? "aten" : parts[0].dialect;
    if (!parts.empty()) all.graph.opset_imports = parts[0].opset_imports;
    for (const Graph& part : parts) all.graph.subgraphs.insert(part.subgraphs.begin(), part.subgraphs.end());
    for (const bool leaves : {true, false})
        for (std::size_t p = 0; p < parts.size(); p++)
            for (std::size_t i = 0; i < parts[p].nodes.size(); i++) {
                Node node = parts[p].nodes[i];
                map[p].resize(parts[p].nodes.size());
                const bool leaf = node.kind == NodeKind::placeholder || node.kind == NodeKind::get_attr;
                if (leaf != leaves) continue;
                if (node.kind == NodeKind::get_attr) {
                    const Tensor value = parts[p].attributes.at(node.target);
                    node.target = "sample" + std::to_string(p) + "." + node.target;
                    all.graph.attributes[node.target] = value;
                }
                node = map_inputs(node, [&](NodeRef ref) { return Arg(map[p][static_cast<std::size_t>(ref.id)]); });
                if (node.kind == NodeKind::output) {
                    for (const Arg& arg : node.args) {
                        outputs.push_back(arg);
                        all.labels.push_back(samples[p].label);
                    }
                    continue;
                }
                map[p][i] = all.graph.add(std::move(node));
            }
    for (const Sample& sample : samples)
        for (const Tensor& input : sample.inputs()) all.inputs.push_back(input);
    std::vector<NodeRef> refs;
    for (const Arg& arg : outputs) refs.push_back(*arg.node());
    all.graph.output(refs);
    return all;
}

/// Whether some value is of a type that Halide does not have: refused by name ("halide names a dtype that it does not
/// have").
bool has_foreign_dtype(const Graph& graph) {
    for (const Node& node : graph.nodes)
        for (const ValueMeta& meta : node.results)
            if (info_of(meta.dtype).halide.empty()) return true;
    return false;
}

bool lowers(const RegisteredOp& op, const Sample& sample) {
    try {
        const Graph graph = graph_of(op, sample);
        return program::not_lowered(graph).empty() && !has_foreign_dtype(graph);
    } catch (const Error&) {
        return false;  // a decomposition refuses this sample by name
    }
}

/// Halide's checks of buffers are most of the compile time: they are on for one dtype, of which the kernels have the
/// same loads and stores as of any other, and off for composites: halide_wide_test has them on for every kind of
/// lowering.
bool has_asserts(const RegisteredOp& op, DType dtype) {
    return op.def->lower && (dtype == kAsserted || !(op.def->dtypes & set_of(kAsserted)));
}

/// How kernels are compiled.
struct Compiled {
    std::string rules = "auto";
    bool asserts = false;
};

/// Without the passes after which Halide would not see the op.
RunResult run_batch(Backend& backend, const Batch& batch, const Compiled& how) {
    return test::run_on(backend, batch.graph, batch.inputs,
                        {{"asserts", how.asserts ? "on" : "off"}, {"disable", "fold;cse"}, {"rules", how.rules}});
}

/// "OP DTYPE LABEL" of test/known-failing/halide.txt: bugs that are known, each with its reason behind '#'.
const std::set<std::string>& known_failing() {
    static const std::set<std::string> known = [] {
        std::set<std::string> lines;
        std::istringstream in(read_file(WHITTLE_SOURCE_DIR "/test/known-failing/halide.txt"));
        for (std::string line; std::getline(in, line);) {
            line = line.substr(0, line.find('#'));
            while (!line.empty() && line.back() == ' ') line.pop_back();
            if (!line.empty()) lines.insert(line);
        }
        return lines;
    }();
    return known;
}

/// Compares, sample by sample; a refusal by name is not agreement and is counted by the caller.
void check_op(const RegisteredOp& op, DType dtype, Backend& backend, const std::vector<Sample>& samples,
              const Compiled& how) {
    const Batch all = batch(op, samples);
    const std::vector<Tensor> expected = evaluate(all.graph, all.inputs);
    const RunResult result = run_batch(backend, all, how);
    const auto* failure = std::get_if<BackendFailure>(&result);
    INFO(op.name << " " << name(dtype) << ", rules=" << how.rules << (how.asserts ? ", with asserts" : ""));
    if (failure && samples.size() > 1) {  // find out which
        for (const Sample& sample : samples) check_op(op, dtype, backend, {sample}, how);
        return;
    }
    if (failure) {
        FAIL_CHECK(op.name << " " << name(dtype) << " " << all.labels.at(0) << ": " << failure->message);
        return;
    }
    const Values& got = std::get<Values>(result);
    REQUIRE(got.size() == expected.size());
    std::set<std::string> failed;
    for (std::size_t i = 0; i < expected.size(); i++) {
        const std::string difference = test::differing(got[i], expected[i]);
        const std::string which = std::string(op.name) + " " + std::string(name(dtype)) + " " + all.labels[i];
        const bool known = known_failing().contains(which);
        if (!difference.empty() && !known) FAIL_CHECK(which << ": " << difference);
        if (!difference.empty()) failed.insert(which);
        SUCCEED();
    }
    for (const std::string& label : std::set<std::string>(all.labels.begin(), all.labels.end())) {
        const std::string which = std::string(op.name) + " " + std::string(name(dtype)) + " " + label;
        if (known_failing().contains(which) && !failed.contains(which))
            FAIL_CHECK(which << " agrees now: take it out of test/known-failing/halide.txt");
    }
}

/// Whether a rule has made something of a kernel: only rules compute a stage inside another one's loops.
bool has_ruled_kernels(const std::vector<Sample>& samples, const RegisteredOp& op) {
    return std::ranges::any_of(samples, [&](const Sample& sample) {
        program::CompiledProgram program(graph_of(op, sample), {{"disable", "fold;cse"}, {"rules", "always"}});
        const auto planned = halide::planned(program);
        const auto* plan = std::get_if<const program::Plan*>(&planned);
        return plan && std::ranges::any_of((*plan)->kernels, [](const program::Kernel& kernel) {
                   return std::ranges::any_of(kernel.schedule, [](const expr::Directive& directive) {
                       return directive.kind == expr::Directive::Kind::compute_at ||
                              directive.kind == expr::Directive::Kind::vector_math;
                   });
               });
    });
}

/// Every kShards-th op from `shard` on; a test of its own per shard, so that they run side by side.
void check_shard(std::size_t shard) {
    const char* only = std::getenv("WHITTLE_TEST_OP");
    const auto backend = halide::make_halide_backend();
    const auto& registry = Registry::instance().all();
    for (std::size_t i = shard; i < registry.size(); i += kShards) {
        const RegisteredOp& op = registry[i];
        if (op.def->random || (only && op.name.find(only) == std::string_view::npos)) continue;
        for (DType dtype : kAllDTypes) {
            if (!is_tested(op, dtype)) continue;
            // The parts of a composite are walked themselves, in all of their dtypes.
            std::vector<Sample> samples = op.def->lower ? samples_of(op, dtype) : test::sparse_samples(op, dtype);
            std::erase_if(samples, [&](const Sample& sample) { return !lowers(op, sample); });
            // One graph has one set of opsets.
            std::map<std::map<std::string, std::int64_t>, std::vector<Sample>> by_opset;
            for (Sample& sample : samples) by_opset[sample.opset_imports].push_back(std::move(sample));
            for (const auto& [opset, group] : by_opset) {
                const bool asserts = has_asserts(op, dtype);
                check_op(op, dtype, *backend, group, {.asserts = asserts});
                if (dtype != DType::f32 && dtype != DType::f64) continue;
                if (has_ruled_kernels(group, op))
                    check_op(op, dtype, *backend, group, {.rules = "always", .asserts = asserts});
            }
        }
    }
}

}  // namespace

#define WHITTLE_SHARD(n) \
    TEST_CASE("halide agrees with eager on every op and dtype, part " #n, "[halide][exhaustive]") { check_shard(n); }
WHITTLE_SHARD(0)
WHITTLE_SHARD(1)
WHITTLE_SHARD(2)
WHITTLE_SHARD(3)
WHITTLE_SHARD(4)
WHITTLE_SHARD(5)
WHITTLE_SHARD(6)
WHITTLE_SHARD(7)
