#include "passes/decompose.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/sanitizer.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "ops/core/sparse.h"
#include "passes/rewriter.h"

using namespace whittle;

TEST_CASE("constants added by a rewrite move to the front and unread attributes go", "[rewriter]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %w = get_attr["w"] : f32[2]
  %a = aten.relu.default(%x) : f32[2]
  return (%a)
}
)");
    Rewriter rewriter(graph);
    rewriter.copy(0);
    const NodeRef relu =
        rewriter.graph().add(map_inputs(graph.nodes[2], [&](NodeRef ref) { return Arg(rewriter.mapped(ref)); }));
    const NodeRef constant = rewriter.graph().get_attr("one", Tensor::of<float>({1, 1}));
    Node add = graph.nodes[2];
    add.name = "sum";
    add.target = "aten.add.Tensor";
    add.args = {Arg(relu), Arg(constant)};
    rewriter.graph().output({rewriter.graph().add(add)});
    const Graph result = rewriter.finish();
    verify(result, Stage::captured, Registry::instance());
    CHECK(print(result) == R"(graph g {
  %x = placeholder["x"] : f32[2]
  %one = get_attr["one"] : f32[2]
  %a = aten.relu.default(%x) : f32[2]
  %sum = aten.add.Tensor(%a, %one) : f32[2]
  return (%sum)
}
)");
    CHECK(result.attributes.count("w") == 0);
}

namespace {

/// The ops of a decomposed sample that are still composites; what is wrong with its graph, if anything.
std::string left_over(const RegisteredOp& op, const Sample& sample) try {
    const Graph core = decompose(graph_of(op, sample));
    verify(core, Stage::registered, Registry::instance());
    std::string left;
    for (const Node& node : core.nodes) {
        if (node.kind != NodeKind::call || node.target == kGetItem) continue;
        const OpDef& def = *Registry::instance().require(node.target).def;
        if (!def.lower && def.decompose) left += " " + node.target;
    }
    return left.empty() ? left : "left are" + left + " in\n" + print(core);
} catch (const Error& error) {
    return error.what();
}

}  // namespace

TEST_CASE("every composite of the registry decomposes into ops that lower, or are not composites", "[decompose]") {
    std::size_t tried = 0;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.def->decompose) continue;
        for (const DType dtype : kAllDTypes) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            for (const Sample& sample : kAddressSanitizer ? test::sparse_samples(op, dtype) : samples_of(op, dtype)) {
                ++tried;
                if (const std::string wrong = left_over(op, sample); !wrong.empty())
                    FAIL_CHECK(op.name << " " << name(dtype) << " '" << sample.label << "': " << wrong);
            }
        }
    }
    CHECK(tried > Registry::instance().all().size());
}
