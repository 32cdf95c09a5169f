// share/doc/reference/ops.md is what the registry says and what LibTorch takes. With WHITTLE_UPDATE_GOLDENS it is
// written anew.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "agreement.h"
#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "base/files.h"
#include "judge/interval.h"
#include "ops/core/registry.h"
#include "ops/samples/table.h"
#include "versions.h"

namespace whittle {
namespace {

std::string names(DTypeSet set) {
    const std::pair<DTypeSet, const char*> groups[] = {{kStored, "all"},
                                                       {kAnyDType, "computed"},
                                                       {kNumbers, "numbers"},
                                                       {kFloating, "floats"},
                                                       {kIntegers, "integers"}};
    if (set == 0) return "–";
    for (const auto& [group, word] : groups)
        if (set == group) return word;
    std::string text;
    for (const auto& [group, word] : {groups[1], groups[2], groups[3], groups[4]})
        if (text.empty() && (set & group) == group) {
            text = word;
            set &= ~group;
        }
    if ((set & kLimited) == kLimited) {
        text += text.empty() ? "u16–u64" : ", u16–u64";
        set &= ~kLimited;
    }
    for (const DType dtype : kAllDTypes)
        if (set & set_of(dtype)) text += (text.empty() ? "" : " ") + std::string(name(dtype));
    return text;
}

bool is_taken(const RegisteredOp& op, const Sample& sample) {
    const Graph graph = graph_of(op, sample);
    const Node& call = graph.nodes[static_cast<std::size_t>(graph.calls().front())];
    const std::vector<NodeId> placeholders = graph.placeholders();
    const std::vector<Tensor> inputs = sample.inputs();
    try {
        aten::call_boxed(call, [&](NodeRef ref) {
            const Node& node = graph.node(ref);
            if (node.kind == NodeKind::get_attr) return graph.attributes.at(node.target);
            return inputs.at(static_cast<std::size_t>(std::ranges::find(placeholders, ref.id) - placeholders.begin()));
        });
    } catch (const Error&) {
        return false;
    }
    return true;
}

/// The dtypes of which LibTorch takes some sample, which so is compared.
DTypeSet compared(const RegisteredOp& op, const test::Exceptions& exceptions) {
    DTypeSet set = 0;
    if (!aten::schema_of(op.name)) return 0;
    for (const DType dtype : kAllDTypes) {
        if (!(op.def->dtypes & set_of(dtype)) || !is_computed(dtype)) continue;
        const std::vector<Sample> samples = samples_of(op, dtype);
        const bool some = std::ranges::any_of(samples, [&](const Sample& sample) {
            return !exceptions.crashes({exceptions.listed(op), dtype, sample.label}) && is_taken(op, sample);
        });
        if (some) set |= set_of(dtype);
    }
    return set;
}

/// How the gradient of an op is known: by its rule, through the ops that its samples decompose to, or not at all.
/// "none" are those that have no gradient.
class GradientSources {
  public:
    std::string_view of(const RegisteredOp& op) {
        if (op.def->grad) return op.def->grad == no_gradient ? "none" : "rule";
        const auto [found, first] = known_.try_emplace(op.name, kMissing);
        if (first && op.def->decompose && known_of_parts(op)) found->second = "parts";
        return found->second;
    }

    static constexpr std::string_view kMissing = "–";

  private:
    bool known_of_parts(const RegisteredOp& op) {
        const DTypeSet floating = op.def->dtypes & kFloating;
        const auto dtype = std::ranges::find_if(
            kAllDTypes, [&](DType d) { return (floating ? floating : op.def->dtypes) & set_of(d); });
        return std::ranges::all_of(samples_of(op, *dtype), [&](const Sample& sample) {
            const Graph graph = graph_of(op, sample);
            const Graph parts = expand(graph, graph.nodes[static_cast<std::size_t>(graph.calls().front())]).graph;
            return std::ranges::all_of(parts.calls(), [&](NodeId id) {
                const std::string& target = parts.nodes[static_cast<std::size_t>(id)].target;
                return target == kGetItem || of(Registry::instance().require(target)) != kMissing;
            });
        });
    }

