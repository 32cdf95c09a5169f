// Every ONNX op of the registry, on every sample of every dtype: what we infer, and compute, is of the types and sizes
// that libonnx infers from the same call. Ops of ours without an `infer` are inferred by decomposing them, so that
// nothing else tells a wrong size from a right one. WHITTLE_TEST_OP=TEXT restricts the walk to ops whose name holds
// TEXT.
#include <onnx/common/version.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "frontends/onnx/save.h"
#include "frontends/onnx/standard.h"
#include "ops/core/interpreter.h"
#include "ops/samples/table.h"
#include "version_sections.h"

namespace whittle {
namespace {

constexpr std::int64_t kNewestKnown = 17;  ///< to the oldest libonnx

struct Inferred {
    int dtype = 0;
    std::optional<std::vector<std::int64_t>> sizes = {};  ///< -1: not told
};

/// 8-bit floats came later.
bool has_unknown_dtype(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
        return std::ranges::any_of(
            node.results, [](const ValueMeta& meta) { return info_of(meta.dtype).use == DTypeInfo::Use::stored; });
    });
}

/// What libonnx says of the results, in order; nothing where it does not know the op at the opset. Throws its own
/// exceptions for operands that it refuses.
std::optional<std::vector<Inferred>> inferred(Graph graph, const std::string& target) {
    if (has_unknown_dtype(graph)) return std::nullopt;
    const std::size_t dot = target.rfind('.');
    const std::string type = target.substr(dot + 1), domain = target.starts_with("onnx.") ? "" : target.substr(0, dot);
    std::int64_t& opset = graph.opset_imports[domain];
    if (domain.empty() && opset > kNewestKnown) {
        if (!onnx_proto::same_meaning(type, domain, kNewestKnown, opset)) return std::nullopt;
        opset = kNewestKnown;
    }
    onnx::ModelProto model;
    REQUIRE(model.ParseFromString(to_onnx(graph)));
    for (onnx::ValueInfoProto& output : *model.mutable_graph()->mutable_output()) output.clear_type();
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(false, 1, true));
    std::vector<Inferred> result;
    for (const onnx::ValueInfoProto& output : model.graph().output()) {
        const onnx::TypeProto::Tensor& tensor = output.type().tensor_type();
        Inferred& one = result.emplace_back(Inferred{tensor.elem_type()});
        if (!tensor.has_shape()) continue;
        one.sizes.emplace();
        for (const auto& dim : tensor.shape().dim()) one.sizes->push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    }
    return result;
}

/// How ours differs from what is told of it; `told` when all sizes are.
std::string differing(const ValueMeta& ours, const Inferred& theirs, bool& told) {
    told = theirs.sizes.has_value();
    if (theirs.dtype != 0 && theirs.dtype != info_of(ours.dtype).onnx)
        return "got " + std::string(name(ours.dtype)) + ", libonnx says " +
               onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(theirs.dtype));
    if (!theirs.sizes) return {};
    bool same = theirs.sizes->size() == ours.sizes.size();
    for (std::size_t d = 0; same && d < ours.sizes.size(); ++d) {
        const std::int64_t size = (*theirs.sizes)[d];
        told &= size >= 0;
        same = size < 0 || size == ours.sizes[d];
    }
    return same ? "" : "got " + to_string(ours.sizes) + ", libonnx says " + to_string(*theirs.sizes);
}

/// The lines of a file for this version of libonnx, without comments.
std::vector<std::string> lines_of(const std::string& file) {
    std::vector<std::string> lines;
    std::istringstream in(read_file(WHITTLE_SOURCE_DIR "/test/" + file));
    test::VersionSections sections("libonnx", onnx::LAST_RELEASE_VERSION);
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && line.front() != '#' && sections.counts(line)) lines.push_back(line);
    return lines;
}

/// "OP | REASON": ops that libonnx infers otherwise, or refuses.
std::set<std::string> known_differences() {
    std::set<std::string> known;
    for (const std::string& line : lines_of("known-failing/onnx-inference.txt"))
        known.insert(line.substr(0, line.find(" | ")));
    return known;
}

struct Walk {
    std::set<std::string> told, differing;  ///< ops
    int compared = 0;
};

std::string problem_of(const RegisteredOp& op, const Sample& sample, Walk& walk) {
    const Graph graph = graph_of(op, sample);
    std::optional<std::vector<Inferred>> theirs;
    try {
        theirs = inferred(graph, std::string(op.name));
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        return std::string("libonnx refuses it: ") + error.what();
    }
    if (!theirs) return {};
    const std::vector<NodeId> outputs = graph.outputs();
    const std::vector<Tensor> computed = evaluate(graph, sample.inputs());
    REQUIRE(theirs->size() == outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
        for (const ValueMeta& ours : {graph.node({outputs[i]}).meta(), ValueMeta::of(computed[i])}) {
            bool told = false;
            const std::string problem = differing(ours, (*theirs)[i], told);
            if (!problem.empty()) return "result " + std::to_string(i) + ": " + problem;
            if (told) walk.told.insert(std::string(op.name));
            walk.compared += told;
        }
    return {};
}

TEST_CASE("results are of the types and sizes that libonnx infers", "[onnx][inference]") {
    const char* only = std::getenv("WHITTLE_TEST_OP");
    const std::set<std::string> known = known_differences();
    Walk walk;
    std::set<std::string> ops;
    for (const RegisteredOp& op : Registry::instance().all()) {
        const std::string name(op.name);
        if (op.of_torch() || op.def->higher_order || op.def->random) continue;
        if (only && name.find(only) == std::string::npos) continue;
        ops.insert(name);
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            for (const Sample& sample : samples_of(op, dtype)) {
                const std::string problem = problem_of(op, sample, walk);
                if (!problem.empty()) walk.differing.insert(name);
                if (!problem.empty() && !known.contains(name))
                    FAIL_CHECK(name << " " << whittle::name(dtype) << " '" << sample.label << "' " << problem);
            }
        }
    }
    INFO(walk.compared << " results compared, of " << walk.told.size() << " ops of " << ops.size());
    if (only) return;
    for (const std::string& name : known)
        if (!walk.differing.contains(name))
            FAIL_CHECK(name << " agrees now: take it out of test/known-failing/onnx-inference.txt");
    std::vector<std::string> untold;
    for (const std::string& name : ops)
        if (!walk.told.contains(name)) untold.push_back(name);
    CHECK_THAT(untold, Catch::UnorderedEquals(lines_of("frontends/onnx/not_inferred.golden")));
}

}  // namespace
}  // namespace whittle
