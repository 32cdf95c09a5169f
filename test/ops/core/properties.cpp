// Properties of every registered op, for every dtype it allows and every sample it gives. WHITTLE_TEST_OP=TEXT in the
// environment restricts the walk to ops whose name contains TEXT.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "base/sanitizer.h"
#include "differing.h"
#include "expr/interpret.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "ops/core/lowering.h"
#include "ops/core/sparse.h"
#include "ops/samples/table.h"

namespace whittle {
namespace {

bool wanted(const RegisteredOp& op) {
    const char* filter = std::getenv("WHITTLE_TEST_OP");
    return !filter || op.name.find(filter) != std::string_view::npos;
}

std::string text(const ValueMeta& meta) {
    return std::string(name(meta.dtype)) + to_string(meta.sizes) + " strides " + to_string(meta.strides);
}

/// What is wrong with a sample, or nothing.
using Problem = std::string;

using test::differing;

Problem differing(const std::vector<Tensor>& got, const std::vector<Tensor>& expected) {
    if (got.size() != expected.size())
        return std::to_string(got.size()) + " results, expected " + std::to_string(expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        if (const Problem problem = differing(got[i], expected[i]); !problem.empty())
            return "result " + std::to_string(i) + ": " + problem;
    return {};
}

struct Trial {
    const RegisteredOp& op;
    const Sample& sample;
    Graph graph;
    std::vector<Tensor> inputs, outputs;
};

const Node& call_of(const Graph& graph) {
    const Node* call = nullptr;
    for (const NodeId id : graph.calls())
        if (!call) call = &graph.nodes[static_cast<std::size_t>(id)];
    REQUIRE(call);
    return *call;
}

/// Runs `property` on every op × dtype × sample (sanitized: sparse.h); ops are dealt to `shards` test cases.
void walk(int shard, int shards, const std::function<Problem(const Trial&)>& property) {
    int position = 0;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (position++ % shards != shard || !wanted(op)) continue;
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            for (const Sample& sample : kAddressSanitizer ? test::sparse_samples(op, dtype) : samples_of(op, dtype)) {
                Problem problem;
                try {
                    Trial trial{op, sample, graph_of(op, sample), sample.inputs(), {}};
                    trial.outputs = evaluate(trial.graph, trial.inputs);
                    problem = property(trial);
                } catch (const Error& error) {
                    problem = error.what();
                }
                if (!problem.empty())
                    FAIL_CHECK(op.name << " " << name(dtype) << " '" << sample.label << "': " << problem);
            }
        }
    }
    SUCCEED();
}

/// Of an op without an infer of its own this says that its parts agree, not that it is what it should be: LibTorch says
/// that of ATen's (test/backends/libtorch), libonnx of ONNX's (test/frontends/onnx/standard_inference_test.cpp).
Problem infer_agrees(const Trial& trial) {
    verify(trial.graph, Stage::registered, Registry::instance());
    for (std::size_t i = 0; i < trial.outputs.size(); ++i) {
        const std::vector<NodeId> outputs = trial.graph.outputs();
        const ValueMeta expected = trial.graph.nodes[static_cast<std::size_t>(outputs[i])].meta();
        const ValueMeta got = ValueMeta::of(trial.outputs[i]);
        if (!(got == expected))
            return "result " + std::to_string(i) + ": eval gives " + text(got) + ", infer " + text(expected);
    }
    return {};
}

Problem decompose_agrees(const Trial& trial) {
    // Without a kernel of its own an op *is* its decomposition, and agreement would say nothing. Such ops of ONNX are
    // checked by the standard's models (test/conformance, which lists those that are not), ATen's by LibTorch.
    if (!trial.op.def->decompose || !trial.op.def->eval || trial.op.def->random) return {};
    const Node& call = call_of(trial.graph);
    const Expansion expansion = expand(trial.graph, call);
    verify(expansion.graph, Stage::registered, Registry::instance());
    const std::vector<NodeId> outputs = expansion.graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ValueMeta& meta = expansion.graph.nodes[static_cast<std::size_t>(outputs[i])].meta();
        if (meta.dtype != call.results[i].dtype || meta.sizes != call.results[i].sizes)
            return "result " + std::to_string(i) + ": decompose gives " + text(meta) + ", infer " +
                   text(call.results[i]);
    }
    std::vector<Tensor> operands;
    const std::vector<NodeId> placeholders = trial.graph.placeholders();
    for (const NodeRef operand : expansion.operands)
        for (std::size_t i = 0; i < placeholders.size(); ++i)
            if (placeholders[i] == operand.id) operands.push_back(trial.inputs[i]);
    return differing(evaluate(expansion.graph, operands), trial.outputs);
}

