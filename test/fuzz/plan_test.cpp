// Plans of random models: where kernels begin decides what they read of each other, so every beginning is tried.
#include "compile/plan.h"

#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "base/sanitizer.h"
#include "compile/compile.h"
#include "compile/kernel_alone.h"
#include "compile/planned.h"
#include "fuzz/random_model.h"
#include "graph/text.h"

using namespace whittle;
using program::CompiledProgram;

namespace {

expr::Schedule no_schedule(expr::Group&) { return {}; }

/// What kernels, or the graph's outputs, read and nothing writes.
std::string read_unwritten(const program::Plan& plan) {
    std::set<ValueRef> written;
    const auto is_there = [&](ValueRef value) {
        return !is_op_call(plan.graph.node({value.node})) || written.contains(value);
    };
    const auto named = [&](ValueRef value) { return "%" + plan.graph.node({value.node}).name + " "; };
    std::string missing;
    for (const program::Kernel& kernel : plan.kernels) {
        for (const ValueRef& value : kernel.inputs)
            if (!is_there(value)) missing += named(value);
        written.insert(kernel.outputs.begin(), kernel.outputs.end());
    }
    for (const ValueRef& value : plan.outputs)
        if (!is_there(value) && plan.graph.node({value.node}).results.at(value.index).numel() > 0)
            missing += named(value);
    return missing;
}

/// What kernels read when they are run alone, one after the other, and neither is given nor an output of one before.
std::string read_alone(const program::Plan& plan) {
    std::set<ValueRef> there;
    std::string missing;
    for (std::size_t k = 0; k < plan.kernels.size(); k++) {
        const Subgraph part = program::part_of(plan, k);
        for (const ValueRef& value : part.inputs)
            if (plan.graph.node({value.node}).kind != NodeKind::placeholder && !there.contains(value))
                missing += "%" + plan.graph.node({value.node}).name + " alone ";
        if (part.outputs != plan.kernels[k].outputs) missing += "outputs of " + plan.kernels[k].group.name + " ";
        const program::Plan one = program::alone(plan, k, part);  // a check of its own
        if (one.kernels.at(0).inputs.size() != plan.kernels[k].inputs.size()) missing += "inputs ";
        there.insert(part.outputs.begin(), part.outputs.end());
    }
    return missing;
}

/// Of the graph with its first `fused` calls that are asked joined to the ones before them; nothing: it has no plan.
std::optional<std::string> missing_with(const Graph& graph, int fused) {
    const BugsAreThrown bugs;
    try {
        CompiledProgram program(graph, {{"pass-limit", "fuse=" + std::to_string(fused)}});
        if (!program::not_lowered(program).empty()) return std::nullopt;
        const program::Plan& plan = program.plan(no_schedule);
        return read_unwritten(plan) + read_alone(plan);
    } catch (const InternalError& error) {
        return error.what();
    } catch (const Error&) {  // an op refuses what it reads
        return std::nullopt;
    }
}

}  // namespace

TEST_CASE("what a kernel reads is written before it, wherever kernels begin") {
    const std::string dialect = GENERATE("aten", "onnx");
    fuzz::RandomModels models({.dialect = dialect});
    // With the address sanitizer a model takes seconds; the thread sanitizer tries the many.
    const std::uint64_t count = kAddressSanitizer ? 10 : 300;
    std::uint64_t planned = 0;
    for (std::uint64_t seed = 0; seed < count; seed++) {
        const Graph graph = models.model(seed).graph;
        for (int fused = 0; fused < 12; fused++) {
            const auto missing = missing_with(graph, fused);
            if (!missing) break;
            INFO(dialect << " " << seed << ", fuse=" << fused << "\n" << print(graph));
            CHECK(*missing == "");
            planned++;
        }
    }
    CHECK(planned > count);
}

TEST_CASE("a view is lowered anew where its operands still are") {
    // %m is %x by another name, and %r elements of it; the third kernel reads %r.
    const Graph renamed = parse(R"(graph g {
  %x = placeholder["x"] : f32[4]
  %m = aten.meshgrid.indexing([%x], indexing="ij") : f32[4]
  %r = aten.reshape.default(%m, [2, 2]) : f32[2, 2]
  %n = aten.neg.default(%r) : f32[2, 2]
  return (%n)
}
)");
    CHECK(missing_with(renamed, 1) == "");
}

TEST_CASE("the positions of a view are checked by the kernel that reads it") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[4]
  %i = placeholder["i"] : i64[2]
  %s = aten.index_select.default(%x, 0, %i) : f32[2]
  %n = aten.neg.default(%s) : f32[2]
  return (%n)
}
)");
    CompiledProgram program(graph, {{"pass-limit", "fuse=0"}});
    const program::Plan& plan = program.plan(no_schedule);
    REQUIRE(plan.kernels.size() == 1);
    CHECK(plan.kernels[0].checks.size() == 1);
}
