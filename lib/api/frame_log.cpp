#include "api/frame_log.h"

#include "base/log.h"
#include "graph/text.h"

namespace whittle::api {
namespace {

constexpr std::size_t kMostBytes = 256 << 20;  // of inputs and outputs of a frame

std::size_t bytes_of(const whittle::Tensor& tensor) {
    return static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype());
}

}  // namespace

void FrameLog::note_segment(const capture::OutputGraph& graph, const std::vector<whittle::Tensor>& inputs,
                            const std::vector<NodeRef>& live, const std::optional<capture::GraphBreak>& why,
                            bool keeps_all) {
    if (!keeps_ || noted_ || (graph.call_count() == 0 && failed_.empty())) return;
    noted_ = true;
    FrameSegment segment{.events = graph.graph(), .failed = failed_, .keeps_all = keeps_all, .ended_by = why};
    const auto copy = [&](const whittle::Tensor& value) {
        bytes_ += bytes_of(value);
        return bytes_ > kMostBytes ? value : value.clone();  // given up below
    };
    for (const whittle::Tensor& input : inputs) segment.inputs.push_back(copy(input));
    for (auto& [name, value] : segment.events.attributes) value = copy(value);
    for (const NodeRef ref : live) segment.live.push_back(segment.events.node(ref).name);
    if (why) segment.break_id = capture::info(why->kind).id;
    if (const auto finished = graph.finish(live, why); finished && !finished->graph.calls().empty()) {
        segment.graph = print(finished->graph);
        for (const capture::Guard& guard : finished->guards) segment.guards.push_back(guard.text());
    }
    segments_.push_back(std::move(segment));
    if (bytes_ <= kMostBytes) return;
    log_info(LogChannel::capture, "the recorded operations of " + frame_ +
                                      " are not saved: their tensors take more than " +
                                      std::to_string(kMostBytes >> 20) + " MB");
    segments_.clear();
    keeps_ = false;
}

void FrameLog::note_outputs(const std::vector<whittle::Tensor>& outputs) {
    if (!keeps_ || segments_.empty()) return;
    for (const whittle::Tensor& output : outputs) {
        bytes_ += bytes_of(output);
        segments_.back().outputs.push_back(output.clone());
    }
}

void FrameLog::begin_graph() {
    failed_.clear();
    noted_ = false;
}

std::optional<std::string> FrameLog::op_that_threw(const std::string& what) const {
    if (!last_failure_ || last_failure_->second != what) return std::nullopt;
    return last_failure_->first;
}

}  // namespace whittle::api
