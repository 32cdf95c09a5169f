#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/explain.h>

#include <ostream>

#include "api/frame.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "report/report.h"
#include "report/show.h"

namespace whittle::api {

struct Explaining::State {
    std::string name;
    Trace trace{"", RecordPolicy::never};
    Trace* before = nullptr;
};

Explaining::Explaining(std::string name) : state_(std::make_unique<State>()) {
    state_->name = std::move(name);
    state_->before = exchange_trace(&state_->trace);
}
Explaining::~Explaining() { exchange_trace(state_->before); }

Explanation Explaining::result() const {
    const TraceIndex& index = state_->trace.index();
    const std::vector<Graph>& graphs = state_->trace.graphs();
    std::vector<whittle::report::Frame> frames;
    Explanation result;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        frames.push_back({.name = index.graphs[i].frame, .file = index.graphs[i].file.string(), .graph = graphs[i]});
        result.graphs.push_back(print(graphs[i]));
        std::vector<std::string>& guards = result.out_guards.emplace_back();
        for (const IndexGuard& guard : index.graphs[i].guards) guards.push_back(guard.text());
        std::vector<std::string>& ops = result.ops_per_graph.emplace_back();
        for (const Node& node : graphs[i].nodes)
            if (is_op_call(node)) ops.push_back(node.target);
    }
    const whittle::report::Report report = whittle::report::explain(state_->name, frames, nullptr, &index);
    result.graph_count = static_cast<std::int64_t>(report.graph_count());
    result.graph_break_count = report.graph_break_count;
    result.op_count = report.op_count;
    for (const whittle::report::BreakReason& reason : report.break_reasons)
        result.break_reasons.push_back(reason.reason);
    result.text = whittle::report::to_text(report, {.ops = true, .guards = true, .times = true, .recompiles = true});
    return result;
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) { return out << explanation.text; }

}  // namespace whittle::api
