// The events of a frame, kept for its record.
#define WHITTLE_API_IMPLEMENTATION
#include "api/session.h"
#include "api/stack.h"
#include "api/tape.h"
#include "base/log.h"
#include "graph/text.h"

namespace whittle::api {

namespace {

constexpr std::size_t kMostBytes = 256 << 20;  // of inputs and outputs of a frame

}  // namespace

void Session::note_failure(const Node& call, const std::exception& error) {
    last_failure_ = {call.target, error.what()};
    if (!keeps_events_) return;
    failed_.push_back({graph_.graph().nodes.size(), call, error.what()});
    Node& failed = failed_.back().call;
    failed.name = "failed";
    failed.stack = user_stack(capture_stack(nullptr, outside));
}

void Session::note_segment(const std::vector<NodeRef>& live, const std::optional<capture::GraphBreak>& why) {
    const Graph& raw = graph_.graph();
    if (noted_ || (graph_.call_count() == 0 && failed_.empty())) return;
    noted_ = true;
    FrameSegment segment{.events = raw, .failed = failed_, .keeps_all = host_.keeps_all(), .ended_by = why};
    const auto copy = [&](const whittle::Tensor& value) {
        event_bytes_ += static_cast<std::size_t>(value.numel()) * size_of(value.dtype());
        return event_bytes_ > kMostBytes ? value : value.clone();  // given up below
    };
    for (std::size_t i = 0; i < raw.nodes.size(); ++i)
        if (raw.nodes[i].kind == NodeKind::placeholder)
            segment.inputs.push_back(copy(*input_impls_.at(static_cast<NodeId>(i))->value));
    for (auto& [name, value] : segment.events.attributes) value = copy(value);
    for (const NodeRef ref : live) segment.live.push_back(raw.node(ref).name);
    if (why) segment.break_id = capture::info(why->kind).id;
    if (const auto finished = graph_.finish(live, why); finished && !finished->graph.calls().empty()) {
        segment.graph = print(finished->graph);
        for (const capture::Guard& guard : finished->guards) segment.guards.push_back(guard.text());
    }
    events_.push_back(std::move(segment));
    if (event_bytes_ <= kMostBytes) return;
    log_info(LogChannel::capture, "the events of " + frame_ + " are not kept: its tensors take more than " +
                                      std::to_string(kMostBytes >> 20) + " MB");
    events_.clear();
    keeps_events_ = false;
}

void Session::note_rest() {
    if (keeps_events_) note_segment({}, std::nullopt);
}

void Session::note_outputs(const std::vector<whittle::Tensor>& outputs) {
    if (!keeps_events_ || events_.empty()) return;
    for (const whittle::Tensor& output : outputs) {
        event_bytes_ += static_cast<std::size_t>(output.numel()) * size_of(output.dtype());
        events_.back().outputs.push_back(output.clone());
    }
}

std::vector<FrameSegment> Session::take_events() { return std::exchange(events_, {}); }

}  // namespace whittle::api