    std::map<std::string_view, std::string_view> known_;
};

/// Who bounds how far results round: the op, its parts, or nobody.
std::string_view rounding(const RegisteredOp& op) {
    if (op.def->bound.rule != Bound::Rule::none) return "own";
    const DTypeSet floating = op.def->dtypes & kFloating;
    const auto dtype =
        std::ranges::find_if(kAllDTypes, [&](DType d) { return (floating ? floating : op.def->dtypes) & set_of(d); });
    const bool bounded = std::ranges::all_of(
        samples_of(op, *dtype), [&](const Sample& sample) { return ops_without_bound(graph_of(op, sample)).empty(); });
    return bounded ? "parts" : "–";
}

/// ONNX ops that no model of the standard's checks: conformance/onnx-unchecked holds the list to that.
std::set<std::string> without_models() {
    std::set<std::string> ops;
    std::istringstream in(read_file(WHITTLE_SOURCE_DIR "/test/conformance/unchecked.txt"));
    for (std::string line; std::getline(in, line);) ops.insert(line.substr(0, line.find(' ')));
    return ops;
}

std::string table() {
    const std::set<std::string> unchecked = without_models();
    const test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/libtorch.txt", test::of_libtorch());
    std::map<std::string_view, const RegisteredOp*> ops;
    for (const RegisteredOp& op : Registry::instance().all()) ops[op.name] = &op;
    GradientSources gradients;
    std::map<std::string_view, int> counts;
    for (const auto& [name, op] : ops)
        if (name.starts_with("aten.")) ++counts[gradients.of(*op)];
    std::ostringstream text;
    text
        << "# Ops\n\n"
           "This page lists every op that Whittle knows. `scripts/update ops` generates it from the registry.\n\n"
           "| column | meaning |\n|---|---|\n"
           "| dtypes | dtypes of the main operand. *floats*: f64, f32, f16, bf16; *integers*: i64, i32, i16, i8, u8; "
           "*numbers*: both; *computed*: numbers and bool; *all*: every dtype |\n"
           "| infer, eval, lower | infer: inference of the result types; eval: kernel of the reference; lower: "
           "lowering for `halide`. *own*: written for this op; *parts*: the op is decomposed into simpler ops, which "
           "have this part; –: missing, so that a compiler refuses the op |\n"
           "| grad | the gradient. *rule*: a gradient rule for this op; *parts*: the op is decomposed into simpler "
           "ops, which have gradients; *none*: no gradient, because the results do not change smoothly with the "
           "operands |\n"
           "| rounds | the bound on rounding errors. *own*: a bound for this op; *parts*: the bounds of the simpler "
           "ops. A difference within the bound is not a failure; see [accuracy.md](../explanation/accuracy.md) |\n"
           "| compared with | how the tests check the op independently. *LibTorch*: the tests compare values, dtypes, "
           "sizes, strides and aliasing with LibTorch 1.13, for the listed dtypes; `test/known-failing/libtorch.txt` "
           "lists the exceptions. *models*: the tests run the models of the ONNX standard; –: no model has the op |\n\n"
           "Gradients are computed by ops, too: by the ops `…backward…` that LibTorch's autograd calls. Of ATen's "
           "ops, "
        << counts["rule"] << "\nhave a gradient rule, " << counts["parts"]
        << " are differentiated through their parts, " << counts["none"] << " have no gradient, and "
        << counts[GradientSources::kMissing]
        << " need a rule but lack one.\n\n"
           "| op | dtypes | infer | eval | lower | grad | rounds | compared with "
           "|\n|---|---|---|---|---|---|---|---|\n";
    for (const auto& [name, op] : ops) {
        const OpDef& def = *op->def;
        const char* parts = def.decompose ? "parts" : "–";
        text << "| " << name << " | " << names(def.dtypes) << " | " << (def.infer ? "own" : parts) << " | "
             << (def.eval ? "own" : parts) << " | " << (def.lower ? "own" : parts) << " | " << gradients.of(*op)
             << " | " << rounding(*op) << " | "
             << (name.starts_with("aten.")               ? "LibTorch: " + names(compared(*op, exceptions))
                 : name.starts_with("higher_order.")     ? "–"
                 : op->of_torch()                        ? "–"
                 : unchecked.contains(std::string(name)) ? "–"
                                                         : "models")
             << " |\n";
    }
    return text.str();
}

std::string without_dtypes_of_libtorch(const std::string& page) {
    static const std::regex compared("LibTorch: [^|\n]*[|]\n");
    return std::regex_replace(page, compared, "LibTorch |\n");
}

TEST_CASE("share/doc/reference/ops.md is what the registry says", "[libtorch][table]") {
    const std::string path = WHITTLE_SOURCE_DIR "/share/doc/reference/ops.md";
    std::string written = read_file(path), fresh = table();
    if (TORCH_VERSION_MAJOR >= 2) {  // the page says what is compared with LibTorch 1.13
        written = without_dtypes_of_libtorch(written);
        fresh = without_dtypes_of_libtorch(fresh);
    } else if (std::getenv("WHITTLE_UPDATE_GOLDENS")) {
        std::ofstream(path) << fresh;
        written = fresh;
    }
    INFO("stale: run scripts/update ops");
    const bool same = written == fresh;
    CHECK(same);
}

TEST_CASE("an op that is its decomposition in the reference, too, is compared with LibTorch", "[libtorch]") {
    // Not in LibTorch 1.13; in test/ops/core/known_values_test.cpp and test/ops/aten/later_ops_test.cpp.
    const std::set<std::string_view> later = {
        "aten._batch_norm_no_update.default",
        "aten._batch_norm_with_update_functional.default",
        "aten._fused_rms_norm.default",
        "aten._fused_rms_norm_backward.default",
        "aten._grouped_mm.default",
        "aten._int_mm.default",
        "aten._native_batch_norm_legit_functional.default",
        "aten._prelu_kernel.default",
        "aten._prelu_kernel_backward.default",
        "aten._safe_softmax.default",
        "aten._scaled_dot_product_efficient_attention.default",
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
        "aten._unsafe_masked_index.default",
        "aten.addmm.dtype",
        "aten.baddbmm.dtype",
        "aten.batch_norm_backward.default",
        "aten.bmm.dtype",
        "aten.mkldnn_rnn_layer.default",
        "aten.mm.dtype",
        "aten.rms_norm.default",
    };
    // In LibTorch 1.13, with which they are compared, and gone in 2.14.
    const std::set<std::string_view> earlier = {
        "aten._upsample_bicubic2d_aa_backward.vec",
        "aten._upsample_bilinear2d_aa_backward.vec",
        "aten._upsample_nearest_exact1d_backward.vec",
        "aten._upsample_nearest_exact2d_backward.vec",
        "aten._upsample_nearest_exact3d_backward.vec",
        "aten.frobenius_norm.default",
        "aten.prelu_backward.default",
        "aten.qr.default",
        "aten.upsample_bicubic2d_backward.vec",
        "aten.upsample_bilinear2d_backward.vec",
        "aten.upsample_linear1d_backward.vec",
        "aten.upsample_nearest1d_backward.vec",
        "aten.upsample_nearest2d_backward.vec",
        "aten.upsample_nearest3d_backward.vec",
        "aten.upsample_trilinear3d_backward.vec",
    };
    const std::set<std::string_view>& known = TORCH_VERSION_MAJOR < 2 ? later : earlier;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.name.starts_with("aten.") || op.def->eval || !op.same_as.empty()) continue;
        INFO(op.name);
        CHECK(aten::schema_of(op.name).has_value() != known.contains(op.name));
    }
}

}  // namespace
}  // namespace whittle
