// What differs between two captures, of one model at two times or of two models: graphs, breaks, guards, recompiles and
// recorded values. For people who changed something, and for CI: no new graph breaks.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "judge/frame.h"
#include "report/graph_diff.h"
#include "report/report.h"
#include "report/show.h"

namespace whittle::report {

/// A graph of one side only.
struct GraphOfOne {
    std::string name = {}, frame = {};
    std::int64_t ops = 0;
    static void fields(auto& field) {
        field("name", &GraphOfOne::name, "");
        field("frame", &GraphOfOne::frame, "");
        field("ops", &GraphOfOne::ops, "The number of calls, getitems excluded.", Count{});
    }
};

/// A graph of both sides that is not alike.
struct ChangedGraph {
    GraphOfOne before = {}, after = {};
    GraphDiff graph = {};
    std::vector<std::string> guards_gone = {}, guards_new = {};

    static void fields(auto& field) {
        field("before", &ChangedGraph::before, "");
        field("after", &ChangedGraph::after, "");
        field(
            "nodes", [](const ChangedGraph& changed) { return changed.graph.nodes; },
            "Nodes that are gone, then new and changed nodes in the order of the second graph.");
        field(
            "resized", [](const ChangedGraph& changed) { return changed.graph.resized; },
            "The number of further nodes whose results differ in dtype or sizes only because their operands do.",
            Count{});
        field("guards_gone", &ChangedGraph::guards_gone, "");
        field("guards_new", &ChangedGraph::guards_new, "");
    }
};

/// What happened more or less often: a break at a place, calls of an op, a recompile for a guard.
struct CountDiff {
    std::string what = {};
    std::string place = {};
    std::int64_t before = 0, after = 0;

    static void fields(auto& field) {
        field("what", &CountDiff::what, "The id and reason of the graph break, the op, or the guard.");
        field.maybe("place", &CountDiff::place, "The place, as in: step (train.cpp:31)");
        field("before", &CountDiff::before, "The number of times.", Count{});
        field("after", &CountDiff::after, "", Count{});
    }
};

/// A value that was recorded otherwise.
struct ValueDiff {
    std::string graph = {}, value = {}, difference = {};
    static void fields(auto& field) {
        field("graph", &ValueDiff::graph, "The graph's name on the second side.");
        field("value", &ValueDiff::value, "The value, as in: input L['x'], output 0");
        field("difference", &ValueDiff::difference, "As in: [0, 1]: 3, was 2; 2 of 4 values differ, by 1 at most");
    }
};

struct TraceDiff {
    std::string before = {}, after = {};
    std::int64_t same_graphs = 0;
    std::vector<GraphOfOne> gone = {}, added = {};
    std::vector<ChangedGraph> changed = {};
    std::vector<CountDiff> breaks = {}, ops = {}, recompiles = {};
    std::vector<ValueDiff> values = {};
    double compile_seconds_before = 0, compile_seconds_after = 0;

    /// Times aside, and counts of ops, which graphs have.
    bool same() const;

    static void fields(auto& field) {
        field("before", &TraceDiff::before, "");
        field("after", &TraceDiff::after, "");
        field("same", &TraceDiff::same, "Whether nothing differs except times.");
        field("same_graphs", &TraceDiff::same_graphs, "", Count{});
        field("gone", &TraceDiff::gone, "Graphs that only the first side has.");
        field("added", &TraceDiff::added, "Graphs that only the second side has.");
        field("changed", &TraceDiff::changed, "");
        field("breaks", &TraceDiff::breaks, "Graph breaks, by kind, reason and place, whose count changed.");
        field("ops", &TraceDiff::ops, "");
        field("recompiles", &TraceDiff::recompiles, "");
        field("values", &TraceDiff::values, "For each graph: the first recorded value that differs.");
        field("compile_seconds_before", &TraceDiff::compile_seconds_before, "");
        field("compile_seconds_after", &TraceDiff::compile_seconds_after, "");
    }
};

/// One side of it. `report` is the report on `frames`.
struct Capture {
    const std::vector<Frame>& frames;
    const Report& report;
    std::span<const LoadedFrame> recorded = {};  ///< graphs with the inputs and outputs that were recorded
};

/// Graphs of a function are compared in order, equal ones first, and a function that was renamed is known again by its
/// graphs. Values are compared where graphs have a counterpart: of inputs that differ the outputs are not compared.
TraceDiff diff(const Capture& before, const Capture& after, const Accuracy& accuracy);

/// Lines that begin with '-' are the first side's, with '+' the second's, with '~' both's.
std::string to_text(const TraceDiff& diff, const TextOptions& options);
nlohmann::json to_json(const TraceDiff& diff);
nlohmann::ordered_json diff_output_schema();

}  // namespace whittle::report
