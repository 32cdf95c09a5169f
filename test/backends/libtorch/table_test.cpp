// share/doc/ops.md is what the registry says and what LibTorch takes. With WHITTLE_UPDATE_GOLDENS it is written anew.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "agreement.h"
#include "backends/libtorch/boxed_call.h"
#include "base/error.h"
#include "base/files.h"
#include "ops/core/registry.h"

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
    for (const auto& [group, word] : {groups[2], groups[3], groups[4]})
        if (text.empty() && (set & group) == group) {
            text = word;
            set = static_cast<DTypeSet>(set & ~group);
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
    unsigned set = 0;
    if (!aten::schema_of(op.def->name)) return 0;
    for (const DType dtype : kAllDTypes) {
        if (!(op.def->dtypes & set_of(dtype)) || !is_computed(dtype)) continue;
        const std::vector<Sample> samples = op.def->samples(dtype);
        const bool some = std::ranges::any_of(samples, [&](const Sample& sample) {
            return !exceptions.crashes({op.def->name, dtype, sample.label}) && is_taken(op, sample);
        });
        if (some) set |= set_of(dtype);
    }
    return static_cast<DTypeSet>(set);
}

std::string table() {
    const test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/libtorch.txt");
    std::map<std::string_view, const RegisteredOp*> ops;
    for (const RegisteredOp& op : Registry::instance().all()) ops[op.def->name] = &op;
    std::ostringstream text;
    text << "# Ops\n\n"
            "Generated from the registry by `scripts/update-ops`. What an op does itself is *own*; what its simpler "
            "ops do\n"
            "for it, *parts*; – is nobody: a compiler refuses the op by name. Gradients are ops, too: those that "
            "LibTorch's\n"
            "autograd calls, named `…backward…`. The last column names the dtypes of which LibTorch 1.13 takes "
            "samples: of\n"
            "these, values, dtypes, sizes, strides and aliasing are compared, but for what "
            "`test/known-failing/libtorch.txt`\n"
            "lists. What ONNX's ops mean is tested by the models of the standard in `test/conformance`.\n\n"
            "| op | dtypes | infer | eval | lower | LibTorch |\n|---|---|---|---|---|---|\n";
    for (const auto& [name, op] : ops) {
        const OpDef& def = *op->def;
        const char* parts = def.decompose ? "parts" : "–";
        text << "| " << name << " | " << names(def.dtypes) << " | " << (def.infer ? "own" : parts) << " | "
             << (def.eval ? "own" : parts) << " | " << (def.lower ? "own" : parts) << " | "
             << (name.starts_with("aten.") ? names(compared(*op, exceptions)) : "") << " |\n";
    }
    return text.str();
}

TEST_CASE("share/doc/ops.md is what the registry says", "[libtorch][table]") {
    const std::string path = WHITTLE_SOURCE_DIR "/share/doc/ops.md", fresh = table();
    if (std::getenv("WHITTLE_UPDATE_GOLDENS")) std::ofstream(path) << fresh;
    INFO("stale: run scripts/update-ops");
    const bool same = read_file(path) == fresh;
    CHECK(same);
}

TEST_CASE("an op that is its decomposition in the reference, too, is compared with LibTorch", "[libtorch]") {
    // Not in LibTorch 1.13; in test/ops/core/known_values_test.cpp.
    const std::set<std::string_view> known = {"aten.rms_norm.default"};
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.def->name.starts_with("aten.") || op.def->eval) continue;
        INFO(op.def->name);
        CHECK(aten::schema_of(op.def->name).has_value() != known.contains(op.def->name));
    }
}

}  // namespace
}  // namespace whittle
