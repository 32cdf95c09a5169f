// What LibTorch computes lies in the intervals that bound what rounding does (judge/interval.h).
#include "judge/interval.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "backends/libtorch/agreement.h"
#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "judge/outside.h"
#include "ops/samples/table.h"

namespace whittle {
namespace {

/// "" or what is wrong. LibTorch may refuse a sample: registry_test.cpp knows which.
std::string libtorch_fits(const RegisteredOp& op, const Sample& sample) {
    const Graph graph = graph_of(op, sample);
    const std::vector<Tensor> inputs = sample.inputs();
    const auto intervals = intervals_of(graph, inputs, {});
    if (!intervals) return {};
    const std::vector<NodeId> placeholders = graph.placeholders();
    const auto operand = [&](NodeRef ref) {
        const Node& node = graph.node(ref);
        if (node.kind == NodeKind::get_attr) return graph.attributes.at(node.target);
        return inputs.at(static_cast<std::size_t>(std::ranges::find(placeholders, ref.id) - placeholders.begin()));
    };
    const auto got = aten::call_boxed(graph.nodes[static_cast<std::size_t>(graph.calls().front())], operand);
    for (std::size_t k = 0; k < std::min(got.size(), intervals->size()); ++k) {
        if (!got[k] || got[k]->dtype() != intervals->at(k).dtype) continue;
        const std::string found = test::outside(*got[k], intervals->at(k));
        if (!found.empty()) return "result " + std::to_string(k) + " " + found;
    }
    return {};
}

/// Bounds that are too small by some steps of f32, far below any tolerance: of windows that Whittle takes for
/// constants, of gradients in which coordinates round, and of a polynomial that LibTorch computes by angles.
const std::set<std::string_view> kTooSmall = {"aten.kaiser_window.beta",
                                              "aten.kaiser_window.default",
                                              "aten.kaiser_window.periodic",
                                              "aten._upsample_bicubic2d_aa_backward.default",
                                              "aten._upsample_bicubic2d_aa_backward.vec",
                                              "aten.special_shifted_chebyshev_polynomial_w.n_scalar",
#if TORCH_VERSION_MAJOR < 2
                                              "aten.upsample_trilinear3d_backward.default",
                                              "aten.upsample_trilinear3d_backward.vec"};
#else
                                              "aten.erf.default"};  // a vector kernel of 4 steps
#endif

}  // namespace

TEST_CASE("what LibTorch computes lies in the interval of every op with a bound", "[libtorch][interval]") {
    const test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/libtorch.txt", test::of_libtorch());
    std::map<std::string_view, std::set<std::string>> wrong;  // by record: its other names have fewer samples
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (op.def->random || op.def->higher_order || !aten::schema_of(op.name)) continue;
        if (!(op.def->dtypes & set_of(DType::f32))) continue;
        std::set<std::string>& wrong_samples = wrong[op.record()];
        for (const Sample& sample : samples_of(op, DType::f32)) {
            if (test::beyond_libtorch(sample) || exceptions.differs({exceptions.listed(op), DType::f32, sample.label}))
                continue;
            std::string found;
            try {
                found = libtorch_fits(op, sample);
            } catch (const Error&) {
            }
            if (!found.empty()) wrong_samples.insert(std::string(op.name) + " " + sample.label + ": " + found);
        }
    }
    for (const auto& [record, samples] : wrong) {
        INFO(record);
        for (const std::string& line : samples) UNSCOPED_INFO(line);
        CHECK(samples.empty() != kTooSmall.contains(record));
    }
}

}  // namespace whittle