/// Expressions have no complex numbers: who compiles them names the dtype (test/backends/halide_dtype_test.cpp).
bool has_complex(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        return std::ranges::any_of(node.results, [](const ValueMeta& meta) { return is_complex(meta.dtype); });
    });
}

Problem lower_agrees(const Trial& trial) {
    if (trial.op.def->random || has_complex(trial.graph)) return {};
    test::Lowering lowering;
    std::vector<expr::Value> operands;
    for (const Tensor& input : trial.inputs) operands.push_back(lowering.input(input));
    std::vector<expr::Value> results;
    try {
        results = lowering.graph(trial.graph, operands);
    } catch (const test::NotLowered&) {
        return {};  // named in not_lowered.golden
    }
    for (const expr::Value& result : results) lowering.builder.output(result);
    const expr::Group group = lowering.builder.finish();
    const Problem problem = differing(expr::interpret(group, lowering.used_by(group)), trial.outputs);
    return problem.empty() ? problem : problem + "\n" + print(group);
}

constexpr int kShards = 4;

TEMPLATE_TEST_CASE_SIG("infer agrees with eval", "[ops]", ((int Shard), Shard), 0, 1, 2, 3) {
    walk(Shard, kShards, infer_agrees);
}

TEMPLATE_TEST_CASE_SIG("decompose agrees with eval", "[ops]", ((int Shard), Shard), 0, 1, 2, 3) {
    walk(Shard, kShards, decompose_agrees);
}

TEMPLATE_TEST_CASE_SIG("lower agrees with eval", "[ops]", ((int Shard), Shard), 0, 1, 2, 3) {
    walk(Shard, kShards, lower_agrees);
}

TEST_CASE("every op is complete", "[ops]") {
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!wanted(op)) continue;
        INFO(op.name);
        CHECK(!op.def->doc.empty());
        CHECK((op.def->infer || op.def->decompose));
        CHECK((op.def->eval || op.def->decompose));
        CHECK(has_samples(op));
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            std::set<std::string> labels;
            for (const Sample& sample : samples_of(op, dtype)) {
                INFO(name(dtype) << " '" << sample.label << "' twice");
                CHECK(labels.insert(sample.label).second);
            }
            INFO(name(dtype));
            CHECK(!labels.empty());
        }
    }
}

TEST_CASE("samples are listed once, and of registered ops", "[ops]") {
    std::string_view last;
    for (const std::string_view op : sampled_ops()) {
        INFO(op);
        CHECK(Registry::instance().op(op));
        CHECK(op != last);
        last = op;
    }
}

/// Whether it makes complex numbers, or is of them only.
bool needs_complex(const RegisteredOp& op) {
    for (const DType dtype : kAllDTypes) {
        if (!(op.def->dtypes & set_of(dtype)) || is_complex(dtype)) continue;
        for (const Sample& sample : samples_of(op, dtype))
            if (!has_complex(graph_of(op, sample))) return false;
    }
    return true;
}

/// "OP" or, for a composite, "OP through OTHER", for every op that some sample shows not to lower.
std::string not_lowered() {
    std::ostringstream text;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.same_as.empty()) continue;  // as its record
        std::set<std::string> through;
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype)) || op.def->lower) continue;
            for (const Sample& sample : samples_of(op, dtype)) {
                const Graph graph = graph_of(op, sample);
                if (has_complex(graph) && !needs_complex(op)) continue;
                test::Lowering lowering;
                std::vector<expr::Value> operands;
                for (const Tensor& input : sample.inputs())
                    if (!is_complex(input.dtype())) operands.push_back(lowering.input(input));
                try {
                    if (has_complex(graph)) throw test::NotLowered{std::string(op.name)};
                    lowering.graph(graph, operands);
                } catch (const test::NotLowered& missing) {
                    through.insert(missing.op);
                }
            }
        }
        for (const std::string& name : through) text << op.name << (name == op.name ? "" : " through " + name) << "\n";
    }
    return text.str();
}

TEST_CASE("ops that do not lower are known by name", "[ops]") {
    if (std::getenv("WHITTLE_TEST_OP") || kAddressSanitizer) return;  // nothing of memory is told here, in minutes
    const std::string path = std::string(WHITTLE_SOURCE_DIR) + "/test/ops/core/not_lowered.golden";
    const std::string got = not_lowered();
    if (std::getenv("WHITTLE_UPDATE_GOLDENS")) std::ofstream(path) << got;
    std::ifstream file(path);
    std::stringstream expected;
    expected << file.rdbuf();
    CHECK(got == expected.str());
}

}  // namespace
}  // namespace whittle
