// explain(): what was captured, where capture or the backend stops, and why. The report is a value; show.h shows
// it. The parts and their order are those of TorchDynamo's explain: counts, break reasons, graphs, ops.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/graph_break.h"
#include "graph/backend.h"
#include "graph/graph.h"
#include "trace/index.h"

namespace whittle::explain {

/// A place where a frontend could not go on.
struct FrontendBreak {
    std::string node = {};  ///< name of the call in the graph; empty when there is none
    std::string reason = {};
};

/// One captured frame.
struct Frame {
    std::string name = "main";
    std::string file = {};  ///< where it was captured from, for places without a user stack
    Graph graph = {};
    std::vector<FrontendBreak> breaks = {};
    bool captured = false;  ///< while a program ran: an op that we do not know is one that the program admitted
};

using capture::BreakKind;

struct BreakPlace {
    std::string node = {};                    ///< "%nms"
    std::vector<StackFrame> user_stack = {};  ///< innermost first; of a model file: one entry, the file and the node
    std::int64_t count = 1;
};

/// One reason with all its places.
struct BreakReason {
    BreakKind kind = BreakKind::frontend;
    std::string op = {};
    std::string reason = {};
    std::vector<BreakPlace> places = {};  ///< in order of the graph, at least one
    std::int64_t count = 0;               ///< of all places
};

struct NamedMeta {
    std::string name = {};
    ValueMeta meta;
    std::string sizes = {};  ///< "[s0, 3]", where sizes vary
};

/// One graph that would be compiled: a frame, or what is left of it between two breaks.
struct GraphSummary {
    std::string name = {}, frame = {};
    std::int64_t ops = 0;                            ///< calls without getitem
    std::int64_t nested_graphs = 0, nested_ops = 0;  ///< of higher-order ops and control flow
    std::vector<NamedMeta> inputs = {}, outputs = {};
    std::int64_t parameters = 0;          ///< tensors
    std::int64_t parameter_elements = 0;  ///< numbers in them
    std::int64_t parameter_bytes = 0;
    std::vector<std::string> updates = {};  ///< of a captured graph: "L['x'] = %add", what it writes to inputs
    std::vector<IndexSymbol> symbols = {};  ///< of a captured graph whose sizes vary
    std::vector<std::string> guards = {};   ///< of a captured graph, in the order of their checks
    double compile_seconds = 0;             ///< of a captured graph, when a backend compiled it
    std::int64_t compilations = 1;          ///< of a captured graph: where sizes vary, a kernel for each set of them
    std::int64_t runs = 1;                  ///< of a captured graph, where they were counted
    std::int64_t calls = 1;                 ///< of its frame
    std::string variant_of = {};            ///< the graph that it is, but for …
    std::string difference = {};            ///< … this
    bool checked = false;                   ///< of a captured graph: it was run on what was observed …
    std::string capture_fault = {};         ///< … and computes something else
};

struct OpUse {
    std::string op = {};
    std::int64_t count = 0;
    std::vector<std::string> results = {};  ///< distinct dtypes and sizes of the first result, most frequent first
    bool known = false;                     ///< registered
    bool supported = true;                  ///< by the backend, when one was asked
};

struct Report {
    std::string model = {};
    std::string backend = {};                     ///< asked whether it supports the ops; empty when none was
    std::vector<GraphSummary> graphs = {};        ///< without empty ones
    std::int64_t graph_break_count = 0;           ///< each time it happened, not reasons
    std::optional<BreakReason> first_break = {};  ///< in the order of the graphs; with its place alone
    std::int64_t op_count = 0;                    ///< calls without getitem, breaks and nested graphs included
    std::vector<BreakReason> break_reasons = {};  ///< most frequent first
    std::vector<OpUse> ops = {};                  ///< most frequent first
    std::vector<std::string> unsupported = {};    ///< ops that the backend named, in order of appearance
    std::size_t failing = 0;                      ///< graphs that it was tried on and fails on
    std::vector<IndexRecompile> recompiles = {};  ///< of a captured program, most frequent first
    std::vector<std::string> notes = {};          ///< what capture could not see
    CheckCounts checks = {};                      ///< of a captured program
    /// Of each frame the calls that are breaks, ascending: unknown ops, data-dependent control flow, what the frontend
    /// and the backend named.
    std::vector<std::vector<NodeId>> break_nodes = {};
};

/// `backend` may be null: then only what every backend stops at is a break. `captured` is the index of the folder that
/// the frames come from, one frame per graph, or null: its breaks, guards, recompiles and notes are told too.
Report explain(const std::string& model, const std::vector<Frame>& frames, const Backend* backend,
               const TraceIndex* captured = nullptr);

/// Whether the index says that the frame's graph was captured while a program ran: such graphs have guards.
bool was_captured(const Frame& frame, const TraceIndex& index);

}  // namespace whittle::explain
